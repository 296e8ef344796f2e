"""The worker: one loop that claims tasks from a gate, runs them, and reports how they ended."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import count
from uuid import uuid4

from msgspec.structs import replace

from penstock.flow.model.run_input import Outcome
from penstock.flow.values.payload import payload_limit
from penstock.runtime.dispatch.gate import Assignment, Gate
from penstock.store.rows.rows import ClaimRequest, Lease
from penstock.store.rows.rows import Worker as Attendance
from penstock.workers.execute.executor import TaskExecutor
from penstock.workers.execute.fleet import ExecutorFactory
from penstock.workers.execute.task_call import not_offered
from penstock.workers.task import Task, make_task
from penstock.workers.worker.lease_renewal import Leases
from penstock.workers.worker.report_queue import BACKOFF, NOT_NOW, Outbox
from penstock.workers.worker.work import GIVEN_BACK, UNWANTED, Work

LOG = logging.getLogger("penstock.worker")
CONCURRENCY = 100
WAIT = timedelta(seconds=30)
REGISTER_INTERVAL = 10.0
LATE = "did not end in the time that a stopping worker has"
GRACE = timedelta(seconds=30)

LAST_CALL = 5.0
"""Seconds that a stopping worker gives each last call to the gate."""


def utc_now() -> datetime:
    return datetime.now(UTC)


HERE = "here-"
"""Begins the ids of workers that live and die with the process of their node."""


def new_incarnation() -> str:
    return uuid4().hex


def new_local_incarnation() -> str:
    return f"{HERE}{uuid4().hex}"


class Worker:
    """Runs tasks behind any gate. Nothing that a task or the gate does ends it: only `stop` does.

    `now` is the gate's time as well as it is known here; it is only used at the moment of an answer.
    `suffix` is appended to the names of its task lists. With
    `processes` all tasks run in as many child processes, which load `sources`, and no more at a time; with a
    `fleet` they run where that says. One that `hands_back` gives back what did not end when it stops: its tasks
    know how to go on (`Context.again`), and a restart costs no attempt. `idle` says how many of its tasks only
    wait just now: they take no room.
    """

    def __init__(
        self,
        gate: Gate,
        tasks: Mapping[str, Task],
        *,
        name: str,
        task_lists: Sequence[str] | None = None,
        suffix: str = "",
        concurrency: int = CONCURRENCY,
        threads: int | None = None,
        processes: int = 0,
        sources: Sequence[str] = (),
        grace: timedelta = GRACE,
        limit: int | None = None,
        now: Callable[[], datetime] = utc_now,
        new_id: Callable[[], str] = new_incarnation,
        fleet: ExecutorFactory | None = None,
        hands_back: bool = False,
        idle: Callable[[], int] | None = None,
    ) -> None:
        if processes and not sources:
            raise ValueError("a worker with `processes` needs `sources`: the modules or files of its tasks")
        self.gate, self.tasks, self.name, self.grace = gate, dict(tasks), name, grace
        lists = (task.offer.task_list or "default" for task in tasks.values())
        named = sorted(set(lists)) if task_lists is None else task_lists
        self.task_lists = tuple(f"{name}{suffix}" for name in named)
        self.concurrency = processes or concurrency
        # New at every start: a name that is used again must not revive a dead one's leases.
        self.id = new_id()
        self.counts: Counter[str] = Counter()
        self.begun = 0  # how much of what it was handed it has taken up
        self._troubles: dict[str, str] = {}
        self._make_executor: ExecutorFactory = fleet or partial(
            TaskExecutor, threads=threads or self.concurrency, processes=processes, sources=tuple(sources)
        )
        self._limit = limit or payload_limit()
        self._now, self._hands_back, self._idle_tasks = now, hands_back, idle
        self._started_at = now()
        self._held: set[Work] = set()
        self._request = ClaimRequest(
            worker=self.id, task_lists=self.task_lists, tasks=tuple(self.tasks), limit=self.concurrency
        )
        self._stopping = self._telling = False
        self._room, self._rest = asyncio.Event(), asyncio.Event()
        self._claiming: asyncio.Task[list[Assignment]] | None = None

    async def run(self, stop: asyncio.Event) -> None:
        """Work until `stop` is set, then drain and leave."""
        self._open()
        loops = {
            "claim": self._claim,
            "renew": self._leases.keep,
            "report": self._outbox.send,
            "register": self._register,
        }
        upkeep = [asyncio.create_task(self._supervised(name, chore)) for name, chore in loops.items()]
        try:
            await stop.wait()
            await self.drain(self.grace)
        finally:
            for chore in upkeep:
                chore.cancel()
            await asyncio.gather(*upkeep, return_exceptions=True)
            await self._close()

    def _open(self) -> None:
        loop = asyncio.get_running_loop()
        self._stopping = False
        self._room, self._rest = asyncio.Event(), asyncio.Event()
        # Reports that were stuck took room: whoever waits for room must hear that they are gone.
        self._outbox = Outbox(self.gate, self._now, self.id, self.counts, self._room.set)
        self._leases = Leases(self.gate, self._now, self.id, self._all_held, self._give_up)

        def on_progress() -> None:
            # Once for many: a task may tell its progress in a tight loop. A closed loop sends none.
            if not self._telling:
                self._telling = True
                with suppress(RuntimeError):
                    loop.call_soon_threadsafe(self._progress)

        self._executor = self._make_executor(self._ended, self._outbox.write, on_progress, self._limit)

    def _progress(self) -> None:
        self._telling = False
        self._leases.on_progress()

    async def _supervised(self, name: str, chore: Callable[[], Awaitable[None]]) -> None:
        """Do a chore again and again. An error in one round must not end it."""
        failures = 0
        while True:
            try:
                await chore()
                failures = 0
                self._recovered(name)
            except (Exception, asyncio.CancelledError) as error:
                task = asyncio.current_task()
                if task is not None and task.cancelling():
                    raise
                failures += 1
                if not self._stopping:  # a claim is cancelled then
                    self.counts[f"worker.{name}_failures"] += 1
                    self._troubled(name, str(error) or type(error).__name__)
                await asyncio.sleep(BACKOFF.delay(failures, self.id + name).total_seconds())

    def _troubled(self, name: str, why: str) -> None:
        """Tell what is wrong when it begins, and when it becomes another: not at every try."""
        if why not in self._troubles.values():
            LOG.warning("worker %s cannot %s now, and tries again: %s", self.name, name, why)
        self._troubles[name] = why

    def _recovered(self, name: str) -> None:
        if self._troubles.pop(name, None) is not None and not self._troubles:
            LOG.info("worker %s continues", self.name)

    async def _claim(self) -> None:
        """Claim as much as there is room for and begin it."""
        self._room.clear()
        room = self.room
        if room <= 0:
            await self._room.wait()
            return
        request = self._request if room == self.concurrency else replace(self._request, limit=room)
        self._claiming = asyncio.ensure_future(self.gate.claim(request, WAIT))
        try:
            assignments = await self._claiming
        finally:
            self._claiming = None
        if assignments and not self._stopping:  # else they are given back by `drain`
            self._begin(assignments)

    @property
    def room(self) -> int:
        """How much more it can take just now.

        Reports that are stuck take room too: work must not pile up behind a gate that does not take them.
        Twice as many are on their way in good times: told and being written, and ended meanwhile.
        """
        if self._stopping:
            return 0
        held, most = len(self._held), self.concurrency
        if self._idle_tasks is not None:
            held = max(0, held - self._idle_tasks())
        return most - held - max(0, len(self._outbox) - 2 * most)

    def make_room(self) -> None:
        """Something that is under way is `idle` from now on."""
        self._room.set()

    def _begin(self, assignments: Sequence[Assignment]) -> None:
        works: list[Work] = []
        now, held, begin, tasks = self._now(), self._held, self._leases.begin, self.tasks
        for each in assignments:
            task = tasks.get(each.attempt.task)
            if task is None:
                self._fail_unknown(each)
                continue
            work = Work(each.lease, each.attempt, task)
            begin(work, each.expires, each.deadline, now)
            held.add(work)
            works.append(work)
        self.begun += len(assignments)
        self.counts["worker.claimed"] += len(assignments)
        self._rest.clear()
        self._executor.begin(works)

    def _fail_unknown(self, assignment: Assignment) -> None:
        name = assignment.attempt.task
        work = Work(assignment.lease, assignment.attempt, make_task(_nothing, name))
        self._leases.begin(work, assignment.expires, assignment.deadline, self._now())
        self._outbox.add(work, not_offered(name, self.tasks))

    def _ended(self, work: Work, outcome: Outcome) -> None:
        held = self._held
        held.discard(work)
        self._outbox.add(work, outcome)
        self._room.set()
        if not held:
            self._rest.set()

    def _give_up(self, work: Work, why: str) -> None:
        """The lease is lost, or will be: the store decides what becomes of the attempt."""
        if work not in self._held:
            return  # it has ended; its report is on the way and will be judged by the store
        self._held.discard(work)
        self.counts["worker.canceled"] += 1
        level = logging.INFO if why in (UNWANTED, GIVEN_BACK) else logging.WARNING
        LOG.log(level, "task %s of run %s %s", work.attempt.task, work.lease.run, why)
        self._executor.cancel(work)
        self._room.set()
        if not self._held:
            self._rest.set()

    def nudge(self, run: str, elements: Sequence[tuple[int, int]]) -> None:
        """Some work is no longer wanted, says the gate: stop what is under way here, before the next beat."""
        for work in [each for each in self._held if each.lease.run == run]:
            if (work.lease.firing, work.lease.index) in elements:
                self._give_up(work, UNWANTED)

    def _all_held(self) -> list[Work]:
        """All whose lease must live: also what has ended and could not be reported yet."""
        at = asyncio.get_running_loop().time()
        unsent = [work for work in self._outbox.works() if at < work.lost_at and at < work.over_at]
        return [*self._held, *unsent]

    async def _register(self) -> None:
        await self.gate.register(
            Attendance(
                id=self.id,
                name=self.name,
                task_lists=self.task_lists,
                tasks=tuple(self.tasks),
                concurrency=self.concurrency,
                started_at=self._started_at,
                seen_at=self._now(),
            )
        )
        await asyncio.sleep(REGISTER_INTERVAL)

    async def drain(self, grace: timedelta) -> None:
        """Claim no more, give back what has not begun, wait up to `grace` for the rest, and tell how it ended."""
        self._stopping = True
        self._room.set()
        claiming = self._claiming
        if claiming is not None:
            claiming.cancel()
        back = self._executor.take_back()
        self._held.difference_update(back)
        await self._release([work.lease for work in back])
        if claiming is not None:
            await self._give_back(claiming)
        until = asyncio.get_running_loop().time() + grace.total_seconds()
        with suppress(TimeoutError):
            async with asyncio.timeout_at(until):
                while self._held:
                    self._rest.clear()
                    await self._rest.wait()
        left = list(self._held)
        for work in left:
            self._give_up(work, GIVEN_BACK if self._hands_back else LATE)
        if self._hands_back:
            await self._release([work.lease for work in left])
        with suppress(TimeoutError):
            async with asyncio.timeout_at(max(until, asyncio.get_running_loop().time() + LAST_CALL)):
                await self._outbox.empty()

    async def _give_back(self, claiming: asyncio.Task[list[Assignment]]) -> None:
        """What comes of a claim after all, because it was answered as we stopped."""
        await asyncio.wait([claiming], timeout=LAST_CALL)
        if claiming.done() and not claiming.cancelled() and claiming.exception() is None:
            await self._release([each.lease for each in claiming.result()])

    async def _release(self, leases: Sequence[Lease]) -> None:
        if not leases:
            return
        self.counts["worker.released"] += len(leases)
        await self._last_call("give back tasks", self._insist_on_release(leases))

    async def _insist_on_release(self, leases: Sequence[Lease]) -> None:
        """Try again: what is not given back costs an attempt, though nothing went wrong."""
        for failures in count(1):
            try:
                await self.gate.release(leases)
                return
            except NOT_NOW:
                await asyncio.sleep(BACKOFF.delay(failures, self.id).total_seconds())

    async def _last_call(self, what: str, call: Awaitable[None]) -> None:
        """One call that must not hold up the end."""
        try:
            await asyncio.wait_for(call, LAST_CALL)
        except Exception as error:
            LOG.warning("worker %s could not %s: %s", self.name, what, str(error) or "no answer")

    async def _close(self) -> None:
        for work in list(self._held):
            self._give_up(work, "is given up: its worker was cancelled")
        self._leases.close()
        await self._last_call("send its log", self._outbox.flush())
        await self._executor.close()
        await self._last_call("leave", self.gate.deregister(self.id))


def _nothing() -> None:
    """Stands for a task that nobody has defined here."""
