"""Streams of one run, or of all runs, as server-sent events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any

from penstock.api.call import Calls, RequestContext
from penstock.api.guard import identify
from penstock.api.request_body import Unreadable
from penstock.api.streams import HEARTBEAT_INTERVAL, MEDIA, StreamResponse, comment, message
from penstock.api.wire.runs import StreamQuery
from penstock.engine.engine import Engine
from penstock.runtime.queries.change_feed import Reader

calls = Calls("streams")
LAST_EVENT_HEADER = "Last-Event-ID"
HEARTBEAT = "still here"


@calls.get("/api/runs/{id}/stream", "read", query=StreamQuery, media=MEDIA, headers=(LAST_EVENT_HEADER,))
async def stream_run(context: RequestContext[None, StreamQuery]) -> Any:
    """The history of a run from its beginning, or after Last-Event-ID or `after`, as it grows, to its end."""
    run = await context.may_run("read")
    context.service.streams.limit_streams(context.caller)
    await context.engine.following.last(run)
    after = _last(context.request.headers.get(LAST_EVENT_HEADER), context.query.after)
    source = _history(context.engine, run, after)
    return StreamResponse(source, after, context.service.streams, context.caller, _still(context))


def _last(header: str | None, after: int | None) -> int:
    """Where to begin. Raises Unreadable."""
    if header is None:
        return after or 0
    if not (header.isascii() and header.isdigit() and len(header) < 19):
        raise Unreadable(
            "invalid_parameter", f"{LAST_EVENT_HEADER}: must be the number of a history entry, such as 17"
        )
    return int(header)


async def _history(engine: Engine, run: str, after: int) -> AsyncGenerator[bytes, None]:
    async for item in engine.following.run(run, after, HEARTBEAT_INTERVAL):
        if item is None:
            yield comment(HEARTBEAT, after)
        else:
            after = item["seq"]
            yield message("history", item, after)
    yield message("end", {})


@calls.get("/api/stream", "read", media=MEDIA, headers=(LAST_EVENT_HEADER,))
async def stream_changes(context: RequestContext[None, None]) -> Any:
    """Every run that changes, from now on or after Last-Event-ID; `reset`: some were missed, load again."""
    context.service.streams.limit_streams(context.caller)
    reader = await context.engine.following.changes(context.request.headers.get(LAST_EVENT_HEADER))
    source = _changes(reader, context.caller.sees)
    return StreamResponse(
        source, reader.id, context.service.streams, context.caller, _still(context), reader.close
    )


def _still(context: RequestContext[Any, Any]) -> Callable[[], Awaitable[None]]:
    """Ask again who looks on: a stream must not outlive a token that was revoked."""

    async def still() -> None:
        (await identify(context.service, context.request)).require("read")

    return still


async def _changes(reader: Reader, sees: Any) -> AsyncGenerator[bytes, None]:
    """What the caller may see. Where that is nothing for long, it is still told that the line is alive."""
    now = asyncio.get_running_loop().time
    spoke = now()
    while True:
        batch = await reader.read(max(0.0, spoke + HEARTBEAT_INTERVAL - now()))
        if batch is not None and batch.reset:
            piece = message("reset", {}, reader.id)
        else:
            piece = b"".join(
                message("change", state, reader.id_of(number))
                for number, state in (batch.changes if batch else ())
                if sees(state.workflow)
            )
        if not piece and now() - spoke >= HEARTBEAT_INTERVAL:
            piece = comment(HEARTBEAT, reader.id)
        if piece:
            yield piece
            spoke = now()
