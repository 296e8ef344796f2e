"""Lists and figures for people."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import msgspec
from msgspec import convert
from msgspec.structs import asdict

from penstock.store.postgres.database import Database, Work
from penstock.store.rows.rows import (
    WORKER_TIMEOUT,
    Backlog,
    Filter,
    Lease,
    LockRow,
    OldTask,
    QueueRow,
    RunCount,
    RunGroups,
    RunRow,
    RunsByEnd,
    RunsByWorkflow,
    RunWaits,
    TaskRow,
    TimingRow,
    WaitingTasks,
    Worker,
)
from penstock.store.sql.index_scans import Dialect
from penstock.store.sql.run_lists import (
    Pair,
    allowed,
    count_question,
    driver_of,
    merged,
    probe,
    questions,
    tallied,
)

DIALECT = Dialect("$", hints=False, time=lambda moment: moment, never="'infinity'")
_labels = msgspec.json.Decoder(dict[str, str])
_names = msgspec.json.Decoder(list[str])


class PostgresViews:
    """See `store.protocol.Views`."""

    database: Database

    async def runs(self, filter: Filter) -> list[RunRow]:
        if filter.limit <= 0:
            return []
        names = await self._allowed(filter)
        few = probe(filter, DIALECT, names)
        number = None if few is None else (await self.database.asked(few.sql, few.values))[0][0]
        driver = driver_of(filter, names, number)
        pairs = await self._pairs(names) if driver == "version" else []
        asked = questions(filter, DIALECT, names, driver, pairs)
        found = [row for one in asked for row in await self.database.asked(one.sql, one.values)]
        return merged((_run(row) for row in found), filter)

    async def count(self, filter: Filter) -> dict[str, int]:
        if filter == Filter(limit=filter.limit):
            return {row[0]: row[1] for row in await self.database.read("count_all_runs")}
        asked = count_question(filter, DIALECT, await self._allowed(filter))
        return {row[0]: row[1] for row in await self.database.asked(asked.sql, asked.values)}

    async def _allowed(self, filter: Filter) -> list[str] | None:
        known = [] if filter.workflows is None or filter.workflow is not None else await self._workflows()
        return allowed(filter, lambda: known)

    async def _workflows(self) -> list[str]:
        return [row[0] for row in await self.database.read("workflows_of_runs")]

    async def _pairs(self, names: list[str] | None) -> list[Pair]:
        wanted = await self._workflows() if names is None else names
        return [(row[0], row[1]) for row in await self.database.read("versions_of_runs", names=wanted)]

    async def tasks(self, run: str) -> list[TaskRow]:
        found = await self.database.read("tasks_of_run", run=run)
        return [TaskRow(lease=Lease(*row[:5]), **dict(list(row.items())[5:])) for row in found]

    async def waits(self, run: str) -> RunWaits:
        timers = [(row[0], row[1]) for row in await self.database.read("timers_of_run", run=run)]
        locks = await self.database.read("locks_of_run", run=run)
        return RunWaits(timers, [convert(dict(row), LockRow) for row in locks])

    async def backlog(self, *, oldest: int = 0, stuck: int = 0) -> Backlog:
        old = await self.database.read("old_tasks", limit=oldest) if oldest else []
        waiting = await self.database.read("waiting_tasks") if stuck else []
        runs = await self.database.read("stuck_runs", limit=stuck) if stuck else []
        return Backlog(
            [OldTask(**row) for row in old],
            [WaitingTasks(**row) for row in waiting],
            [row[0] for row in runs],
        )

    async def timings(
        self, runs: Sequence[str], limit: int | None = None, firings: Sequence[int] | None = None
    ) -> list[TimingRow]:
        if firings is None:
            found = await self.database.read("timings_of_runs", runs=list(runs), limit=limit)
        else:
            asked = {"firings": list(firings)}
            found = [
                row
                for run in runs
                for row in await self.database.read("timings_of_firings", run=run, **asked)
            ]
        return [TimingRow(*row) for row in found]

    async def counts(self, groups: RunGroups) -> list[RunCount]:
        asked = asdict(groups)
        if isinstance(groups, RunsByEnd):
            return [RunCount(*row) for row in await self.database.read("tally_endings", **asked)]
        workflows = isinstance(groups, RunsByWorkflow)
        queries = ("workflows", "others") if workflows else ("versions", "trouble", "running")

        async def work(work: Work) -> list[list[Any]]:
            return [await work.rows(f"tally_{what}", **asked) for what in queries]

        # One view of all: a run that ends meanwhile must not be counted twice.
        runs, *others = await self.database.transact(work, changes=False, isolation="repeatable_read")
        return tallied(runs, chain(*others))

    async def queues(self) -> list[QueueRow]:
        return [QueueRow(**row) for row in await self.database.read("list_queues")]

    async def workers(self) -> list[Worker]:
        found = await self.database.read("list_workers", age=WORKER_TIMEOUT)
        return [convert(dict(row), Worker) for row in found]

    async def logs(self, run: str, after: int, limit: int) -> list[tuple[int, bytes]]:
        found = await self.database.read("list_logs", run=run, after=after, limit=limit)
        return [(row[0], row[1]) for row in found]


def _run(row: Any) -> RunRow:
    found = dict(row)
    labels, waiting = found.pop("labels"), found.pop("waiting")
    waiting_for = [] if waiting is None else _names.decode(waiting)
    return RunRow(labels=_labels.decode(labels), waiting_for=waiting_for, **found)
