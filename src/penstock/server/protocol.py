"""HTTP/1.1 with limits before routing: the size of the head, and the time in which it must arrive."""

from __future__ import annotations

import asyncio
from secrets import token_hex
from typing import Any
from urllib.parse import unquote

import httptools
import msgspec
from uvicorn._types import ASGI3Application
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from penstock.api.problems import MEDIA, TITLES, Problem
from penstock.api.request_body import EXCHANGE

HEAD = 64 * 1024
"""Bytes that the lines before the body may have."""
LINES = 200
MAX_ADDRESS = 65_535
"""Bytes of an address that can be told apart into its parts."""
ADDRESS = "the address cannot be read: write what is no ASCII in it as %C3%B6, as `curl --url-query` does"
SECONDS = 30.0
"""How long a head may take, from the first byte of the connection or of the request."""


class LimitedHttpProtocol(HttpToolsProtocol):
    """One connection. What is wrong is told as a problem, and the connection ends.

    Timers are set where somebody waits, and left alone while requests come and go: nearly none of them ever rings.
    """

    _size = 0  # bytes since the last of a body, or since a head was whole: the parser keeps them
    _in_head = False
    _deadline: asyncio.TimerHandle | None = None  # of a head that has begun and not ended
    _idle_since: float | None = None  # None: a request is under way

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._in_head = True
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        if self.timeout_keep_alive_task is not None:
            self.timeout_keep_alive_task.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._size += len(data)
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserCallbackError:
            self._reject_head()
        except httptools.HttpParserInvalidURLError:
            self._reject(400, "invalid_address", ADDRESS)
        except httptools.HttpParserError:
            self._reject(400, "invalid_http", "this is not HTTP/1.1: look at what stands between")
        except httptools.HttpParserUpgrade:
            self._reject(400, "no_upgrade", "there are no WebSockets here: streams are Server-Sent Events")
        else:
            if self._size > HEAD:
                self._reject(431, "headers_too_large", f"the headers have more than {HEAD} bytes: send less")
            elif self._in_head:
                self._await_head()

    def _reject_head(self) -> None:
        """Of what stopped the reading from inside only the number of headers is ours; the rest is the address."""
        if len(self.headers) > LINES:
            self._reject(431, "too_many_headers", f"the request has more than {LINES} headers: send fewer")
        elif len(self.url) > MAX_ADDRESS:
            self._reject(431, "address_too_long", f"the address has more than {MAX_ADDRESS} bytes: send less")
        else:
            self._reject(400, "invalid_address", ADDRESS)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._idle_since = None
        if not self._in_head:
            self._in_head, self._size = True, 0

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self._in_head:
            return  # it came behind the body: who looked at the head, such as a proxy, has not seen it
        super().on_header(name, value)
        if len(self.headers) > LINES:
            raise _TooMany

    def on_headers_complete(self) -> None:
        self._stop_waiting()
        if not self.parser.should_upgrade():  # the upgrade is rejected, so it must not happen
            self._begin()

    def _begin(self) -> None:
        """As uvicorn does it, with an exchange of our own."""
        scope, version, url = self.scope, self.parser.get_http_version(), httptools.parse_url(self.url)
        path = url.path.decode("ascii")
        scope["method"], scope["http_version"] = self.parser.get_method().decode("ascii"), version
        scope["path"], scope["raw_path"] = unquote(path) if "%" in path else path, url.path
        scope["query_string"] = url.query or b""
        before: RequestResponseCycle | None = self.cycle
        self.cycle = Exchange(
            scope=scope,
            transport=self.transport,
            flow=self.flow,
            logger=self.logger,
            access_logger=self.access_logger,
            access_log=False,
            message_event=asyncio.Event(),
            default_headers=self.server_state.default_headers,
            expect_100_continue=self.expect_100_continue,
            keep_alive=version != "1.0" and self.parser.should_keep_alive(),
            on_response=self.on_response_complete,
        )
        self.cycle.offer()
        if before is None or before.response_complete:
            self._start_asgi_task(self.cycle, self.app)
        else:  # requests that are sent ahead wait for their turn
            self.flow.pause_reading()
            self.pipeline.appendleft((self.cycle, self.app))

    def on_body(self, body: bytes) -> None:
        self._size = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        if not self.parser.should_upgrade():
            super().on_message_complete()

    def on_response_complete(self) -> None:
        self.server_state.total_requests += 1
        if self.transport.is_closing():
            return
        self.flow.resume_reading()
        if self.pipeline:
            self._start_asgi_task(*self.pipeline.pop())
            return
        self._idle_since = self.loop.time()
        if self.timeout_keep_alive_task is None:
            self._await_request(self.timeout_keep_alive)

    def _await_request(self, seconds: float) -> None:
        self.timeout_keep_alive_task = self.loop.call_later(seconds, self.timeout_keep_alive_handler)

    def timeout_keep_alive_handler(self) -> None:
        """Nothing may have come since the last answer for long enough; else there is still time."""
        self.timeout_keep_alive_task = None
        if self._idle_since is None:
            return
        left = self._idle_since + self.timeout_keep_alive - self.loop.time()
        if left > 0:
            self._await_request(left)
        else:
            super().timeout_keep_alive_handler()

    def _await_head(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(SECONDS, self._too_slow)

    def _stop_waiting(self) -> None:
        self._in_head, self._size = False, 0
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _too_slow(self) -> None:
        self._reject(408, "too_slow", f"the request did not come within {SECONDS:g} seconds: send it again")

    def _reject(self, status: int, code: str, detail: str) -> None:
        self._stop_waiting()
        if self.transport.is_closing():
            return
        self.transport.write(refusal(status, code, detail))
        self.transport.close()


class _TooMany(Exception):
    """More headers than anybody needs."""


def refusal(status: int, code: str, detail: str) -> bytes:
    """A whole answer, for when there is no request to answer."""
    request_id = token_hex(8)
    problem = Problem(f"urn:penstock:problem:{code}", TITLES[status], status, code, detail, request_id)
    body = msgspec.json.encode(problem)
    lines: list[Any] = [
        STATUS_LINE[status].rstrip(),
        f"content-type: {MEDIA}".encode(),
        f"content-length: {len(body)}".encode(),
        f"x-request-id: {request_id}".encode(),
        b"connection: close",
    ]
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


class Exchange(RequestResponseCycle):
    """Can do what any uvicorn connection can, and is a `penstock.api.request_body.Exchange` besides."""

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
