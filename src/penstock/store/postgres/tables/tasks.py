"""The task lists: lease, renew, release."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec.structs import astuple

from penstock.store.postgres.commit.column_arrays import columns
from penstock.store.postgres.database import Database, Work
from penstock.store.rows.rows import (
    WORKER_TIMEOUT,
    ClaimRequest,
    Heartbeat,
    Lease,
    Leased,
    LogLine,
    Renewal,
    Worker,
)

_LEASE = "run firing idx attempt fence"


class PostgresTasks:
    """See `store.protocol.Tasks`."""

    database: Database

    async def lease(self, request: ClaimRequest) -> list[Leased]:
        """See `Store.lease`.

        Of several lists it may hand out fewer than there are where others take more than `4 * limit + 100` of them
        at the very same moment; of one list never.
        """
        if request.limit <= 0:
            return []
        found = await self.database.rows(
            "lease_tasks" if len(request.task_lists) == 1 else "lease_from_lists",
            worker=request.worker,
            task_lists=request.task_lists,
            tasks=request.tasks,
            limit=request.limit,
        )
        found.sort(key=lambda row: (-row["priority"], row["turn"]))
        return [
            Leased(Lease(*row[:5]), row["task"], row["task_list"], row["expires"], row["deadline"])
            for row in found
        ]

    async def renew(self, heartbeats: Sequence[Heartbeat]) -> list[Renewal]:
        rows = [(*astuple(heartbeat.lease), heartbeat.progress) for heartbeat in heartbeats]
        found = await self.database.rows("renew_task", **columns(f"{_LEASE} progress", rows))
        renewed = {row["ord"]: Renewal(row["expires"], row["deadline"]) for row in found}
        return [renewed.get(place, Renewal(None)) for place in range(1, len(heartbeats) + 1)]

    async def release(self, leases: Sequence[Lease]) -> list[bool]:
        async def work(work: Work) -> list[Any]:
            await work.rows("lock_runs", runs=sorted({one.run for one in leases}))
            return await work.rows("release_task", **columns(_LEASE, map(astuple, leases)))

        released = {row["ord"] for row in await self.database.transact(work)}
        return [place in released for place in range(1, len(leases) + 1)]

    async def log(self, lines: Sequence[LogLine]) -> None:
        await self.database.rows(
            "insert_log", **columns("run at body", [(x.run, x.at, x.body) for x in lines])
        )

    async def register(self, worker: Worker) -> None:
        await self.database.rows(
            "put_worker",
            id=worker.id,
            name=worker.name,
            task_lists=worker.task_lists,
            tasks=worker.tasks,
            concurrency=worker.concurrency,
            started_at=worker.started_at,
        )
        await self.database.rows("drop_gone_workers", age=WORKER_TIMEOUT)

    async def deregister(self, worker: str, *, dead: bool = False) -> None:
        if dead:
            await self.database.rows("give_up_tasks", prefix=worker)
        else:
            await self.database.rows("drop_worker", id=worker)
