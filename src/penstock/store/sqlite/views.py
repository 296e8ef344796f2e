"""The read side, for people."""

from __future__ import annotations

from typing import Any

import msgspec

from penstock.store.rows import Filter, KeptRow, Lease, QueueRow, RunRow, TaskRow, Worker
from penstock.store.sqlite.session import Row, Session, json_list
from penstock.store.sqlite.times import NEVER, micros, moment, moment_or_none

_LAST = "\U0010ffff"
"""After every id."""
_labels = msgspec.json.Decoder(dict[str, str])
_names = msgspec.json.Decoder(list[str])
_tuple = msgspec.json.Decoder(tuple[str, ...])


def runs(session: Session, filter: Filter) -> list[RunRow]:
    """See `Store.runs`."""
    if filter.limit <= 0:
        return []
    values = _values(filter)
    if filter.subject is not None or filter.parent is not None or filter.key is not None:
        found = session.named("list_runs_among", values)
    elif filter.statuses and (filter.workflow is None or "succeeded" not in filter.statuses):
        found = [
            row
            for status in sorted(set(filter.statuses))
            for row in session.named("list_runs_in_status", values | {"status": status})
        ]
        found.sort(key=lambda row: str(row[0]), reverse=True)
    elif filter.workflow is not None:
        found = session.named("list_runs_of_workflow", values)
    else:
        found = session.named("list_runs", values)
    return [_run(row) for row in found[: filter.limit]]


def _values(filter: Filter) -> dict[str, Any]:
    label, label_value = filter.label or (None, None)
    key, key_value = filter.key or (None, None)
    return {
        "before": _LAST if filter.before is None else filter.before,
        "workflow": filter.workflow,
        "version": filter.version,
        "statuses": json_list(filter.statuses) if filter.statuses else None,
        "subject": filter.subject,
        "parent": filter.parent,
        "label": label,
        "label_value": label_value,
        "key": key,
        "key_value": key_value,
        "waiting_for": filter.waiting_for,
        "since": -NEVER if filter.since is None else micros(filter.since),
        "until": NEVER if filter.until is None else micros(filter.until),
        "limit": filter.limit,
    }


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


def count(session: Session, filter: Filter) -> dict[str, int]:
    """See `Store.count`."""
    if filter == Filter(limit=filter.limit):
        return dict(session.rows("count_all_runs"))
    return dict(session.named("count_runs", _values(filter)))


def tasks(session: Session, run: str) -> list[TaskRow]:
    """See `Store.tasks`."""
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


def queues(session: Session) -> list[QueueRow]:
    """See `Store.queues`."""
    return [
        QueueRow(task_list=name, ready=ready, held=held, leased=leased, oldest=moment_or_none(oldest))
        for name, ready, held, leased, oldest in session.rows("list_queues")
    ]


def workers(session: Session) -> list[Worker]:
    """See `Store.workers`."""
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
        for id, name, task_lists, tasks, concurrency, started_at, seen_at in session.rows("list_workers")
    ]


def undelivered(session: Session, after: int, limit: int) -> list[KeptRow]:
    """See `Store.undelivered`."""
    return [
        KeptRow(
            id=id,
            event=event,
            keys=tuple((name, value) for name, value in session.rows("kept_keys", (id,))),
            body=body,
            reason=reason,
            at=moment(at),
            until=moment(until),
        )
        for id, event, body, reason, at, until in session.rows("list_kept", (after, session.now, limit))
    ]


def refused(session: Session, limit: int) -> list[tuple[str, str, str, str]]:
    """See `Store.refused`."""
    return [(name, value, run, holder) for name, value, run, holder in session.rows("list_refused", (limit,))]


def logs(session: Session, run: str, after: int, limit: int) -> list[tuple[int, bytes]]:
    """See `Store.logs`."""
    return [(id, body) for id, body in session.rows("list_logs", (run, after, limit))]


def start_key(session: Session, workflow: str, key: str) -> tuple[str, bytes] | None:
    """See `Store.start_key`."""
    found = session.row("start_key_run", (workflow, key))
    return None if found is None else (found[0], found[1])
