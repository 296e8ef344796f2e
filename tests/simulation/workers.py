"""Two workers: the worst one that keeps the rules, which goes on when its lease is lost, and the real one."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Container, Sequence
from contextlib import suppress
from contextvars import ContextVar
from datetime import datetime, timedelta
from functools import cache
from itertools import count
from typing import Any

from penstock.flow.model.run import Failure
from penstock.flow.model.run_input import Done, Failed
from penstock.runtime.dispatch.gate import Assignment, Gate, Report
from penstock.store.errors import StoreError
from penstock.store.rows.rows import ClaimRequest, Heartbeat
from penstock.store.rows.rows import Worker as Attendance
from penstock.workers.context import Context
from penstock.workers.task import Out, Task, tasks_of
from penstock.workers.worker.worker import Worker
from tests.faults import Faults
from tests.simulation.evidence import BEGIN
from tests.simulation.workload import FAILURES, GRACE, LEASE, SECONDS
from tests.waiting import pass_time

WAIT = timedelta(seconds=3)
AT_ONCE = 4


def outcome_of(assignment: Assignment, mended: Container[int]) -> Done | Failed:
    """What the tasks of the workload come to; who did it is part of the output."""
    attempt, lease = assignment.attempt, assignment.lease
    if fails(attempt.task, attempt.attempt, attempt.params["n"], mended):
        return Failed(error=Failure("error", "not yet"))
    output: dict[str, Any] = {"n": attempt.params["n"], "by": [lease.attempt, lease.fence]}
    correlate = {"job": attempt.params["job"]} if attempt.task == "job" else None
    return Done(output=output, correlate=correlate)


def fails(task: str, attempt: int, n: int, mended: Container[int]) -> bool:
    """Whether a task of the workload fails."""
    return (task == "flaky" and attempt <= FAILURES) or (task == "mend" and n not in mended)


class SimWorker:
    """Claims, works, beats and reports, each again and again where the gate is away."""

    def __init__(
        self, gate: Gate, id: str, faults: Faults, mended: Container[int], die: Callable[[], None]
    ) -> None:
        self.gate, self.id, self.faults, self.mended, self.die = gate, id, faults, mended, die
        self.stopping = False
        self._held: set[asyncio.Task[None]] = set()

    def stop(self) -> None:
        """Claim no more; `run` ends when all that is held has ended."""
        self.stopping = True

    async def run(self) -> None:
        """Work until it is stopped; what is under way then is finished."""
        about = Attendance(
            id=self.id,
            name=self.id.split(".")[0],
            task_lists=("default",),
            tasks=tuple(SECONDS),
            concurrency=AT_ONCE,
            started_at=BEGIN,
        )
        while not self.stopping:
            try:
                await self.gate.register(about)
                assignments = await self._claim()
            except StoreError:
                await pass_time(0.2)
                continue
            if self.stopping:
                await self._give_back(assignments)
                break
            for assignment in assignments:
                task = asyncio.create_task(self._work(assignment))
                self._held.add(task)
                task.add_done_callback(self._held.discard)
        await asyncio.gather(*self._held)
        with suppress(StoreError):
            await self.gate.deregister(self.id)

    async def _claim(self) -> list[Assignment]:
        room = AT_ONCE - len(self._held)
        if room <= 0:
            await asyncio.wait(self._held, return_when=asyncio.FIRST_COMPLETED)
            return []
        wish = ClaimRequest(worker=self.id, task_lists=("default",), tasks=tuple(SECONDS), limit=room)
        return await self.gate.claim(wish, WAIT)

    async def _give_back(self, assignments: Sequence[Assignment]) -> None:
        self.faults.sometimes("work given back", bool(assignments))
        with suppress(StoreError):
            await self.gate.release([each.lease for each in assignments])

    async def _work(self, assignment: Assignment) -> None:
        beating = asyncio.create_task(self._beat(assignment))
        try:
            await pass_time(SECONDS[assignment.attempt.task])
            if assignment.attempt.task == "poison":
                self.die()
                await asyncio.sleep(0)  # for ever
        finally:
            beating.cancel()
        await self._report(Report(assignment.lease, outcome_of(assignment, self.mended)))

    async def _beat(self, assignment: Assignment) -> None:
        while True:
            await pass_time(LEASE / 3)
            with suppress(StoreError):
                [renewal] = await self.gate.heartbeat([Heartbeat(assignment.lease)])
                self.faults.sometimes("a worker learns that its lease is lost", renewal.expires is None)

    async def _report(self, report: Report) -> None:
        while True:
            try:
                [verdict] = await self.gate.report([report])
            except StoreError:
                self.faults.sometimes("a report is repeated")
                await pass_time(0.3)
                continue
            self.faults.sometimes(f"a report is {verdict}")
            return


class RealWorker:
    """The worker that is shipped, with the tasks of the workload as coroutines."""

    def __init__(
        self,
        gate: Gate,
        id: str,
        now: Callable[[], datetime],
        faults: Faults,
        mended: Container[int],
        die: Callable[[], None],
    ) -> None:
        self.id, self._faults, self._stop = id, faults, asyncio.Event()
        self._bench = _Bench(id, mended, die)
        self.worker = Worker(
            gate,
            _tasks(),
            name=id.split(".")[0],
            concurrency=AT_ONCE,
            grace=timedelta(seconds=GRACE),
            now=now,
            new_id=lambda: id,
        )

    def stop(self) -> None:
        """Drain."""
        self._stop.set()

    async def run(self) -> None:
        """Work until it is stopped."""
        _BENCH.set(self._bench)
        await self.worker.run(self._stop)
        self._faults.sometimes("a real worker gives back work", self.worker.counts["worker.released"] > 0)
        self._faults.sometimes("a real worker gives up work", self.worker.counts["worker.canceled"] > 0)


class _Bench:
    """What the tasks of one worker have around them."""

    def __init__(self, id: str, mended: Container[int], die: Callable[[], None]) -> None:
        self.id, self.mended, self.die = id, mended, die
        self.executions = count(1)


_BENCH: ContextVar[_Bench] = ContextVar("bench")


@cache
def _tasks() -> dict[str, Task]:
    return dict(tasks_of({name: _function(name) for name in SECONDS}))


def _function(name: str) -> Callable[..., Awaitable[Any]]:
    async def do(ctx: Context, n: int, job: str | None = None) -> Any:
        bench = _BENCH.get()
        await pass_time(SECONDS[name])
        if name == "poison":
            bench.die()
            await asyncio.sleep(0)  # for ever
        if fails(name, ctx.attempt, n, bench.mended):
            raise RuntimeError("not yet")
        output = {"n": n, "by": [bench.id, next(bench.executions)]}
        return output if job is None else Out(output, correlate={"job": job})

    return do
