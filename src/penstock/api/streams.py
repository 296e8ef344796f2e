"""Server-sent events: a response that lasts until its source ends, the client disconnects, or the server stops."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import suppress
from operator import countOf
from typing import Any

import msgspec
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from penstock.access.caller import Caller
from penstock.access.errors import Forbidden, Unauthenticated
from penstock.api.request_body import disconnected
from penstock.flow.errors import PenstockError

MEDIA = "text/event-stream"
HEARTBEAT_INTERVAL = 15.0
"""Seconds of silence after which a comment tells proxies that the line is alive."""
MAX_STREAMS = 1_000
MAX_STREAMS_PER_CALLER = 100
"""Streams of one token or person, so one caller cannot use up all of them."""
WRITE_TIMEOUT = 60.0
"""Seconds after which a client that reads nothing is disconnected."""
CLOSE_TIMEOUT = 1.0
"""Seconds that the end of a stream may take."""

_encode = msgspec.json.Encoder().encode


class TooManyStreams(PenstockError):
    """This node serves as many streams as it may, or as one token may have."""

    code = "too_many_streams"

    def __init__(self, limit: int, whose: str = "") -> None:
        super().__init__(f"{limit} streams {whose}are open here already: close some, or come again later")


def _whose(caller: Caller) -> str:
    """The token, or who signed in without one."""
    return caller.token_id or f"signed in as {caller.name}"


class Streams:
    """The streams that are open."""

    def __init__(self) -> None:
        self._open: dict[asyncio.Task[None], str] = {}

    def __len__(self) -> int:
        return len(self._open)

    def limit_streams(self, caller: Caller) -> None:
        """Raises TooManyStreams."""
        if len(self._open) >= MAX_STREAMS:
            raise TooManyStreams(MAX_STREAMS)
        if caller.role != "admin" and countOf(self._open.values(), _whose(caller)) >= MAX_STREAMS_PER_CALLER:
            raise TooManyStreams(MAX_STREAMS_PER_CALLER, "of yours ")

    def begin(self, task: asyncio.Task[None], caller: Caller) -> None:
        self._open[task] = _whose(caller)
        task.add_done_callback(self._open.pop)

    def close(self) -> None:
        """End all of them."""
        for task in self._open:
            task.cancel()


def message(event: str, data: Any, id: str | int | None = None) -> bytes:
    """One event. JSON has no line ends, so that its data is one line."""
    head = b"" if id is None else f"id: {id}\n".encode()
    return b"%sevent: %s\ndata: %s\n\n" % (head, event.encode(), _encode(data))


def comment(text: str, id: str | int) -> bytes:
    """A comment that no reader shows. A reader that reconnects continues after its id."""
    return f"id: {id}\n: {text}\n\n".encode()


class StreamResponse(Response):
    """Sends what a source gives after the entry `begins`; whatever ends it, the source is closed."""

    media_type = MEDIA

    def __init__(
        self,
        source: AsyncGenerator[bytes, None],
        begins: str | int,
        streams: Streams,
        caller: Caller,
        still: Callable[[], Awaitable[None]],
        close: Callable[[], None] | None = None,
    ) -> None:
        super().__init__(headers={"cache-control": "no-store", "x-accel-buffering": "no"})
        del self.headers["content-length"]
        self._source, self._streams, self._caller = source, streams, caller
        self._still, self._close = still, close
        self._begins = begins
        self._blocked = False  # a piece is on its way and the client does not take it

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        sending = asyncio.create_task(self._send(send, scope["method"] == "HEAD"))
        gone = asyncio.create_task(disconnected(receive))
        refused = asyncio.create_task(_refused(self._still))
        self._streams.begin(sending, self._caller)
        try:
            await asyncio.wait({sending, gone, refused}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (sending, gone, refused):
                task.cancel()
            await asyncio.gather(sending, gone, refused, return_exceptions=True)
            await self._source.aclose()
            if self._close is not None:
                self._close()
        if not self._blocked:  # else the end would wait behind what the client does not take
            with suppress(TimeoutError):
                async with asyncio.timeout(CLOSE_TIMEOUT):
                    await send({"type": "http.response.body", "body": b""})

    async def _send(self, send: Send, empty: bool) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        if empty:
            return
        await self._piece(send, b"retry: 2000\n" + comment("here", self._begins))
        async for piece in self._source:
            if piece:
                await self._piece(send, piece)

    async def _piece(self, send: Send, piece: bytes) -> None:
        self._blocked = True
        async with asyncio.timeout(WRITE_TIMEOUT):
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        self._blocked = False


async def _refused(still: Callable[[], Awaitable[None]]) -> None:
    """Wait until the reader may no longer read: its token was revoked, or its session ended."""
    while True:
        await asyncio.sleep(HEARTBEAT_INTERVAL)
        try:
            await still()
        except (Unauthenticated, Forbidden):
            return
