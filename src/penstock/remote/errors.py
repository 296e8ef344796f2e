"""What can go wrong with a remote Penstock. One sentence each, with the remedy.

RemoteError
├── BadServer     the address cannot be used
├── NoServer      nothing answers there
├── ServerAway    it stopped answering
└── NotPenstock   something else answers there
"""

from __future__ import annotations

from penstock.flow.errors import PenstockError


class RemoteError(PenstockError):
    """Something about a Penstock elsewhere; also what it refused with a code that this one does not know."""

    code = "remote"


class BadServer(RemoteError):
    """The address cannot be used."""

    code = "bad_server"

    def __init__(self, url: str, why: str) -> None:
        super().__init__(f"'{url}' {why}: write --server http://host:port")


class NoServer(RemoteError):
    """Nothing answers there."""

    code = "no_server"

    def __init__(self, url: str) -> None:
        super().__init__(
            f"there is no Penstock at {url}: start one with `penstock up`, or name one with --server"
        )


class ServerAway(RemoteError):
    """The server stopped answering."""

    code = "server_away"

    def __init__(self, url: str, why: str) -> None:
        super().__init__(
            f"the Penstock at {url} does not answer ({why}); whether it was done is not known: ask again"
        )


class NotPenstock(RemoteError):
    """Something else answers there."""

    code = "not_penstock"

    def __init__(self, url: str, why: str) -> None:
        super().__init__(f"what answers at {url} is no Penstock ({why}): look at --server")
