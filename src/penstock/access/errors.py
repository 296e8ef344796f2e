"""What can be wrong with who asks."""

from __future__ import annotations

from penstock.flow.errors import PenstockError


class Unauthenticated(PenstockError):
    """It is not known who asks."""

    code = "unauthenticated"


class Forbidden(PenstockError):
    """Who asks may not do this."""

    code = "forbidden"


class TooManyRequests(PenstockError):
    """Who asks does so too often."""

    code = "too_many_requests"
