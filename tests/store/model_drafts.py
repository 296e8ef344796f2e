"""Drafts in the reference model."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from msgspec.structs import asdict

from penstock.store.rows.access import AuditRow
from penstock.store.rows.drafts import DraftLine, DraftRow, NewDraft, VersionLine, is_expected
from penstock.store.rows.rows import RunState, Version

if TYPE_CHECKING:
    from tests.store.model import Rows


class ModelDrafts:
    """See `store.protocol.Drafts`."""

    clock: Callable[[], datetime]
    rows: Rows
    _record: Callable[..., None]

    @property
    def _drafts(self) -> dict[str, DraftRow]:
        found: dict[str, DraftRow] = self.rows.__dict__.setdefault("drafts", {})
        return found

    def _newest(self, workflow: str) -> Version | None:
        versions: list[Version] = self.rows.versions.get(workflow, [])
        return versions[-1] if versions else None

    def _expected(self, workflow: str, expect: Collection[str] | None) -> bool:
        found = self._drafts.get(workflow) or self._newest(workflow)
        return is_expected(expect, found.definition if found else None)

    async def draft(self, workflow: str) -> DraftRow | None:
        return self._drafts.get(workflow)

    async def save_draft(
        self,
        workflow: str,
        draft: NewDraft | None,
        expect: Collection[str] | None = None,
        audit: AuditRow | None = None,
    ) -> datetime | None:
        if not self._expected(workflow, expect):
            return None
        dropped = self._drafts.pop(workflow, None) is not None
        if draft is not None:
            self._drafts[workflow] = DraftRow(workflow=workflow, at=self.clock(), **asdict(draft))
        self._record(audit if dropped or draft is not None else None)
        return self.clock()

    async def drafts(self) -> list[DraftLine]:
        return [
            DraftLine(
                workflow=name,
                title=draft.title,
                author=draft.author,
                at=draft.at,
                changed=draft.definition != getattr(self._newest(name), "definition", None),
            )
            for name, draft in sorted(self._drafts.items())
        ]

    async def states(self, runs: Sequence[str]) -> list[RunState]:
        return [
            RunState(id, run.new.workflow, run.status, run.seq, run.new.subject)
            for id, run in sorted(self.rows.runs.items())
            if id in runs
        ]

    async def versions(self, workflow: str, before: int | None, limit: int) -> list[VersionLine]:
        lines = [
            VersionLine(version=each.version, note=each.note, at=each.at)
            for each in reversed(self.rows.versions.get(workflow, []))
            if before is None or each.version < before
        ]
        return lines[:limit]
