"""The part of the engine for those who look at runs."""

from __future__ import annotations

from typing import Any

import msgspec

from penstock.engine.operations import MANY, Opening
from penstock.runtime.commands.validation import refuse_no_number
from penstock.runtime.queries.history import show_history, show_page
from penstock.runtime.queries.row_views import count_view, row_view
from penstock.runtime.queries.run_lists import read_filter
from penstock.runtime.queries.run_view import show_doing, show_run


class Reading:
    """A run, its history, its lines; runs by the dozen. It only delegates."""

    async def show(self: Opening, run: str, *, own: bool = False) -> dict[str, Any]:
        """The run as it is now; with `own`, of one that was just started here, as this process knows it."""
        running = await self._open()
        return await show_run(running.store, await running.node.look(run, own), own)

    async def history(
        self: Opening, run: str, *, after: int = 0, limit: int | None = None
    ) -> list[dict[str, Any]]:
        """All that happened to a run, in order."""
        running = await self._open()
        refuse_no_number(after=after, limit=limit)
        await running.node.look(run)
        return [item async for item in show_history(running.store, run, after, limit)]

    async def history_page(
        self: Opening, run: str, *, after: int = 0, limit: int = 100
    ) -> tuple[list[dict[str, Any]], bool]:
        """The next entries of it, fewer than `limit` where they are large; and whether there are more."""
        running = await self._open()
        await running.node.look(run)
        return await show_page(running.store, run, after, limit)

    async def doing(self: Opening, run: str) -> list[dict[str, Any]]:
        """What workers do for a run just now: `{step, index, attempt, worker, since, progress}` each."""
        running = await self._open()
        return await show_doing(running.store, await running.node.look(run))

    async def logs(self: Opening, run: str, *, after: int = 0, limit: int = 1000) -> list[dict[str, Any]]:
        """What the tasks of a run wrote with `ctx.log`, in order."""
        running = await self._open()
        refuse_no_number(after=after)
        refuse_no_number(most=MANY, limit=limit)
        await running.node.look(run)
        lines = await running.store.logs(run, after, limit)
        return [{"id": number, **msgspec.json.decode(body)} for number, body in lines]

    async def runs(self: Opening, **filters: Any) -> list[dict[str, Any]]:
        """The first runs of a list, newest first: what `list_runs` takes."""
        wanted = read_filter(filters, MANY)
        return [row_view(row) for row in await (await self._open()).store.runs(wanted)]

    async def counts(self: Opening, **filters: Any) -> dict[str, int]:
        """How many runs there are of each status."""
        return count_view(await (await self._open()).store.count(read_filter(filters)))
