"""The read side, for people."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec

from penstock.store.rows.rows import (
    WORKER_TIMEOUT,
    Backlog,
    Filter,
    Lease,
    LockRow,
    OldTask,
    QueueRow,
    RunRow,
    RunWaits,
    TaskRow,
    TimingRow,
    WaitingTasks,
    Worker,
)
from penstock.store.sql.index_scans import Dialect, Question
from penstock.store.sql.run_lists import (
    Pair,
    allowed,
    count_question,
    driver_of,
    merged,
    probe,
    questions,
    tallied,
)
from penstock.store.sqlite.session import NEVER, Row, Session, length, micros, moment, moment_or_none
from penstock.store.sqlite.writer import Writer

DIALECT = Dialect("?", hints=True, time=micros, never=str(NEVER))
_labels = msgspec.json.Decoder(dict[str, str])
_names = msgspec.json.Decoder(list[str])
_tuple = msgspec.json.Decoder(tuple[str, ...])


class SqliteViews:
    """See `store.protocol.RunViews`, `TaskViews`."""

    _writer: Writer

    async def runs(self, filter: Filter) -> list[RunRow]:
        return await self._writer.read(lambda session: _runs(session, filter))

    async def count(self, filter: Filter) -> dict[str, int]:
        return await self._writer.read(lambda session: _count(session, filter))

    async def version_counts(
        self, workflow: str, since: datetime, until: datetime
    ) -> dict[tuple[int, str], int]:
        return await self._writer.read(lambda session: _version_counts(session, workflow, since, until))

    async def endings(
        self, since: datetime, until: datetime, width: timedelta
    ) -> dict[tuple[str, str, int], int]:
        return await self._writer.read(lambda session: _endings(session, since, until, width))

    async def timings(
        self, runs: Sequence[str], most: int | None = None, firings: Sequence[int] | None = None
    ) -> list[TimingRow]:
        return await self._writer.read(lambda session: _timings(session, runs, most, firings))

    async def waits(self, run: str) -> RunWaits:
        return await self._writer.read(lambda session: RunWaits(_timers(session, run), _locks(session, run)))

    async def logs(self, run: str, after: int, limit: int) -> list[tuple[int, bytes]]:
        return await self._writer.read(lambda session: _logs(session, run, after, limit))

    async def tasks(self, run: str) -> list[TaskRow]:
        return await self._writer.read(lambda session: _tasks(session, run))

    async def queues(self) -> list[QueueRow]:
        return await self._writer.read(_queues)

    async def workers(self) -> list[Worker]:
        return await self._writer.read(_workers)

    async def backlog(self, *, oldest: int = 0, stuck: int = 0) -> Backlog:
        return await self._writer.read(lambda session: _backlog(session, oldest, stuck))


def _runs(session: Session, filter: Filter) -> list[RunRow]:
    if filter.limit <= 0:
        return []
    names = allowed(filter, lambda: _workflows(session))
    few = probe(filter, DIALECT, names)
    driver = driver_of(filter, names, None if few is None else _fetch(session, few)[0][0])
    pairs = _pairs(session, names) if driver == "version" else []
    asked = questions(filter, DIALECT, names, driver, pairs)
    return merged((_run(row) for one in asked for row in _fetch(session, one)), filter)


def _fetch(session: Session, asked: Question) -> list[Any]:
    return session.db.execute(asked.sql, asked.values).fetchall()


def _workflows(session: Session) -> list[str]:
    """Those that have runs."""
    found: list[str] = []
    while row := session.row("next_workflow", (found[-1] if found else "",)):
        found.append(row[0])
    return found


def _pairs(session: Session, names: Sequence[str] | None) -> list[Pair]:
    found: list[Pair] = []
    for name in _workflows(session) if names is None else names:
        version = -1
        while row := session.row("next_version", (name, version)):
            version = row[0]
            found.append((name, version))
    return found


def _run(row: Row) -> RunRow:
    id, workflow, version, subject, status, parent, labels, waiting, started_at, ended_at = row
    return RunRow(
        id=id,
        workflow=workflow,
        version=version,
        subject=subject,
        status=status,
        parent=parent,
        labels=_labels.decode(labels),
        waiting_for=[] if waiting is None else _names.decode(waiting),
        started_at=moment(started_at),
        ended_at=moment_or_none(ended_at),
    )


def _count(session: Session, filter: Filter) -> dict[str, int]:
    if filter == Filter(limit=filter.limit):
        return dict(session.rows("count_all_runs"))
    names = allowed(filter, lambda: _workflows(session))
    asked = count_question(filter, DIALECT, names)
    return dict(_fetch(session, asked))


def _tasks(session: Session, run: str) -> list[TaskRow]:
    return [
        TaskRow(
            lease=Lease(*row[:5]),
            task=row[5],
            task_list=row[6],
            worker=row[7],
            held=bool(row[8]),
            queued_at=moment(row[9]),
            started_at=moment_or_none(row[10]),
            progress=row[11],
        )
        for row in session.rows("tasks_of_run", (run,))
    ]


def _timers(session: Session, run: str) -> list[tuple[datetime, bytes]]:
    return [(moment(due), body) for due, body in session.rows("timers_of_run", (run,))]


def _locks(session: Session, run: str) -> list[LockRow]:
    return [
        LockRow(
            firing=firing,
            index=index,
            key=key,
            held=bool(held),
            ahead=ahead,
            holders=tuple(sorted(_names.decode(holders))),
        )
        for firing, index, key, held, ahead, holders in session.rows("locks_of_run", (run,))
    ]


def _backlog(session: Session, oldest: int, stuck: int) -> Backlog:
    return Backlog(
        _old_tasks(session, oldest) if oldest else [],
        _waiting_tasks(session) if stuck else [],
        [run for (run,) in session.rows("stuck_runs", (stuck,))] if stuck else [],
    )


def _old_tasks(session: Session, limit: int) -> list[OldTask]:
    return [
        OldTask(
            run=run,
            workflow=workflow,
            version=version,
            step=step,
            task=task,
            task_list=task_list,
            worker=worker,
            queued_at=moment(queued_at),
            started_at=moment_or_none(started_at),
        )
        for run, workflow, version, step, task, task_list, worker, queued_at, started_at in session.rows(
            "old_tasks", (limit,)
        )
    ]


def _waiting_tasks(session: Session) -> list[WaitingTasks]:
    return [
        WaitingTasks(task_list=task_list, task=task, count=count, oldest=moment(oldest))
        for task_list, task, count, oldest in session.rows("waiting_tasks")
    ]


def _timings(
    session: Session, runs: Sequence[str], most: int | None, firings: Sequence[int] | None
) -> list[TimingRow]:
    if firings is None:
        found = (session.rows("timings_of_runs", (run, -1 if most is None else most)) for run in sorted(runs))
    else:
        which = msgspec.json.encode(firings).decode()
        found = (session.rows("timings_of_firings", (run, which)) for run in sorted(runs))
    return [_timing(row) for rows in found for row in rows]


def _timing(row: Row) -> TimingRow:
    run, firing, index, attempt, queued_at, started_at = row
    return TimingRow(run, firing, index, attempt, moment(queued_at), moment(started_at))


def _version_counts(
    session: Session, workflow: str, since: datetime, until: datetime
) -> dict[tuple[int, str], int]:
    values = {"workflow": workflow, "since": micros(since), "until": micros(until)}
    versions, trouble, running = (
        session.named(f"tally_{what}", values) for what in ("versions", "trouble", "running")
    )
    return tallied(versions, trouble, running)


def _endings(
    session: Session, since: datetime, until: datetime, width: timedelta
) -> dict[tuple[str, str, int], int]:
    values = {"since": micros(since), "until": micros(until), "width": width // timedelta(microseconds=1)}
    return {(name, status, at): count for name, status, at, count in session.named("tally_endings", values)}


def _queues(session: Session) -> list[QueueRow]:
    return [
        QueueRow(task_list=name, ready=ready, held=held, leased=leased, oldest=moment_or_none(oldest))
        for name, ready, held, leased, oldest in session.rows("list_queues", (NEVER,))
    ]


def _workers(session: Session) -> list[Worker]:
    return [
        Worker(
            id=id,
            name=name,
            task_lists=_tuple.decode(task_lists),
            tasks=_tuple.decode(tasks),
            concurrency=concurrency,
            started_at=moment(started_at),
            seen_at=moment(seen_at),
        )
        for id, name, task_lists, tasks, concurrency, started_at, seen_at in session.rows(
            "list_workers", (session.now - length(WORKER_TIMEOUT),)
        )
    ]


def _logs(session: Session, run: str, after: int, limit: int) -> list[tuple[int, bytes]]:
    return [(id, body) for id, body in session.rows("list_logs", (run, after, limit))]
