"""What the engine is given to do: a chain of three steps and a fan, with tasks that do nothing."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

CHAIN = "bench-chain"
FAN = "bench-fan"
DEFINITIONS: tuple[dict[str, Any], ...] = (
    {
        "penstock": 1,
        "name": CHAIN,
        "steps": {
            "one": {"task": "nothing"},
            "two": {"task": "nothing", "after": ["one"]},
            "three": {"task": "last", "after": ["two"]},
        },
    },
    {
        "penstock": 1,
        "name": FAN,
        "steps": {
            "split": {"task": "nothing"},
            "each": {"task": "nothing", "after": ["split"], "each": "data.items"},
            "join": {"task": "last", "after": ["each"]},
        },
    },
)

Tasks = dict[str, Callable[[], Awaitable[None]]]


async def nothing() -> None:
    """A task whose own work costs nothing, so that only the engine's is measured."""


def tasks(last: Callable[[], None] | None = None) -> Tasks:
    """The tasks of both workflows; `last` is called in the last step of every run."""

    async def tell() -> None:
        if last is not None:
            last()

    return {"nothing": nothing, "last": tell}
