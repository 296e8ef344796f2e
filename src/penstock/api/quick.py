"""What every request pays for, made cheap: looking up headers, taking a body that is there, writing an answer."""

from __future__ import annotations

from typing import Any, Protocol

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

EXCHANGE = "penstock.exchange"
"""The extension of a scope by which a server offers an `Exchange`."""

HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
}
_PAIRS = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
_LINES = b"".join(b"%b: %b\r\n" % pair for pair in _PAIRS)


class Exchange(Protocol):
    """A request and its answer, for who does without messages where both are whole."""

    def whole_body(self) -> bytes | None:
        """The body where all of it has come, once; None: it must be received, in messages."""
        ...

    def answer(self, status: int, head: bytes, body: bytes) -> bool:
        """Write an answer, with the lines of its head as they are; False: it must be sent, in messages."""
        ...


def exchange_of(scope: Scope) -> Exchange | None:
    extensions = scope.get("extensions")
    found: Exchange | None = None if extensions is None else extensions.get(EXCHANGE)
    return found


class Heads(Headers):
    """Headers of a request, found by name without looking through all of them; of several the first counts."""

    def __init__(self, raw: list[tuple[bytes, bytes]]) -> None:
        self._list = raw
        self._first = dict(reversed(raw))

    def __getitem__(self, key: str) -> str:
        return self._first[key.lower().encode("latin-1")].decode("latin-1")

    def get(self, key: str, default: Any = None) -> Any:
        found = self._first.get(key.lower().encode("latin-1"))
        return default if found is None else found.decode("latin-1")


class Asked(Request):
    """A request whose headers are found quickly."""

    def __init__(self, scope: Scope, receive: Receive) -> None:
        super().__init__(scope, receive)
        self._headers = Heads(scope["headers"])


class Ready:
    """An answer that is whole, and has no other headers than every answer."""

    __slots__ = ("_body", "_media", "_request_id", "status_code")

    def __init__(self, body: bytes, status: int, media: str, request_id: str) -> None:
        self._body, self.status_code = body, status
        self._media, self._request_id = media.encode("latin-1"), request_id.encode("latin-1")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        exchange = exchange_of(scope)
        if exchange is not None and exchange.answer(self.status_code, self._head(), self._body):
            return
        own = [
            (b"content-length", b"%d" % len(self._body)),
            (b"content-type", self._media),
            (b"x-request-id", self._request_id),
        ]
        await send({"type": "http.response.start", "status": self.status_code, "headers": own + _PAIRS})
        await send({"type": "http.response.body", "body": self._body})

    def _head(self) -> bytes:
        own = (len(self._body), self._media, self._request_id, _LINES)
        return b"content-length: %d\r\ncontent-type: %b\r\nx-request-id: %b\r\n%b" % own
