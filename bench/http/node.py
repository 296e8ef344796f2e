"""A process that is measured: says its address or its figure on a line. `python -m ... hello|api|here|far ...`."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from bench.engine.workflows import CHAIN, tasks
from bench.engine.workloads import IN_FLIGHT, NotDone, Room, prepared
from bench.http.past import LONG
from penstock.access.access import Access
from penstock.api.app import App
from penstock.api.service import Service
from penstock.api.table import CALLS
from penstock.engine import event_loop
from penstock.engine.engine import Engine
from penstock.runtime.decisions.decision import Decision
from penstock.secrets.keys import Keys
from penstock.secrets.vault import Vault
from penstock.server.http import address, bind, serving

DEFINITION: dict[str, Any] = {
    "penstock": 1,
    "name": "bench-start",
    "steps": {"only": {"task": "nobody.does.this", "task_list": "nobody"}},
}


async def hello() -> None:
    """The bare framework."""

    async def greet(request: Request) -> PlainTextResponse:
        return PlainTextResponse("Hello, world!")

    listener = bind("127.0.0.1", 0)
    app = Starlette(routes=[Route("/", greet)])
    config = uvicorn.Config(app, access_log=False, log_config=None, lifespan="off")
    print(address(listener), flush=True)
    await _until_the_input_ends(asyncio.ensure_future(uvicorn.Server(config).serve(sockets=[listener])))


def _nothing() -> None:
    """A task whose own work costs nothing."""


async def api(url: str) -> None:
    """An engine behind HTTP. It has the tasks for calls, and does none for runs."""
    plain = {name: _nothing for name in tasks()}
    async with Engine(url, tasks=plain, work=False, retention=LONG) as engine:
        await prepared(engine)
        await engine.publish(DEFINITION, again=False)
        async with serving(await _app(engine), "127.0.0.1", 0) as base:
            print(base, flush=True)
            await _until_the_input_ends(None)


async def steps(url: str, runs: int, far: bool) -> None:
    """Steps a second of a chain of three, done by a worker in this process, or by one that comes over HTTP."""
    async with Engine(url, tasks=tasks(), work=not far, concurrency=IN_FLIGHT) as engine:
        await prepared(engine)
        async with serving(await _app(engine), "127.0.0.1", 0) as base:
            print(base, flush=True)
            await asyncio.to_thread(sys.stdin.readline)  # the worker is there
            print(3 * runs / await _timed(engine, runs), flush=True)
            await asyncio.to_thread(sys.stdin.readline)


async def _timed(engine: Engine, runs: int) -> float:
    running, room, done = await engine.running(), Room(), asyncio.Event()
    left = runs

    def settled(decisions: Sequence[Decision]) -> None:
        nonlocal left
        for decision in decisions:
            if decision.plan.snapshot.ended:
                left -= 1
                room.leave()
        if not left:
            done.set()

    running.node.advancer.observe(settled)
    numbers = iter(range(runs))

    async def start() -> None:
        for _ in numbers:
            await engine.start(CHAIN)
            await room.wait()

    began = perf_counter()
    starting = [asyncio.create_task(start()) for _ in range(min(runs, IN_FLIGHT))]
    await asyncio.wait_for(done.wait(), 600)
    seconds = perf_counter() - began
    await asyncio.gather(*starting)
    counts = await engine.counts(workflow=CHAIN)
    if counts["running"] or counts["failed"]:
        raise NotDone(f"not all runs succeeded: {counts}")
    return seconds


async def _app(engine: Engine) -> App:
    store = (await engine.running()).store
    access = Access(store, Vault(store, Keys(Path("penstock.key"))))
    return App(await Service.of(engine, access, open=True), CALLS)


async def _until_the_input_ends(serving: asyncio.Future[None] | None) -> None:
    await asyncio.to_thread(sys.stdin.read)
    if serving is not None:
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)


def main(kind: str, *more: str) -> None:
    if kind == "hello":
        event_loop.run(hello())
    elif kind == "api":
        event_loop.run(api(more[0]))
    else:
        event_loop.run(steps(more[0], int(more[1]), kind == "far"))


if __name__ == "__main__":
    main(*sys.argv[1:])
