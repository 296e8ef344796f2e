"""The task lists: lease, renew, release."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import astuple

from penstock.store.rows.rows import (
    WORKER_TIMEOUT,
    ClaimRequest,
    Heartbeat,
    Lease,
    Leased,
    LogLine,
    Renewal,
    Worker,
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
    unique,
    writes,
)


def _lease(session: Session, request: ClaimRequest) -> list[Leased]:
    if request.limit <= 0:
        return []
    found = [row for task_list in unique(request.task_lists) for row in _ready(session, request, task_list)]
    found.sort(key=lambda row: (-row[0], row[1]))
    leases = [_lease_one(row, session.now) for row in found[: request.limit]]
    rows = [
        (request.worker, one.fence, session.now, until, stop_by, min(until, stop_by, end_by), *one.place[:3])
        for one, until, stop_by, end_by, _, _ in leases
    ]
    session.many("lease_task", rows)
    session.many("insert_timing", [row[-3:] for row in rows])
    return [
        Leased(
            one, task, task_list, moment(min(until, stop_by, end_by)), moment_or_none(min(stop_by, end_by))
        )
        for one, until, stop_by, end_by, task, task_list in leases
    ]


def _ready(session: Session, request: ClaimRequest, task_list: str) -> list[Row]:
    if request.tasks is None:
        return session.rows("ready_tasks", (task_list, session.now, request.limit))
    return session.rows(
        "ready_named_tasks", (task_list, session.now, json_list(request.tasks), request.limit)
    )


def _lease_one(row: Row, now: int) -> tuple[Lease, int, int, int, str, str]:
    _, _, run, firing, index, attempt, fence, task, task_list, heartbeat, run_for, end_by = row
    stop_by = NEVER if run_for is None else now + run_for
    return Lease(run, firing, index, attempt, fence + 1), now + heartbeat, stop_by, end_by, task, task_list


def _renew(session: Session, heartbeats: Sequence[Heartbeat]) -> list[Renewal]:
    found = (
        session.row_changed("renew_task", (session.now, b.progress, *astuple(b.lease))) for b in heartbeats
    )
    return [
        Renewal(None) if row is None else Renewal(moment(row[0]), moment_or_none(row[1])) for row in found
    ]


def _release(session: Session, leases: Sequence[Lease]) -> list[bool]:
    return [
        session.row_changed("release_task", (NEVER, session.now, *astuple(one))) is not None for one in leases
    ]


def _log(session: Session, lines: Sequence[LogLine]) -> None:
    ids = session.numbers(len(lines))
    rows = [(id, line.run, micros(line.at), line.body) for id, line in zip(ids, lines, strict=True)]
    session.many("insert_log", rows)


def _register(session: Session, worker: Worker) -> None:
    session.run("drop_gone_workers", (session.now - length(WORKER_TIMEOUT),))
    lists, tasks = json_list(worker.task_lists), json_list(worker.tasks)
    started = micros(worker.started_at)
    session.run(
        "put_worker", (worker.id, worker.name, lists, tasks, worker.concurrency, started, session.now)
    )


def _deregister(session: Session, worker: str, *, dead: bool = False) -> None:
    if dead:
        session.run("give_up_tasks", (session.now, NEVER, worker))
    else:
        session.run("drop_worker", (worker,))


class SqliteTasks:
    """See `store.protocol.Tasks`."""

    lease = writes(_lease)
    renew = writes(_renew)
    release = writes(_release)
    log = writes(_log)
    register = writes(_register)
    deregister = writes(_deregister)
