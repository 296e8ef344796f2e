"""Restate: its server on its own log and store, a service behind Hypercorn, a client that calls over HTTP.

A step is a call of another handler, which the server schedules by itself; or (`steps`) a `ctx.run` inside of one
handler, which the server only writes down.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import aiohttp
import restate

from bench.peers import common

AT_A_TIME = 64
bench = restate.Service("bench")


async def nothing() -> None:
    """A step whose own work costs nothing."""


@bench.handler()
async def element(ctx: restate.Context) -> None:
    """A step that is called by itself."""


@bench.handler()
async def chain(ctx: restate.Context) -> None:
    for _ in range(3):
        await ctx.service_call(element, arg=None)


@bench.handler("chain_steps")
async def chain_steps(ctx: restate.Context) -> None:
    for name in ("one", "two", "three"):
        await ctx.run_typed(name, nothing)


@bench.handler()
async def fan(ctx: restate.Context, size: int) -> None:
    await ctx.service_call(element, arg=None)
    await restate.gather(*(ctx.service_call(element, arg=None) for _ in range(size)))
    await ctx.service_call(element, arg=None)


@bench.handler("fan_steps")
async def fan_steps(ctx: restate.Context, size: int) -> None:
    await ctx.run_typed("split", nothing)
    await restate.gather(*(ctx.run_typed(f"each {number}", nothing) for number in range(size)))
    await ctx.run_typed("join", nothing)


app = restate.app([bench])


class Caller:
    """Calls handlers through the server."""

    def __init__(self, session: aiohttp.ClientSession, ingress: int) -> None:
        self._session, self._base = session, f"http://127.0.0.1:{ingress}/bench"

    async def call(self, handler: str, size: int | None = None) -> None:
        body: dict[str, Any] = {"skip_auto_headers": ["Content-Type"]} if size is None else {"json": size}
        async with self._session.post(f"{self._base}/{handler}", **body) as answer:
            if answer.status != 200:
                raise RuntimeError(f"{answer.status} {await answer.text()}")


async def register(session: aiohttp.ClientSession, admin: int, service: int) -> None:
    """Tell the server where the service is, as soon as both are there."""
    while True:
        try:
            body = {"uri": f"http://127.0.0.1:{service}"}
            async with session.post(f"http://127.0.0.1:{admin}/deployments", json=body) as answer:
                if answer.status in (200, 201):
                    return
                print(await answer.text(), file=sys.stderr)
        except aiohttp.ClientError:
            pass
        await asyncio.sleep(0.05)


async def first(caller: Caller) -> None:
    """The ingress learns of a service a moment after it was registered."""
    while True:
        try:
            return await caller.call("chain")
        except (RuntimeError, aiohttp.ClientError) as error:
            print(error, file=sys.stderr)
            await asyncio.sleep(0.02)


async def measure(orders: common.Orders, ingress: int, admin: int, service: int) -> None:
    connector = aiohttp.TCPConnector(limit=2 * AT_A_TIME)
    timeout = aiohttp.ClientTimeout(total=120)
    async with aiohttp.ClientSession(connector=connector, timeout=timeout) as session:
        await asyncio.wait_for(register(session, admin, service), 60)
        caller = Caller(session, ingress)
        await asyncio.wait_for(first(caller), 30)
        await asyncio.to_thread(orders.launched)
        for suffix, variant in (("", ""), ("_steps", "steps")):
            await variants(orders, caller, suffix, variant)


async def variants(orders: common.Orders, caller: Caller, suffix: str, variant: str) -> None:
    name = f"chain{suffix}"
    with common.attempt("W3", variant):
        await common.one_by_one_async(lambda: caller.call(name), orders.singles, variant)
    with common.attempt("W1", variant):
        await common.saturate_async(
            lambda: caller.call(name), orders.runs, AT_A_TIME, asyncio.gather, variant
        )
    with common.attempt("W2", variant):
        await common.fan_async(lambda size: caller.call(f"fan{suffix}", size), orders.fans, variant)


def work(orders: common.Orders) -> None:
    ingress, admin, node, service = (common.free_port() for _ in range(4))
    modules = Path(sys.prefix) / "node_modules" / "@restatedev"
    server = next(modules.glob("restate-server-*")) / "bin" / "restate-server"
    settings = {
        "RESTATE_INGRESS__BIND_ADDRESS": f"127.0.0.1:{ingress}",
        "RESTATE_ADMIN__BIND_ADDRESS": f"127.0.0.1:{admin}",
        "RESTATE_BIND_ADDRESS": f"127.0.0.1:{node}",
        "RESTATE_ADVERTISED_ADDRESS": f"http://127.0.0.1:{node}",
        "RESTATE_DISABLE_TELEMETRY": "true",
        "RESTATE_LOG_FILTER": "warn",
        "DO_NOT_TRACK": "1",
    }
    command = [str(server), "--base-dir", str(orders.folder / "restate"), "--node-name", "bench"]
    common.spawn(command, orders.folder / "server.log", env={**os.environ, **settings})
    hypercorn = [
        sys.executable,
        "-m",
        "hypercorn",
        "--bind",
        f"127.0.0.1:{service}",
        "-k",
        "uvloop",
        "-w",
        "0",
    ]
    common.spawn([*hypercorn, "bench.peers.restate.worker:app"], orders.folder / "service.log")
    common.wait_for(lambda: common.listens(service), 30, "the service")
    asyncio.run(measure(orders, ingress, admin, service))


if __name__ == "__main__":
    common.main(work, "restate_sdk", "hypercorn")
