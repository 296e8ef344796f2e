"""What people are asked to decide."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from penstock.store.rows.change import Change
from penstock.store.rows.rows import ApprovalRow
from penstock.store.sql.index_scans import LAST
from penstock.store.sqlite.session import NEVER, Row, Session, micros, moment, moment_or_none
from penstock.store.sqlite.writer import Writer


class SqliteApprovals:
    """See `store.protocol.Approvals`."""

    _writer: Writer

    async def approvals(
        self,
        ids: Sequence[str] | None = None,
        *,
        run: str | None = None,
        status: str | None = None,
        before: tuple[datetime, str] | None = None,
        limit: int = 0,
    ) -> list[ApprovalRow]:
        place = (NEVER, LAST) if before is None else (micros(before[0]), before[1])
        if ids is not None:
            asked: list[tuple[str, tuple[object, ...]]] = [("read_approval", (id,)) for id in ids]
        elif run is not None:
            asked = [("approvals_of_run", (run,))]
        elif status is None:
            asked = [("all_approvals", (*place, limit))]
        else:
            asked = [("approvals_with_status", (status, *place, limit))]
        found = await self._writer.read(
            lambda session: [row for each in asked for row in session.rows(*each)]
        )
        return [_approval(row) for row in found]


def write(session: Session, changes: Sequence[Change]) -> None:
    """Those that end, then those that begin: most changes have none."""
    ended = [
        (each.status, session.now, each.by, each.decision, each.id) for c in changes for each in c.decided
    ]
    session.many("end_approval", ended)
    asked = [
        (
            each.id,
            c.run,
            each.workflow,
            each.step,
            each.role,
            each.body,
            session.now,
            None if each.due_at is None else micros(each.due_at),
        )
        for c in changes
        for each in c.asked
    ]
    session.many("insert_approval", asked)


def _approval(row: Row) -> ApprovalRow:
    id, run, workflow, step, role, body, status, opened_at, due_at, ended_at, by, decision = row
    times = moment(opened_at), moment_or_none(due_at), moment_or_none(ended_at)
    return ApprovalRow(id, run, workflow, step, role, body, status, *times, by, decision)
