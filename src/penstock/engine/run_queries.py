"""The part of the engine for readers of runs."""

from __future__ import annotations

from typing import Any, Protocol

import msgspec

from penstock.engine.operations import MAX_ITEMS
from penstock.runtime.commands.validation import validate_integers
from penstock.runtime.node.node import Node
from penstock.runtime.queries.history import Histories, show_history, show_page
from penstock.runtime.queries.row_views import count_view, row_view
from penstock.runtime.queries.run_lists import read_filter
from penstock.runtime.queries.run_view import show_doing, show_run
from penstock.store.protocol import TaskViews


class QueryRows(Histories, TaskViews, Protocol):
    """Runs, what happened to them, and the tasks that they have."""


class RunQueries:
    """A run, its history, its lines; runs by the dozen. It only delegates."""

    def __init__(self, store: QueryRows, node: Node) -> None:
        self._store, self._node = store, node

    async def show(self, run: str, *, own: bool = False) -> dict[str, Any]:
        """The run as it is now; with `own`, of one that was just started here, as this process knows it."""
        return await show_run(self._store, await self._node.look(run, own), own)

    async def history(self, run: str, *, after: int = 0, limit: int | None = None) -> list[dict[str, Any]]:
        """All that happened to a run, in order."""
        validate_integers(after=after, limit=limit)
        await self._node.look(run)
        return [item async for item in show_history(self._store, run, after, limit)]

    async def history_page(
        self, run: str, *, after: int = 0, limit: int = 100
    ) -> tuple[list[dict[str, Any]], bool]:
        """The next entries of it, fewer than `limit` where they are large; and whether there are more."""
        await self._node.look(run)
        return await show_page(self._store, run, after, limit)

    async def doing(self, run: str) -> list[dict[str, Any]]:
        """What workers do for a run just now: `{step, index, attempt, worker, since, progress}` each."""
        return await show_doing(self._store, await self._node.look(run))

    async def logs(self, run: str, *, after: int = 0, limit: int = 1000) -> list[dict[str, Any]]:
        """What the tasks of a run wrote with `ctx.log`, in order."""
        validate_integers(after=after)
        validate_integers(maximum=MAX_ITEMS, limit=limit)
        await self._node.look(run)
        lines = await self._store.logs(run, after, limit)
        return [{"id": number, **msgspec.json.decode(body)} for number, body in lines]

    async def runs(self, /, **filters: Any) -> list[dict[str, Any]]:
        """The first runs of a list, newest first: what `list_runs` takes."""
        wanted = read_filter(filters, MAX_ITEMS)
        return [row_view(row) for row in await self._store.runs(wanted)]

    async def counts(self, /, **filters: Any) -> dict[str, int]:
        """How many runs there are of each status."""
        return count_view(await self._store.count(read_filter(filters)))
