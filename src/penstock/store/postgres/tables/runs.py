"""Reads runs, and hands out what is due."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta

from penstock.store.postgres.commit.column_arrays import columns
from penstock.store.postgres.database import Database, Work
from penstock.store.rows.change import Message, Part
from penstock.store.rows.rows import Due, DueTask, DueTimer, Lease, RunState, StoredRun

ONE_VIEW = "repeatable_read"


class PostgresRuns:
    """See `store.protocol.Runs`."""

    database: Database

    async def load(self, runs: Sequence[str]) -> list[StoredRun | None]:
        wanted = sorted(set(runs))

        async def work(work: Work) -> tuple[list[tuple[str, int, bytes, bytes]], list[tuple[str, Part]]]:
            found = await work.rows("load_run", runs=wanted)
            parts = await work.rows("load_parts", runs=wanted)
            return [tuple(row) for row in found], [(row[0], Part(*row[1:])) for row in parts]

        # One view of both: a part of tomorrow must not meet a head of today.
        found, parts = await self.database.transact(work, changes=False, isolation=ONE_VIEW)
        of_run: defaultdict[str, list[Part]] = defaultdict(list)
        for run, part in parts:
            of_run[run].append(part)
        stored = {row[0]: StoredRun(*row, tuple(of_run.get(row[0], ()))) for row in found}
        return [stored.get(run) for run in runs]

    async def payloads(self, refs: Sequence[tuple[str, bytes]]) -> dict[tuple[str, bytes], bytes]:
        found = await self.database.read("load_payload", **columns("run digest", sorted(set(refs))))
        return {(row[0], row[1]): row[2] for row in found}

    async def pages(self, run: str, after: int, limit: int) -> list[bytes]:
        if limit <= 0:
            return []
        found = await self.database.read("load_pages", run=run, after=after, limit=limit)
        return [row["body"] for row in found]

    async def due(self, limit: int, timeout: timedelta, gone: Sequence[int] = ()) -> Due:
        if gone:
            await self.database.rows("use_message", ids=list(gone))
        [(following, now)] = await self.database.read("next_due")
        if following is None or following > now:  # idle nodes ask often: this is one statement
            return Due([], [], [], following, now)
        return await self.database.transact(lambda work: _hand_out(work, limit, now, timeout))

    async def now(self) -> datetime:
        [(now,)] = await self.database.read("read_now")
        found: datetime = now
        return found

    async def states(self, runs: Sequence[str]) -> list[RunState]:
        found = await self.database.read("states_of_runs", runs=list(runs))
        return [RunState(*row) for row in found]

    async def start_key(self, workflow: str, key: str) -> tuple[str, bytes] | None:
        found = await self.database.read("start_key_run", workflow=workflow, key=key)
        return (found[0][0], found[0][1]) if found else None


async def _hand_out(work: Work, limit: int, now: datetime, timeout: timedelta) -> Due:
    """Mark and answer what is due; what others are marking is passed over."""
    until = now + timeout
    tasks = await work.rows("expired_tasks", now=now, until=until, limit=limit)
    timers = await work.rows("due_timers", now=now, until=until, limit=limit)
    messages = await work.rows("due_messages", now=now, until=until, limit=limit)
    [(following, _)] = await work.rows("next_due")
    return Due(
        [DueTimer(*row[:4]) for row in sorted(timers, key=lambda row: (row[4], row[0]))],
        [
            DueTask(Lease(*row[:5]), row["struck"])
            for row in sorted(tasks, key=lambda row: (row["was"], *row[:3]))
        ],
        [Message(*row[:3]) for row in sorted(messages, key=lambda row: (row[3], row[0]))],
        following,
        now,
    )
