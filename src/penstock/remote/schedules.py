"""What `Engine.schedules` does, done by a server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from penstock.remote.connection import Connection, given, path_of


class RemoteSchedules:
    """The clocks of workflows. Same names, same answers."""

    def __init__(
        self, connection: Connection, listed: Callable[[str], Awaitable[list[dict[str, Any]]]]
    ) -> None:
        self._connection, self._listed = connection, listed

    async def sources(self) -> list[dict[str, Any]]:
        """All that readers look after, clocks or not."""
        return await self._listed("/api/sources")

    async def preview(
        self, *, cron: str | None = None, every: Any = None, tz: str | None = None, count: int = 5
    ) -> dict[str, Any]:
        """The next ticks of a schedule that is not saved yet."""
        body = given(cron=cron, every=every, tz=tz, count=count)
        return await self._connection.post("/api/schedules/preview", body)

    async def backfill(
        self, workflow: str, *, since: str, until: str, dry_run: bool = False
    ) -> dict[str, Any]:
        """Have the runs of past ticks made; with `dry_run` they are only counted."""
        return await self._connection.post(
            path_of("api", "workflows", workflow, "backfill"),
            {"from": since, "to": until, "dry_run": dry_run},
        )

    async def cancel_backfill(self, workflow: str) -> bool:
        """End a backfill; False: there is none."""
        path = path_of("api", "workflows", workflow, "backfill")
        return bool((await self._connection.ask("DELETE", path))["canceled"])

    async def all(self) -> list[dict[str, Any]]:
        """Every schedule, by workflow."""
        return await self._listed("/api/schedules")
