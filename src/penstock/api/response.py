"""Answers: the headers that all of them share, and a fast way to send a complete one."""

from __future__ import annotations

from starlette.types import Receive, Scope, Send

from penstock.api.request_body import exchange_of

HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
}
_PAIRS = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
_LINES = b"".join(b"%b: %b\r\n" % pair for pair in _PAIRS)


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
