"""Why a caller is not let in, or not allowed. One sentence each, with the remedy; nothing is changed.

PenstockError
├── Unauthenticated      no token, or one that does not count
│   └── SignInFailed     the identity provider's answer is not to be trusted, or names nobody who may come in
├── Forbidden            who asks is known and may not do this
│   ├── BoundToWorkflows who is bound to some workflows asks for what concerns all
│   ├── ForeignOrigin    a page of another site asks with the session of this one
│   └── ForeignWorkflow  a step starts a workflow that its author may not operate
├── TooManyRequests      faster than the limit: `retry_after` says when to come again
├── NotFound
│   └── UnknownAccessToken
└── Invalid
    └── InvalidAccess    a token or secret that cannot be made like that
"""

from __future__ import annotations

from collections.abc import Sequence

from penstock.flow.errors import PenstockError
from penstock.runtime.errors import Invalid, NotFound


class Unauthenticated(PenstockError):
    """No token, or one that does not count."""

    code = "unauthenticated"
    ways: tuple[str, ...] = ()  # in which one can sign in here, where that was asked

    def __init__(self, why: str = "no token was sent") -> None:
        super().__init__(f"{why}: send 'Authorization: Bearer …' with a token of `penstock access create`")


class Forbidden(PenstockError):
    """Who asks is known and may not do this."""

    code = "forbidden"

    def __init__(self, who: str, what: str, roles: Sequence[str]) -> None:
        may = " or ".join(roles)
        super().__init__(f"{who} may not {what}: it takes the role {may}; ask an admin for such a token")


class BoundToWorkflows(Forbidden):
    """Who is bound to some workflows asks for what concerns the whole installation."""

    def __init__(self, who: str) -> None:
        PenstockError.__init__(
            self,
            f"{who} may not see or change what concerns the whole installation: "
            "it takes a token that is bound to no workflow",
        )


class ForeignOrigin(Forbidden):
    """A page of another site asks with the session of this one, or, given its `origin`, where nobody signs in."""

    code = "csrf"

    def __init__(self, origin: str | None = None) -> None:
        PenstockError.__init__(
            self,
            "a request with a session must come from Penstock's own pages: "
            "send an Origin that is this host, or the header 'X-Penstock: 1'"
            if origin is None
            else f"this Penstock asks nobody to sign in, and so answers no page of another site, such as '{origin}': "
            "send no Origin, or one that is this host",
        )


class ForeignWorkflow(Forbidden):
    """A step starts a workflow that its author may not operate; `child` None: it computes which."""

    code = "foreign_workflow"

    def __init__(self, who: str, step: str, child: str | None) -> None:
        PenstockError.__init__(
            self,
            f"the step '{step}' computes which workflow it starts, and {who} may not start every one: write its name"
            if child is None
            else f"the step '{step}' starts '{child}', and {who} may not: "
            "name a workflow that you may operate, or let somebody publish it who may operate both",
        )


class TooManyRequests(PenstockError):
    """Faster than the limit; `retry_after` are the seconds to wait."""

    code = "rate_limited"

    def __init__(self, what: str, retry_after: float) -> None:
        super().__init__(f"too many requests: {what}; try again in {retry_after:.1f} s")
        self.retry_after = retry_after


class SignInFailed(Unauthenticated):
    """The identity provider's answer is not to be trusted, or names nobody who may come in."""

    code = "sign_in_failed"

    def __init__(self, why: str) -> None:
        PenstockError.__init__(self, f"sign-in failed: {why}; begin again from the sign-in page")


class UnknownAccessToken(NotFound):
    """There is no such token."""

    code = "unknown_access_token"

    def __init__(self, id: str) -> None:
        super().__init__(f"no token has the id '{id}': `penstock access list` shows those there are")


class InvalidAccess(Invalid):
    """A token or secret that cannot be made like that."""

    code = "invalid_access"
