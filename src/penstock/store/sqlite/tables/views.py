"""Lists and figures for people."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
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
    RunCount,
    RunGroups,
    RunRow,
    RunsByEnd,
    RunsByWorkflow,
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
from penstock.store.sqlite.session import (
    NEVER,
    Row,
    Session,
    json_list,
    length,
    micros,
    moment,
    moment_or_none,
    reads,
    struct,
    structs,
)

DIALECT = Dialect("?", hints=True, time=micros, never=str(NEVER))
_labels = msgspec.json.Decoder(dict[str, str])
_names = msgspec.json.Decoder(list[str])
_tuple = msgspec.json.Decoder(tuple[str, ...])


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
    *same, labels, waiting, started_at, ended_at = row
    times = moment(started_at), moment_or_none(ended_at)
    waiting_for = [] if waiting is None else _names.decode(waiting)
    return struct(RunRow, (*same, _labels.decode(labels), waiting_for, *times))


def _count(session: Session, filter: Filter) -> dict[str, int]:
    if filter == Filter(limit=filter.limit):
        return dict(session.rows("count_all_runs"))
    names = allowed(filter, lambda: _workflows(session))
    asked = count_question(filter, DIALECT, names)
    return dict(_fetch(session, asked))


def _tasks(session: Session, run: str) -> list[TaskRow]:
    rows = ((Lease(*row[:5]), *row[5:]) for row in session.rows("tasks_of_run", (run,)))
    return structs(TaskRow, rows, held=bool, queued_at=moment, started_at=moment_or_none)


def _waits(session: Session, run: str) -> RunWaits:
    timers = [(moment(due), body) for due, body in session.rows("timers_of_run", (run,))]
    locks = session.rows("locks_of_run", (run,))
    return RunWaits(timers, structs(LockRow, locks, held=bool, holders=_holders))


def _holders(text: str) -> tuple[str, ...]:
    return tuple(sorted(_names.decode(text)))


def _backlog(session: Session, *, oldest: int = 0, stuck: int = 0) -> Backlog:
    old = session.rows("old_tasks", (oldest,)) if oldest else []
    waiting = session.rows("waiting_tasks") if stuck else []
    runs = session.rows("stuck_runs", (stuck,)) if stuck else []
    return Backlog(
        structs(OldTask, old, queued_at=moment, started_at=moment_or_none),
        structs(WaitingTasks, waiting, oldest=moment),
        [run for (run,) in runs],
    )


def _timings(
    session: Session, runs: Sequence[str], limit: int | None = None, firings: Sequence[int] | None = None
) -> list[TimingRow]:
    if firings is None:
        found = (
            session.rows("timings_of_runs", (run, -1 if limit is None else limit)) for run in sorted(runs)
        )
    else:
        which = msgspec.json.encode(firings).decode()
        found = (session.rows("timings_of_firings", (run, which)) for run in sorted(runs))
    return [
        TimingRow(run, firing, index, attempt, moment(queued), moment(started))
        for rows in found
        for run, firing, index, attempt, queued, started in rows
    ]


def _counts(session: Session, groups: RunGroups) -> list[RunCount]:
    if isinstance(groups, RunsByWorkflow):
        names = json_list(groups.workflows)
        return tallied(*(session.rows(f"tally_{what}", (names,)) for what in ("workflows", "others")))
    values: dict[str, Any] = {"since": micros(groups.since), "until": micros(groups.until)}
    if isinstance(groups, RunsByEnd):
        return [
            RunCount(*row)
            for row in session.named("tally_endings", {**values, "width": length(groups.width)})
        ]
    values["workflow"] = groups.workflow
    versions, *others = (
        session.named(f"tally_{what}", values) for what in ("versions", "trouble", "running")
    )
    return tallied(versions, chain(*others))


def _queues(session: Session) -> list[QueueRow]:
    return structs(QueueRow, session.rows("list_queues", (NEVER,)), oldest=moment_or_none)


def _workers(session: Session) -> list[Worker]:
    rows = session.rows("list_workers", (session.now - length(WORKER_TIMEOUT),))
    lists = {"task_lists": _tuple.decode, "tasks": _tuple.decode}
    return structs(Worker, rows, started_at=moment, seen_at=moment, **lists)


def _logs(session: Session, run: str, after: int, limit: int) -> list[tuple[int, bytes]]:
    return session.rows("list_logs", (run, after, limit))


class SqliteViews:
    """See `store.protocol.RunViews`, `TaskViews`."""

    runs = reads(_runs)
    count = reads(_count)
    counts = reads(_counts)
    timings = reads(_timings)
    logs = reads(_logs)
    tasks = reads(_tasks)
    queues = reads(_queues)
    workers = reads(_workers)
    backlog = reads(_backlog)
    waits = reads(_waits)
