"""How tests wait for what nothing announces; the only place that polls.

The limits are long, because a busy machine is slow and not wrong: a test that passes does not wait for them.
"""

from __future__ import annotations

import asyncio
import inspect
import socket
import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar, overload

T = TypeVar("T")

FIRST, PAUSE = 0.005, 0.03
"""Seconds between two looks: at first, and what they grow to."""


@overload
async def until(
    look: Callable[[], Awaitable[T]],
    what: str,
    seconds: float = 30,
    *,
    so: Callable[[T], object] = bool,
    pause: float = PAUSE,
) -> T: ...


@overload
async def until(
    look: Callable[[], T],
    what: str,
    seconds: float = 30,
    *,
    so: Callable[[T], object] = bool,
    pause: float = PAUSE,
) -> T: ...


async def until(
    look: Callable[[], Any],
    what: str,
    seconds: float = 30,
    *,
    so: Callable[[Any], object] = bool,
    pause: float = PAUSE,
) -> Any:
    """What is seen, as soon as it is true (or so). Raises AssertionError, which says what never came."""
    found: Any = None
    nap = FIRST
    try:
        async with asyncio.timeout(seconds) as limit:
            while not so(found := await _value(look())):
                await asyncio.sleep(nap)  # nothing announces it
                nap = min(2 * nap, pause)
    except TimeoutError:
        if not limit.expired():
            raise
        raise AssertionError(_never(what, seconds, found)) from None
    return found


def until_sync(
    look: Callable[[], T], what: str, seconds: float = 30, *, so: Callable[[T], object] = bool
) -> T:
    """The same where no loop runs."""
    end, nap = time.monotonic() + seconds, FIRST
    while not so(found := look()):
        if time.monotonic() > end:
            raise AssertionError(_never(what, seconds, found))
        time.sleep(nap)  # nothing announces it
        nap = min(2 * nap, PAUSE)
    return found


async def within(seconds: float, look: Callable[[], bool | Awaitable[bool]], pause: float = PAUSE) -> bool:
    """Whether it is true in time, where it need not be."""
    loop = asyncio.get_running_loop()
    end, nap = loop.time() + seconds, FIRST
    while not (found := bool(await _value(look()))) and loop.time() < end:
        await asyncio.sleep(nap)  # nothing announces it
        nap = min(2 * nap, pause)
    return found


async def nothing_happens(seconds: float) -> None:
    """Give what must not happen the time in which it would."""
    await asyncio.sleep(seconds)  # only time shows that nothing comes


async def pass_time(seconds: float) -> None:
    """Let virtual time pass, in a simulation; it costs nothing."""
    await asyncio.sleep(seconds)  # the clock of the simulation jumps


async def _value(seen: Any) -> Any:
    return await seen if inspect.isawaitable(seen) else seen


def _never(what: str, seconds: float, found: object) -> str:
    return f"waited {seconds:g} s for {what}; at last it was {found!r}"


def listens(port: int) -> bool:
    """Whether a server here accepts connections."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
