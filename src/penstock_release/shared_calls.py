"""Work that many ask for at once, done once for all of them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextvars import Context
from typing import Generic, TypeVar

T = TypeVar("T")


class Shared(Generic[T]):
    """By key. Who asks while it is under way shares the next time with all who ask then: what is told is never old."""

    def __init__(self) -> None:
        self._locks: dict[str, asyncio.Lock] = {}
        self._next: dict[str, asyncio.Future[T]] = {}

    async def ask(self, key: str, does: Callable[[str], Awaitable[T]]) -> T:
        """What `does` gives, begun after this call; it is nobody's own, so that it is on nobody's record."""
        turn = self._next.get(key)
        if turn is None:
            turn = self._next[key] = asyncio.create_task(self._turn(key, does), context=Context())
            turn.add_done_callback(_looked_at)
        return await asyncio.shield(turn)

    async def _turn(self, key: str, does: Callable[[str], Awaitable[T]]) -> T:
        lock = self._locks.setdefault(key, asyncio.Lock())
        async with lock:
            del self._next[key]
            try:
                return await does(key)
            finally:
                if key not in self._next:
                    self._locks.pop(key, None)


def _looked_at(turn: asyncio.Future[T]) -> None:
    """Also where whoever asked no longer waits for it."""
    if not turn.cancelled():
        turn.exception()
