"""What people are asked to decide, in the reference model."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from msgspec.structs import replace

from penstock.store.rows.change import Change
from penstock.store.rows.rows import ApprovalRow


class ModelApprovals:
    """By id; the first end stays."""

    def __init__(self) -> None:
        self.asked: dict[str, ApprovalRow] = {}

    def keep_approvals(self, changes: Sequence[Change], now: datetime) -> None:
        for change in changes:
            for end in change.decided:
                row = self.asked.get(end.id)
                if row is not None and row.status == "open":
                    self.asked[end.id] = replace(
                        row, status=end.status, ended_at=now, decided_by=end.by, decision=end.decision
                    )
        for change in changes:
            for ask in change.asked:
                fresh = ApprovalRow(
                    ask.id,
                    change.run,
                    ask.workflow,
                    ask.step,
                    ask.role,
                    ask.body,
                    "open",
                    now,
                    ask.due_at,
                    None,
                    None,
                    None,
                )
                self.asked.setdefault(ask.id, fresh)

    async def approvals(
        self,
        ids: Sequence[str] | None = None,
        *,
        run: str | None = None,
        status: str | None = None,
        before: tuple[datetime, str] | None = None,
        limit: int = 0,
    ) -> list[ApprovalRow]:
        if ids is not None:
            return [self.asked[id] for id in ids if id in self.asked]
        if run is not None:
            mine = (row for row in self.asked.values() if row.run == run)
            return sorted(mine, key=lambda row: (row.opened_at, row.id))
        found = [
            row
            for row in self.asked.values()
            if status in (None, row.status) and (before is None or (row.opened_at, row.id) < before)
        ]
        return sorted(found, key=lambda row: (row.opened_at, row.id), reverse=True)[:limit]
