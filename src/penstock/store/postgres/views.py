"""The read side, for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from penstock.store.postgres.database import Database
from penstock.store.rows import Filter, KeptRow, Lease, QueueRow, RunRow, RunState, TaskRow, Worker

_labels = msgspec.json.Decoder(dict[str, str])
_names = msgspec.json.Decoder(list[str])


class PostgresViews:
    """See `store.protocol.Views`."""

    database: Database

    async def runs(self, filter: Filter) -> list[RunRow]:
        if filter.limit <= 0:
            return []
        values = _values(filter) | {"limit": filter.limit}
        return [_run(row) for row in await self.database.planned("list_runs", **values)]

    async def count(self, filter: Filter) -> dict[str, int]:
        return {row[0]: row[1] for row in await self.database.planned("count_runs", **_values(filter))}

    async def tasks(self, run: str) -> list[TaskRow]:
        found = await self.database.read("tasks_of_run", run=run)
        return [TaskRow(lease=Lease(*row[:5]), **dict(list(row.items())[5:])) for row in found]

    async def queues(self) -> list[QueueRow]:
        return [QueueRow(**row) for row in await self.database.read("list_queues")]

    async def workers(self) -> list[Worker]:
        lists = ("task_lists", "tasks")
        found = await self.database.read("list_workers")
        rows: list[dict[str, Any]] = [dict(row) for row in found]
        return [Worker(**(row | {name: tuple(row[name]) for name in lists})) for row in rows]

    async def undelivered(self, after: int, limit: int) -> list[KeptRow]:
        found = await self.database.read("list_kept", after=after, limit=limit)
        rows = [dict(row) for row in found]
        return [
            KeptRow(**(row | {"keys": tuple((name, value) for name, value in row["keys"])})) for row in rows
        ]

    async def refused(self, limit: int) -> list[tuple[str, str, str, str]]:
        found = await self.database.read("list_refused", limit=limit)
        return [(row[0], row[1], row[2], row[3]) for row in found]

    async def logs(self, run: str, after: int, limit: int) -> list[tuple[int, bytes]]:
        found = await self.database.read("list_logs", run=run, after=after, limit=limit)
        return [(row[0], row[1]) for row in found]

    async def states(self, runs: Sequence[str]) -> list[RunState]:
        found = await self.database.read("states_of_runs", runs=list(runs))
        return [RunState(*row) for row in found]

    async def start_key(self, workflow: str, key: str) -> tuple[str, bytes] | None:
        found = await self.database.read("start_key_run", workflow=workflow, key=key)
        return (found[0][0], found[0][1]) if found else None


def _values(filter: Filter) -> dict[str, Any]:
    key, key_value = filter.key or (None, None)
    return {
        "before": filter.before,
        "workflow": filter.workflow,
        "version": filter.version,
        "statuses": filter.statuses or None,
        "subject": filter.subject,
        "parent": filter.parent,
        "labels": msgspec.json.encode(dict([filter.label])).decode() if filter.label else None,
        "key": key,
        "key_value": key_value,
        "waiting_for": filter.waiting_for,
        "since": filter.since,
        "until": filter.until,
    }


def _run(row: Any) -> RunRow:
    found = dict(row)
    labels, waiting = found.pop("labels"), found.pop("waiting")
    waiting_for = [] if waiting is None else _names.decode(waiting)
    return RunRow(labels=_labels.decode(labels), waiting_for=waiting_for, **found)
