"""Small values for the rules of the store: each builder fills in what a test does not speak about."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from penstock.store.protocol import Store
from penstock.store.rows.change import (
    WHOLE,
    Change,
    EndedTask,
    EventId,
    Lock,
    NewRun,
    NewTask,
    PendingEvent,
    Unlock,
)
from penstock.store.rows.drafts import NewVersion
from penstock.store.rows.rows import ClaimRequest, Lease, Leased, Version

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
"""When every test begins, by the store's time."""

BEAT = timedelta(seconds=30)
LATER = NOON + timedelta(days=7)
SHORT = timedelta(seconds=10)
"""The patience of the tests."""

ENDED = {"succeeded", "failed", "canceled", "timed_out"}


def seconds(n: float) -> timedelta:
    return timedelta(seconds=n)


def run_id(n: int) -> str:
    """The n-th run: ids sort by time."""
    return f"{n:020x}"


A, B, C, D = (run_id(n) for n in (1, 2, 3, 4))


def new_run(**given: Any) -> NewRun:
    plain: dict[str, Any] = {
        "workflow": "w",
        "version": 1,
        "subject": None,
        "parent": None,
        "labels": json.dumps(given.pop("labels", {})),
        "started_at": NOON,
        "header": b"header",
    }
    return NewRun(**plain | given)


def change(run: str, base: int, **given: Any) -> Change:
    """The step of a run from revision `base` to the next, with one history entry."""
    revision = base + 1
    plain: dict[str, Any] = {
        "revision": revision,
        "seq": revision,
        "status": "running",
        "ended_at": None,
        "waiting": None,
        "head": f"head {revision}".encode(),
        "page": f"page {revision}".encode(),
        "page_from": revision,
    }
    return Change(run=run, base=base, **plain | given)


def start(run: str, new: NewRun | None = None, **given: Any) -> Change:
    return change(run, 0, new=new or new_run(), **given)


def end(run: str, base: int, status: str = "succeeded", at: datetime = NOON, **given: Any) -> Change:
    return change(run, base, status=status, ended_at=at, over=True, **given)


def task(firing: int = 1, index: int = WHOLE, **given: Any) -> NewTask:
    plain: dict[str, Any] = {
        "attempt": 1,
        "task": "t",
        "task_list": "default",
        "priority": 0,
        "schedule_to_start": None,
        "start_to_close": None,
        "schedule_to_close": None,
        "heartbeat": BEAT,
    }
    return NewTask(firing=firing, index=index, **plain | given)


def lease_of(run: str, firing: int = 1, index: int = WHOLE, attempt: int = 1, fence: int = 1) -> Lease:
    return Lease(run, firing, index, attempt, fence)


def ended(lease: Lease) -> EndedTask:
    return EndedTask(lease.firing, lease.index, lease.attempt, lease.fence)


def wish(limit: int = 10, worker: str = "amy", **given: Any) -> ClaimRequest:
    plain: dict[str, Any] = {"task_lists": ("default",), "tasks": None}
    return ClaimRequest(worker=worker, limit=limit, **plain | given)


def lock(key: str, firing: int = 1, limit: int = 1, body: bytes = b"yours", index: int = WHOLE) -> Lock:
    return Lock(key, limit, firing, index, body)


def unlock(key: str, firing: int = 1, index: int = WHOLE) -> Unlock:
    return Unlock(key, firing, index)


def pending_event(
    *keys: tuple[str, str],
    body: bytes = b"event",
    until: datetime = LATER,
    event: str = "e",
    seen: EventId | None = None,
) -> PendingEvent:
    return PendingEvent(
        keys=keys, event=event, body=body, reason="no run has the key", until=until, seen=seen
    )


def plain_count(counted: dict[str, int]) -> dict[str, int]:
    """Counts by status, without those that are none."""
    return {status: n for status, n in counted.items() if n}


async def given(store: Store, *changes: Change) -> list[tuple[str | None, bytes]]:
    """Apply changes that must be applied, each by itself; the messages that they made, run and body."""
    made: list[tuple[str | None, bytes]] = []
    for one in changes:
        committed = await store.commit([one])
        assert committed.outcomes == ["applied"]
        made += [(message.run, message.body) for message in committed.messages]
    return made


async def publish(
    store: Store, workflow: str, definition: str, offers: bytes, note: str | None, start: bool, **more: Any
) -> Version:
    """The version that is made, or the newest; `again`, and an `audit`."""
    audit = more.pop("audit", None)
    new = NewVersion(workflow=workflow, definition=definition, offers=offers, note=note, start=start, **more)
    made = await store.publish(new, audit=audit)
    assert made is not None
    return made


async def lease(store: Store, limit: int = 10, worker: str = "amy", **more: Any) -> list[Leased]:
    return await store.lease(wish(limit, worker, **more))


async def leased_runs(store: Store, limit: int = 10, worker: str = "amy", **more: Any) -> list[str]:
    """The runs of the tasks handed out, in order."""
    return [one.lease.run for one in await lease(store, limit, worker, **more)]


async def revisions(store: Store, *runs: str) -> list[int | None]:
    return [found.revision if found else None for found in await store.load(runs)]


async def mail(store: Store) -> list[tuple[str | None, bytes]]:
    """The messages that wait and are nobody's just now, and are handed to this caller: run and body."""
    return [(message.run, message.body) for message in (await store.due(1000, SHORT)).messages]


async def struck(store: Store) -> list[tuple[str, int, str]]:
    """The tasks that outlived a time-out and are handed to this caller: run, firing and limit."""
    due: Sequence[Any] = (await store.due(1000, SHORT)).tasks
    return [(one.lease.run, one.lease.firing, one.limit) for one in due]
