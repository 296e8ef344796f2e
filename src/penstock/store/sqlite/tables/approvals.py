"""Approvals."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from penstock.store.rows.change import Asked, Change
from penstock.store.rows.rows import ApprovalRow
from penstock.store.sql.index_scans import LAST
from penstock.store.sqlite.session import NEVER, Session, micros, moment, moment_or_none, reads, structs


def _approvals(
    session: Session,
    ids: Sequence[str] | None = None,
    *,
    run: str | None = None,
    status: str | None = None,
    before: tuple[datetime, str] | None = None,
    limit: int = 0,
) -> list[ApprovalRow]:
    place = (NEVER, LAST) if before is None else (micros(before[0]), before[1])
    if ids is not None:
        found = [row for id in ids for row in session.rows("read_approval", (id,))]
    elif run is not None:
        found = session.rows("approvals_of_run", (run,))
    elif status is None:
        found = session.rows("all_approvals", (*place, limit))
    else:
        found = session.rows("approvals_with_status", (status, *place, limit))
    times = {"opened_at": moment, "due_at": moment_or_none, "ended_at": moment_or_none}
    return structs(ApprovalRow, found, **times)


def write(session: Session, changes: Sequence[Change]) -> None:
    """Those that end, then those that begin: most changes have none."""
    ended = [
        (each.status, session.now, each.by, each.decision, each.id) for c in changes for each in c.decided
    ]
    session.many("end_approval", ended)
    new = ((c.run, each) for c in changes for each in c.asked)
    asked = [
        (each.id, run, each.workflow, each.step, each.role, each.body, session.now, _due(each))
        for run, each in new
    ]
    session.many("insert_approval", asked)


def _due(asked: Asked) -> int | None:
    return None if asked.due_at is None else micros(asked.due_at)


class SqliteApprovals:
    """See `store.protocol.Approvals`."""

    approvals = reads(_approvals)
