"""The part of the engine for those who look after runs: lists, reasons, repairs."""

from __future__ import annotations

from typing import Any, Protocol

from penstock.engine.running import Running
from penstock.runtime.lists import list_runs, read_filter


class Opening(Protocol):
    """What has a store and a node, opened at the first call."""

    async def _open(self) -> Running: ...


class Overseeing:
    """Reading and mending runs. It only delegates."""

    async def list_runs(self: Opening, *, cursor: str | None = None, **filters: Any) -> dict[str, Any]:
        """One page of runs: `{"items": [...], "next": cursor or None}`.

        Takes `workflow`, `workflows` (patterns), `version`, `statuses`, `subject`, `parent`, `label` and `key` (name
        and value), `step`, `waiting_for`, `waiting_since`, `since`, `until`, `q` (the beginning of subject, id or
        key), `sort` (newest, oldest, ended) and `limit` (1 to 200). Raises BadCursor, Invalid.
        """
        return await list_runs((await self._open()).store, read_filter(filters), cursor)
