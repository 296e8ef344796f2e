"""Reads runs, and hands out what is due."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from penstock.store.rows.change import Message, Part
from penstock.store.rows.rows import Due, DueTask, DueTimer, Lease, RunState, StoredRun
from penstock.store.sqlite.session import Row, Session, Ticks, length, moment, moment_or_none
from penstock.store.sqlite.writer import Writer


class SqliteRuns:
    """See `store.protocol.Runs`."""

    _writer: Writer
    _ticks: Ticks

    async def load(self, runs: Sequence[str]) -> list[StoredRun | None]:
        return await self._writer.read(lambda session: _load(session, runs))

    async def payloads(self, refs: Sequence[tuple[str, bytes]]) -> dict[tuple[str, bytes], bytes]:
        return await self._writer.read(lambda session: _payloads(session, refs))

    async def pages(self, run: str, after: int, limit: int) -> list[bytes]:
        return await self._writer.read(lambda session: _pages(session, run, after, limit))

    async def states(self, runs: Sequence[str]) -> list[RunState]:
        rows = await self._writer.read(lambda session: session.rows_of_runs("states_of_runs", runs))
        return [RunState(*row) for row in rows]

    async def start_key(self, workflow: str, key: str) -> tuple[str, bytes] | None:
        return await self._writer.read(lambda session: _start_key(session, workflow, key))

    async def due(self, limit: int, timeout: timedelta, gone: Sequence[int] = ()) -> Due:
        return await self._writer.write(lambda session: _due(session, limit, timeout, gone))

    async def now(self) -> datetime:
        return moment(self._ticks.now())


def _load(session: Session, runs: Sequence[str]) -> list[StoredRun | None]:
    """All as of one moment: a part of tomorrow must not meet a head of today."""
    session.db.execute("BEGIN")
    try:
        return [_load_one(session, run) for run in runs]
    finally:
        if session.db.in_transaction:  # where the disk fails, SQLite has ended it by itself
            session.db.execute("ROLLBACK")


def _load_one(session: Session, run: str) -> StoredRun | None:
    found = session.row("load_run", (run,))
    if found is None:
        return None
    revision, header, head = found
    parts = tuple(Part(*part) for part in session.rows("load_parts", (run,)))
    return StoredRun(run, revision, header, head, parts)


def _payloads(session: Session, refs: Sequence[tuple[str, bytes]]) -> dict[tuple[str, bytes], bytes]:
    found = ((ref, session.row("load_payload", ref)) for ref in refs)
    return {ref: row[0] for ref, row in found if row is not None}


def _pages(session: Session, run: str, after: int, limit: int) -> list[bytes]:
    found: list[bytes] = []
    for _, last, body in session.walk("load_pages", (run, after)) if limit > 0 else ():
        found.append(body)
        if last - after >= limit:
            break
    return found


def _due(session: Session, limit: int, timeout: timedelta, gone: Sequence[int]) -> Due:
    session.many("use_message", [(id,) for id in gone])
    now, until = session.now, session.now + length(timeout)
    timers = session.rows("due_timers", (now, limit))
    messages = session.rows("due_messages", (now, limit))
    tasks = session.rows("expired_tasks", (now, limit))
    session.many("take_timer", [(until, timer[0]) for timer in timers])
    session.many("take_message", [(until, message[0]) for message in messages])
    session.many("take_task", [(until, *task[:3]) for task in tasks])
    following = session.row("next_due")
    return Due(
        [DueTimer(id, run, body, moment(at)) for id, run, body, at in timers],
        [DueTask(Lease(*task[:5]), _struck(task)) for task in tasks],
        [Message(*message) for message in messages],
        moment_or_none(following[0]) if following else None,
        moment(now),
    )


def _struck(task: Row) -> str:
    """The limit whose time came first, however late it is found."""
    leased, lease_until, stop_by, start_by, end_by = task[5:]
    if not leased:
        return "schedule_to_start" if start_by <= end_by else "schedule_to_close"
    if lease_until <= min(stop_by, end_by):
        return "lost"
    return "start_to_close" if stop_by <= end_by else "schedule_to_close"


def _start_key(session: Session, workflow: str, key: str) -> tuple[str, bytes] | None:
    found = session.row("start_key_run", (workflow, key))
    return None if found is None else (found[0], found[1])
