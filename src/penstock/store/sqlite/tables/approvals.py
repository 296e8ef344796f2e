"""What people are asked to decide."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from penstock.store.rows.change import Change
from penstock.store.rows.rows import ApprovalRow
from penstock.store.sql.index_scans import LAST
from penstock.store.sqlite.session import Row, Session
from penstock.store.sqlite.times import NEVER, micros, moment, moment_or_none
from penstock.store.sqlite.writer import Writer


class SqliteApprovals:
    """See `store.protocol.Approvals`."""

    _writer: Writer

    async def approval(self, id: str) -> ApprovalRow | None:
        row = await self._writer.read(lambda session: session.row("read_approval", (id,)))
        return None if row is None else _approval(row)

    async def approvals_of(self, run: str) -> list[ApprovalRow]:
        return [
            _approval(row)
            for row in await self._writer.read(lambda session: session.rows("approvals_of_run", (run,)))
        ]

    async def approvals(
        self, status: str | None, before: tuple[datetime, str] | None, limit: int
    ) -> list[ApprovalRow]:
        place = (NEVER, LAST) if before is None else (micros(before[0]), before[1])
        query, more = ("all_approvals", ()) if status is None else ("approvals_with_status", (status,))
        found = await self._writer.read(lambda session: session.rows(query, (*more, *place, limit)))
        return [_approval(row) for row in found]


def write(session: Session, changes: Sequence[Change]) -> None:
    """Those that end, then those that begin: most changes have none."""
    ended = [
        (each.status, session.now, each.by, each.decision, each.id) for c in changes for each in c.decided
    ]
    session.many("end_approval", ended)
    asked = [
        (
            each.id, c.run, each.workflow, each.step, each.role, each.body, session.now,
            None if each.due_at is None else micros(each.due_at),
        )
        for c in changes
        for each in c.asked
    ]  # fmt: skip
    session.many("insert_approval", asked)


def _approval(row: Row) -> ApprovalRow:
    id, run, workflow, step, role, body, status, opened_at, due_at, ended_at, by, decision = row
    times = moment(opened_at), moment_or_none(due_at), moment_or_none(ended_at)
    return ApprovalRow(id, run, workflow, step, role, body, status, *times, by, decision)
