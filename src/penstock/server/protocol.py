"""HTTP/1.1 with limits on what comes before a call can be found: the size of the head, and how long it takes."""

from __future__ import annotations

import asyncio
from secrets import token_hex
from typing import Any

import httptools
import msgspec
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from penstock.api.problems import MEDIA, TITLES, Problem

HEAD = 64 * 1024
"""Bytes that the lines before the body may have."""
LINES = 200
SECONDS = 30.0
"""How long a head may take, from the first byte of the connection or of the request."""


class Careful(HttpToolsProtocol):
    """One connection. What is wrong is told as a problem, and the connection ends."""

    _size = 0
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._unset_keepalive_if_required()
        if self._deadline is not None:
            self._size += len(data)
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserCallbackError:
            self._refuse(431, "too_many_headers", f"the request has more than {LINES} headers: send fewer")
        except httptools.HttpParserError:
            self._refuse(400, "invalid_http", "this is not HTTP/1.1: look at what stands between")
        except httptools.HttpParserUpgrade:
            self._refuse(400, "no_upgrade", "there are no WebSockets here: streams are Server-Sent Events")
        else:
            if self._deadline is not None and self._size > HEAD:
                self._refuse(431, "headers_too_large", f"the headers have more than {HEAD} bytes: send less")

    def on_message_begin(self) -> None:
        super().on_message_begin()
        if self._deadline is None:
            self._await_head()

    def on_header(self, name: bytes, value: bytes) -> None:
        super().on_header(name, value)
        if len(self.headers) > LINES:
            raise _TooMany

    def on_headers_complete(self) -> None:
        self._stop_waiting()
        super().on_headers_complete()

    def _await_head(self) -> None:
        self._size = 0
        self._deadline = self.loop.call_later(SECONDS, self._too_slow)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _too_slow(self) -> None:
        self._refuse(408, "too_slow", f"the request did not come within {SECONDS:g} seconds: send it again")

    def _refuse(self, status: int, code: str, detail: str) -> None:
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
