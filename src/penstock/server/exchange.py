"""One request and its answer on a connection, at once where both are whole.

uvicorn's way goes through messages, since a body and an answer may come in pieces. Most are small and whole: for them
the application finds this as `scope["extensions"]["penstock.exchange"]`. What is written is the same, byte for byte.
"""

from __future__ import annotations

from uvicorn._types import ASGI3Application
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, RequestResponseCycle

from penstock.api.quick import EXCHANGE


class Exchange(RequestResponseCycle):
    """Can do what any uvicorn connection can, and is a `penstock.api.quick.Exchange` besides."""

    def offer(self) -> None:
        """Let the application know."""
        self.scope["extensions"] = {EXCHANGE: self}  # type: ignore[dict-item]

    async def run_asgi(self, app: ASGI3Application) -> None:
        try:
            await super().run_asgi(app)
        finally:
            # It names this exchange. Left so, both would stay until a collection, with whatever of a body nobody read.
            del self.scope["extensions"]

    def whole_body(self) -> bytes | None:
        if self.more_body or self.waiting_for_100_continue or self.disconnected or self.response_complete:
            return None
        self.flow.resume_reading()
        self.message_event.clear()
        body, self.body = bytes(self.body), bytearray()
        return body

    def answer(self, status: int, head: bytes, body: bytes) -> bool:
        if self.flow.write_paused or self.disconnected or self.response_started:
            return False
        if self.scope["method"] == "HEAD":
            return False
        self.response_started = self.response_complete = True
        self.waiting_for_100_continue = False
        lines = [STATUS_LINE[status]]
        for name, value in self.default_headers:
            lines += (name, b": ", value, b"\r\n")
        lines += (head, b"\r\n" if self.keep_alive else b"connection: close\r\n\r\n", body)
        self.transport.write(b"".join(lines))
        self.message_event.set()
        if not self.keep_alive:
            self.transport.close()
        self.on_response()
        return True
