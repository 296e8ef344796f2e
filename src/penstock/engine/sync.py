"""The engine for synchronous callers: a loop in its own thread; every method blocks."""

from __future__ import annotations

import asyncio
import concurrent.futures
import functools
import inspect
import threading
from collections.abc import Callable, Coroutine
from types import TracebackType
from typing import Any, Protocol, TypeVar

from penstock.flow.errors import PenstockError

T = TypeVar("T")


def closed() -> PenstockError:
    return PenstockError("this engine is closed")


class Closable(Protocol):
    """Something asynchronous that is closed at the end."""

    async def close(self) -> None: ...


class SyncEngine:
    """An `Engine` on a loop in a thread of its own, as `Engine.sync()` makes it. Each method is here, and waits."""

    def __init__(self, engine: Closable) -> None:
        self._engine = engine
        self._loop = asyncio.new_event_loop()
        self._closed = False
        self._closing = threading.Lock()
        self._thread = threading.Thread(target=self._loop.run_forever, name="penstock", daemon=True)
        self._thread.start()

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *filter(self._waits_for, dir(self._engine))})

    def _waits_for(self, name: str) -> bool:
        return not name.startswith("_") and inspect.iscoroutinefunction(getattr(self._engine, name))

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self._engine, name)
        if not inspect.iscoroutinefunction(method):
            raise AttributeError(
                f"an engine for plain callers has no '{name}': use penstock.Engine in a loop"
            )

        @functools.wraps(method)
        def waiting(*args: Any, **kwargs: Any) -> Any:
            return self._run(method(*args, **kwargs))

        return waiting

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        with self._closing:
            if self._closed:
                work.close()
                raise closed()
            future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except concurrent.futures.CancelledError:
            raise closed() from None

    def close(self) -> None:
        """Close the engine as `Engine.close` does, fail waiting calls, and end the thread."""
        with self._closing:
            if self._closed:
                return
            self._closed = True
        asyncio.run_coroutine_threadsafe(self._shut(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _shut(self) -> None:
        """Cancel everything before the loop stops; otherwise it would wait forever."""
        await self._engine.close()
        await asyncio.sleep(0)
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    def __enter__(self) -> SyncEngine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
