"""Retention, checks and sizes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import timedelta
from functools import partial
from typing import Any

from penstock.store.postgres.backups import write_backup
from penstock.store.postgres.database import Database, Work
from penstock.store.rows.rows import Retained

MAX_RUNS = 100
"""Runs that are deleted in one transaction: others must not wait long."""
WORKER_RETENTION = timedelta(days=1)
"""After this time without a sign of life a worker is not shown any more."""

Ages = Mapping[str, timedelta]
"""How long runs are kept, by status or by workflow."""

_WRONG = {
    "gaps_in_history": "run {0}: a history page begins at entry {1} after entry {2}",
    "wrong_ends_of_history": "run {0}: it says that its history ends at entry {1}, the pages end at {2}",
    "tasks_without_run": "run {0}: the task {1}/{2} is on a list, but the run is not live",
    "orphans": "table {0}: there are rows of the run {1}, which is not there",
    "stuck_runs": "run {0}: it is running, but no task, timer, message or key can move it on",
    "overheld_locks": "key {0}: {1} hold it, {2} at most may",
    "idle_locks": "key {0}: somebody waits for it, but nobody holds it",
    "locks_of_ended_runs": "key '{0}': the run {1} has it or waits for it (element {2}/{3}), but has ended",
    "wrongly_held_tasks": "run {0}: the task {1}/{2} is held, but the run is not paused",
}


class Explained(Exception):
    """What would be deleted is known: nothing of it may stay."""


class PostgresMaintenance:
    """See `store.protocol.Maintenance`."""

    database: Database

    async def retain(
        self,
        days: dict[str, timedelta],
        limit: int,
        explain: bool,
        own: Mapping[str, timedelta] | None = None,
    ) -> Retained:
        ages, rows = own or {}, Counter[str]()
        if explain:
            try:
                await self.database.transact(lambda work: _explain(work, days, ages, limit, rows))
            except Explained:
                return Retained(dict(rows))
        left = limit
        while left > 0:
            done = await self.database.transact(
                partial(_drop_runs, days=days, own=ages, limit=min(left, MAX_RUNS))
            )
            rows.update(done)
            left = left - done["run"] if done["run"] else 0
        rows.update(await self.database.transact(lambda work: _drop_rest(work, limit)))
        return Retained(dict(rows))

    async def check(self) -> list[str]:
        async def work(work: Work) -> list[str]:
            return [
                says.format(*row)
                for query, says in _WRONG.items()
                for row in await work.rows(query, limit=20)
            ]

        return await self.database.transact(work, changes=False, isolation="repeatable_read")

    async def backup(self, to: str) -> None:
        await write_backup(self.database, to)

    async def facts(self) -> dict[str, Any]:
        async def work(work: Work) -> dict[str, Any]:
            [row] = await work.rows("read_facts")
            sizes = {name: size for name, size in await work.rows("table_sizes")}
            schema = int(await work.value("read_setting", name="schema"))
            return {"store": "postgresql", **row, "schema": schema, "tables": sizes}

        found = await self.database.transact(work, changes=False)
        found["pooler"] = not self.database.prepared or await self._is_pooled()
        found["address"] = self.database.address.shown
        found["retried"] = self.database.retried
        return found

    async def _is_pooled(self) -> bool:
        """Whether another server process does our work than the one that greeted us: there is a pooler."""

        async def ask(connection: Any) -> bool:
            return bool(await connection.fetchval("SELECT pg_backend_pid()") != connection.get_server_pid())

        return await self.database.transact(lambda work: ask(work.connection), alone=True, changes=False)


async def _explain(work: Work, days: Ages, own: Ages, limit: int, rows: Counter[str]) -> None:
    """Delete it all and take it back: what is told is what would be done."""
    rows.clear()
    rows.update(await _drop_runs(work, days, own, limit))
    rows.update(await _drop_rest(work, limit))
    raise Explained


async def _drop_runs(work: Work, days: Ages, own: Ages, limit: int) -> dict[str, int]:
    """Delete up to `limit` ended runs that are older than their status, or workflow, is kept; rows by table."""
    old: list[str] = []
    for status, age in sorted(days.items()):
        found = await work.rows(
            "outdated_runs", status=status, age=age, others=list(own), limit=limit - len(old)
        )
        old += [row["id"] for row in found]
    for workflow, age in sorted(own.items()):
        found = await work.rows(
            "outdated_runs_of_workflow", workflow=workflow, age=age, limit=limit - len(old)
        )
        old += [row["id"] for row in found]
    [rows] = await work.rows("drop_runs", runs=old)
    return dict(rows)


async def _drop_rest(work: Work, limit: int) -> dict[str, int]:
    """Delete whatever is out of date and belongs to no run; rows by table."""
    [kept] = await work.rows("drop_outdated_kept", limit=limit)
    return {
        **kept,
        "seen": len(await work.rows("drop_outdated_seen", limit=limit)),
        "worker": len(await work.rows("drop_gone_workers", age=WORKER_RETENTION)),
    }
