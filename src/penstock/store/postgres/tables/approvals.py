"""Approvals."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from penstock.store.postgres.database import Database, Work
from penstock.store.rows.change import Change
from penstock.store.rows.rows import ApprovalRow
from penstock.store.sql.index_scans import LAST

_LAST = datetime(9999, 12, 30, tzinfo=UTC)


class PostgresApprovals:
    """See `store.protocol.Approvals`."""

    database: Database

    async def approvals(
        self,
        ids: Sequence[str] | None = None,
        *,
        run: str | None = None,
        status: str | None = None,
        before: tuple[datetime, str] | None = None,
        limit: int = 0,
    ) -> list[ApprovalRow]:
        read, (when, last) = self.database.read, before or (_LAST, LAST)
        asked = {"before": when, "id": last, "limit": limit}
        if ids is not None:
            found = [row for id in ids for row in await read("read_approval", id=id)]
        elif run is not None:
            found = await read("approvals_of_run", run=run)
        elif status is None:
            found = await read("all_approvals", **asked)
        else:
            found = await read("approvals_with_status", status=status, **asked)
        return [ApprovalRow(*row) for row in found]


async def write(work: Work, changes: Sequence[Change], now: datetime) -> None:
    """Those that end, then those that begin: most changes have none."""
    ended = [(each.id, each.status, each.by, each.decision) for c in changes for each in c.decided]
    await work.many("end_approval", "id status decided_by decision", ended, now=now)
    asked = [
        (each.id, c.run, each.workflow, each.step, each.role, each.body, each.due_at)
        for c in changes
        for each in c.asked
    ]
    await work.many("insert_approval", "id run workflow step role body due_at", asked, now=now)
