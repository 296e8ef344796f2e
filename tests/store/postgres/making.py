"""Small changes to commit, and a store to commit them to."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from penstock.store.postgres.store import PostgresStore
from penstock.store.protocol import Store
from penstock.store.rows.change import Change, NewRun, NewTask

T = TypeVar("T")
BEGAN = datetime(2026, 1, 1, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def name(number: int) -> str:
    """The id of a run."""
    return f"{number:020x}"


def started(run: str, **more: Any) -> Change:
    """A new run with one page of history."""
    values: dict[str, Any] = {
        "run": run,
        "base": 0,
        "revision": 1,
        "seq": 1,
        "status": "running",
        "ended_at": None,
        "waiting": None,
        "head": b"head 1",
        "page": b"page 1",
        "page_from": 1,
        "new": new_run(),
    }
    return Change(**(values | more))


def new_run(**more: Any) -> NewRun:
    values: dict[str, Any] = {
        "workflow": "w",
        "version": 1,
        "subject": None,
        "parent": None,
        "labels": "{}",
        "started_at": BEGAN,
        "header": b"header",
    }
    return NewRun(**(values | more))


def moved(run: str, base: int, **more: Any) -> Change:
    """The run goes on by one revision and one entry of history."""
    values: dict[str, Any] = {
        "base": base,
        "revision": base + 1,
        "seq": base + 1,
        "head": b"head %d" % (base + 1),
        "page": b"page %d" % (base + 1),
        "page_from": base + 1,
        "new": None,
    }
    return started(run, **(values | more))


def over(run: str, base: int, **more: Any) -> Change:
    """The run ends."""
    return moved(run, base, status="succeeded", ended_at=BEGAN + MINUTE, over=True, **more)


def task(firing: int = 1, index: int = -1, **more: Any) -> NewTask:
    values: dict[str, Any] = {
        "firing": firing,
        "index": index,
        "attempt": 1,
        "task": "t",
        "task_list": "default",
        "priority": 0,
        "schedule_to_start": None,
        "start_to_close": None,
        "schedule_to_close": None,
        "heartbeat": MINUTE,
    }
    return NewTask(**(values | more))


@asynccontextmanager
async def opened(url: str, **more: Any) -> AsyncIterator[PostgresStore]:
    store = await PostgresStore.open(url, **more)
    try:
        yield store
    finally:
        await store.close()


def with_store(url: str, do: Callable[[PostgresStore], Awaitable[T]]) -> T:
    """Run a test's body on a store of its own."""

    async def main() -> T:
        async with opened(url) as store:
            whole: Store = store  # the type checker proves that nothing of the protocol is missing
            assert whole is store
            return await do(store)

    return asyncio.run(main())
