"""The tasks of the load. Each execution is noted in a file of its process before the task says anything."""

from __future__ import annotations

import asyncio
import os
import time
from random import Random
from typing import Any
from uuid import uuid4

from penstock import Context, task

LEDGER = os.environ.get("CHAOS_LEDGER")
"""The folder of the notes."""
LONGEST = float(os.environ.get("CHAOS_LONGEST", "0.5"))
"""Seconds that a task takes at most."""


def note(ctx: Context, number: int, token: str = "-") -> None:
    """One line, appended in one call: a kill leaves it whole or not there."""
    file = os.open(f"{LEDGER}/{os.getpid()}", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        os.write(file, f"{ctx.run['id']} {ctx.step} {ctx.attempt} {number} {token}\n".encode())
    finally:
        os.close(file)


def some_time(ctx: Context) -> float:
    """Seconds, of the attempt's own chance."""
    return Random(f"{ctx.run['id']}{ctx.step}{ctx.attempt}").uniform(0.1, 1.0) * LONGEST


@task("carry.take")
async def take(ctx: Context, number: int) -> dict[str, Any]:
    """Every execution has a token of its own: whoever comes after can tell whose result was taken."""
    note(ctx, number)
    await asyncio.sleep(some_time(ctx))  # the work of the task
    return {"number": number, "token": uuid4().hex}


@task("carry.left")
def left(ctx: Context, number: int) -> int:
    note(ctx, number, ctx.input["take"]["token"])
    time.sleep(some_time(ctx))  # the work of the task
    return number


@task("carry.right")
async def right(ctx: Context, number: int) -> int:
    """It holds up the loop of its worker, as people's coroutines do: who is stopped here reports late."""
    note(ctx, number, ctx.input["take"]["token"])
    time.sleep(some_time(ctx) / 2)  # the work of the task
    return number


@task("carry.join")
async def join(ctx: Context, number: int) -> int:
    note(ctx, number)
    return number
