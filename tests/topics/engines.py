"""Engines that take from topics, and what is waited for in them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from penstock import Context, Engine
from tests import waiting
from tests.topics.conftest import Broker

Result = TypeVar("Result")


def note(ctx: Context) -> dict[str, Any]:
    "Give back what came in."
    return {"data": ctx.data}


def engine(url: str, broker: Broker | str, **more: Any) -> Engine:
    """An engine on a database, with the broker as its bus `main`."""
    bus = broker if isinstance(broker, str) else broker.url
    return Engine(url, tasks={"note": note}, buses={"main": bus}, **more)


async def until(
    ask: Callable[[], Awaitable[Result]], so: Callable[[Result], bool], limit: float = 30
) -> Result:
    """The answer, as soon as it is so."""
    return await waiting.until(ask, "what should be seen", limit, so=so)


async def runs_there(engine: Engine, count: int, **filters: Any) -> list[dict[str, Any]]:
    """The runs, the oldest first, as soon as there are so many."""
    found = await until(lambda: engine.runs(**filters), lambda runs: len(runs) >= count)
    return [await engine.show(run["id"]) for run in reversed(found)]
