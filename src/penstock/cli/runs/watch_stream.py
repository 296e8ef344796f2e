"""A run watched from afar until it ends: followed by its stream, or looked at again and again where there is none."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

from penstock.cli.io.console import note
from penstock.cli.io.target import Penstock
from penstock.cli.runs.watch_report import Picture, drawing
from penstock.remote.engine import OVER, RemoteEngine
from penstock.remote.errors import NoServer, NotPenstock, ServerAway
from penstock.runtime.errors import NotFound, UnknownRun

TICK = 0.25
"""Seconds between two pictures."""
LOOK = 0.5
"""Seconds between two looks at a history that cannot be followed."""
RECONNECT_TIMEOUT = 60.0
"""Seconds that a server may be away before it is given up."""

Entries = list[dict[str, Any]]


async def watched(engine: Penstock, run: str, *, quiet: bool = False, stay: bool = False) -> dict[str, Any]:
    """Show a run until it has ended or is stalled; the run as it is then. With `stay` the last picture stays."""
    picture = Picture(await engine.show(run))
    news: asyncio.Queue[Entries] = asyncio.Queue()
    pump = asyncio.create_task(_pump(engine, run, news))
    try:
        with drawing(quiet, stay) as draw:
            while True:
                fresh = await _next(news, pump)
                picture.add(fresh)
                # Also once the stream has ended: its last entry may be here before the view shows it.
                if fresh or pump.done():
                    picture.view = await _shown(engine, run, picture.view)
                draw(picture)
                if picture.view["status"] in OVER and news.empty():
                    return picture.view
    finally:
        pump.cancel()
        await asyncio.gather(pump, return_exceptions=True)


async def _next(news: asyncio.Queue[Entries], pump: asyncio.Task[None]) -> Entries:
    """What has happened since, nothing after a tick. Raises what ended the pump."""
    fresh: Entries = []
    with suppress(TimeoutError):
        async with asyncio.timeout(TICK):
            fresh = await news.get()
    while not news.empty():
        fresh += news.get_nowait()
    if pump.done() and not fresh and (error := pump.exception()) is not None:
        raise error
    return fresh


async def _shown(engine: Penstock, run: str, last: dict[str, Any]) -> dict[str, Any]:
    """The run as it is; as it was where the server is away for a moment."""
    try:
        return await engine.show(run)
    except (ServerAway, NoServer):
        return last


async def _pump(engine: Penstock, run: str, news: asyncio.Queue[Entries]) -> None:
    """Every entry of the history, each once; a server that comes back in time is asked to go on."""
    seq, away = 0, 0.0
    while True:
        try:
            async for fresh in _entries(engine, run, seq):
                away = 0.0
                seq = fresh[-1]["seq"]
                news.put_nowait(fresh)
                if fresh[-1]["kind"] == "run_ended":
                    return
        except (ServerAway, NoServer):
            if away == 0.0:
                note("the server does not answer; waiting for it")
            away += 1.0
            if away > RECONNECT_TIMEOUT:
                raise
        await asyncio.sleep(1.0)


async def _entries(engine: Penstock, run: str, after: int) -> AsyncIterator[Entries]:
    """The entries after one: what is there, then what comes."""
    fresh = await engine.history(run, after=after)
    if fresh:
        yield fresh
        after = fresh[-1]["seq"]
    if isinstance(engine, RemoteEngine):
        try:
            async for told in engine.stream(run, after):
                if told.event == "history" and told.data["seq"] > after:
                    after = told.data["seq"]
                    yield [told.data]
            return
        except UnknownRun:
            raise
        except (NotFound, NotPenstock):
            pass  # a server, or something before it, that does not stream
    while True:
        await asyncio.sleep(LOOK)
        if fresh := await engine.history(run, after=after):
            yield fresh
            after = fresh[-1]["seq"]
