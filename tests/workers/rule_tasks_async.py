"""The tasks of the worker rules as coroutines."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from penstock import Context, Fatal, task


async def wait_for(path: str) -> None:
    while not Path(path).exists():
        await asyncio.sleep(0.005)  # a task in another process: a file ends it


@task
async def echo(value: Any = None) -> Any:
    return value


@task
async def fail(message: str) -> None:
    raise RuntimeError(message)


@task
async def fail_for_good(message: str) -> None:
    raise Fatal(message)


@task
async def hold(begun: str, go: str) -> str:
    Path(begun).touch()
    await wait_for(go)
    return "held"


@task
async def until_canceled(ctx: Context, begun: str, seen: str) -> None:
    Path(begun).touch()
    try:
        await asyncio.Event().wait()
    finally:
        if ctx.canceled:
            Path(seen).touch()


@task
async def tell(ctx: Context, lines: list[str], progress: Any, go: str) -> str:
    for line in lines:
        ctx.log(line)
    ctx.heartbeat(progress)
    await wait_for(go)
    return "told"
