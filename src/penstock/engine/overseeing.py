"""The part of the engine for those who look after runs: lists, reasons, repairs."""

from __future__ import annotations

from typing import Any, Protocol

from penstock.engine.running import Running
from penstock.runtime.asking import ask_why, ask_why_list
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

    async def why(self: Opening, run: str, step: str | None = None) -> dict[str, Any]:
        """Why a run does not go on: `{run, status, waiting_for, text, steps: [{step, reason, text, …}]}`."""
        running = await self._open()
        return await ask_why(running.store, await running.node.look(run), step)

    async def why_task_list(self: Opening, task_list: str) -> dict[str, Any]:
        """Why a task list does not move: `{task_list, reason, text, ready, held, running, oldest, workers}`."""
        return await ask_why_list((await self._open()).store, task_list)
