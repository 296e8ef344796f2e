"""The task gate of a node: hands tasks to waiting workers, at once if this node created them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Protocol, TypeVar

from msgspec.structs import replace

from penstock.flow.compile.compile import Flow
from penstock.flow.decisions.creation import new_attempt
from penstock.flow.model.plan import Answer, Attempt
from penstock.flow.model.retry_policy import Timeouts
from penstock.flow.model.run import Snapshot
from penstock.flow.model.run_input import Done, Reported
from penstock.runtime.decisions.decision import DEFAULT_HEARTBEAT, OnResult, Request, Reservation
from penstock.runtime.dispatch.backlog import Backlog
from penstock.runtime.dispatch.duplicate_reports import verdict_of
from penstock.runtime.dispatch.gate import Assignment, Report, Verdict
from penstock.runtime.dispatch.redaction import (
    Redaction,
    redacted_heartbeat,
    redacted_line,
    redacted_report,
)
from penstock.runtime.dispatch.worker_slots import Key, LocalWorker, WorkerSlot, key_of
from penstock.runtime.errors import UnknownRun
from penstock.runtime.node.background_tasks import BackgroundTasks
from penstock.runtime.node.clock import StoreClock
from penstock.runtime.node.run_cache import CachedRun, RunCache
from penstock.store.call_outcome import current_call
from penstock.store.errors import StoreUnavailable
from penstock.store.protocol import Notifier, Runs, Tasks, TaskViews
from penstock.store.rows.change import WHOLE
from penstock.store.rows.rows import ClaimRequest, Heartbeat, Lease, Leased, LogLine, Renewal, Worker

Kind = tuple[str, str]
"""A task list and a task: a worker that serves them takes every attempt of that kind."""

Free = Callable[[Sequence[tuple[Attempt, Reservation]]], None]


class Reservations:
    """Reserves worker slots for one batch. Nothing else runs meanwhile, so its view stays valid."""

    __slots__ = ("_backlog", "_found", "_left", "_slots", "free")

    def __init__(self, slots: Iterable[WorkerSlot], backlog: Backlog, free: Free) -> None:
        self._slots, self._backlog, self.free = slots, backlog, free
        self._found: dict[Kind, WorkerSlot] = {}
        self._left: dict[WorkerSlot, int] = {}

    def reserve(self, attempt: Attempt) -> WorkerSlot | None:
        """A slot that takes the attempt; None if older tasks are waiting in the list."""
        kind = attempt.task_list, attempt.task
        slot = self._found.get(kind)
        if slot is None or not self._left[slot]:
            slot = self._look_for(kind)
            if slot is None:
                return None
            self._found[kind] = slot
        self._left[slot] -= 1
        slot.room -= 1
        slot.coming += 1
        return slot

    def _look_for(self, kind: Kind) -> WorkerSlot | None:
        for slot in self._slots:
            if slot.serves(*kind) and self._has_room(slot) and self._backlog.has_seen(slot.key, kind[0]):
                return slot
        return None

    def _has_room(self, slot: WorkerSlot) -> bool:
        left = self._left.get(slot)
        if left is None:
            left = self._left[slot] = max(0, slot.spare())
        return left > 0


ABSENCE_TIMEOUT = timedelta(seconds=1)
"""How long a worker may be absent before its assignments are released; it may be polling another node."""

LEASE_DIVISOR = 3
"""At most 1/LEASE_DIVISOR of a lease may elapse before the worker collects the task."""

RETURN_TIMEOUT = 1.0
"""Seconds to keep reserving tasks for a worker that left with work."""

POLL_INTERVAL = timedelta(seconds=1)
"""How long a worker waits before it reads a store that other nodes also write."""

MAX_REDACTED_AT_ONCE = 64 * 1024
"""Bytes of log lines that are redacted on the loop; more are redacted beside it."""

T = TypeVar("T")

RELEASE_RETRY_DELAY = 0.5
"""Seconds between attempts to release leases while the store is unavailable."""

log = logging.getLogger("penstock.dispatch")

AttemptPlace = tuple[str, int, int, int]
"""Run, firing, index and number of an attempt."""

Ends = tuple[datetime, datetime | None]
"""When a lease runs out, and the end of its attempt."""


class DispatchRows(Runs, Tasks, TaskViews, Notifier, Protocol):
    """The task lists, and the runs whose tasks they are."""


class Dispatch:
    """Hands out work, renews leases and takes reports; `Gate` for workers in this process and behind HTTP."""

    def __init__(
        self,
        store: DispatchRows,
        run_cache: RunCache,
        clock: StoreClock,
        submit: Callable[[Request], None],
        expect: Callable[[datetime], None],
        redaction: Redaction,
        *,
        shared: bool,
    ) -> None:
        self._store, self._run_cache, self._clock, self._shared = store, run_cache, clock, shared
        self._submit, self._expect = submit, expect
        self._slots: dict[Key, WorkerSlot] = {}
        self._backlog = Backlog()
        self._tidying = BackgroundTasks(log, "unwanted tasks could not be returned")
        self._hints = BackgroundTasks(log, "the other nodes were not notified")
        self._in_doubt: dict[int, dict[AttemptPlace, str]] = {}  # by id(): reservations that may be leases
        self._local_workers: dict[str, LocalWorker] = {}
        self.redaction = redaction  # takes secrets out of what tasks say
        self.rejected = self.repeated = self.handed = self.leased = 0

    # -- what decisions need -------------------------------------------------------------------------------

    def reserving(self) -> Reservations:
        """The reservations of one batch; valid while nothing else runs."""
        return Reservations(self._slots.values(), self._backlog, self.free)

    def hand_over(self, slots: Sequence[tuple[Attempt, Reservation]], now: datetime, fence: int) -> None:
        """What was reserved is durable: the work is theirs, under the fence that the store gave it."""
        ends: dict[int, Ends] = {}  # of the time-outs that the attempts of one step share
        for attempt, slot in slots:
            assert isinstance(slot, WorkerSlot)
            slot.coming -= 1
            limits = attempt.timeouts
            if (until := ends.get(id(limits))) is None:
                until = ends[id(limits)] = _ends(limits, now)
            index = WHOLE if attempt.index is None else attempt.index
            lease = Lease(attempt.run.id, attempt.firing, index, attempt.attempt, fence)
            slot.given.append(Assignment(lease, attempt, *until))
            for reserved in self._in_doubt.values():  # of a commit before this one
                reserved.pop(lease.place, None)
            if len(slot.given) == 1:
                slot.ready.set() if slot.sitting else self._sweep_later(slot)
        self.handed += len(slots)

    def free(self, slots: Sequence[tuple[Attempt, Reservation]]) -> None:
        """What was reserved came to nothing."""
        for _, slot in slots:
            assert isinstance(slot, WorkerSlot)
            slot.coming -= 1
            slot.room += 1
            slot.ready.set() if slot.sitting else self._sweep_later(slot)

    def return_leases(self, slots: Sequence[tuple[Attempt, Reservation]]) -> None:
        """What was reserved may be leased, although no worker has it: nobody knows whether its commit happened."""
        reserved: dict[AttemptPlace, str] = {
            (each.run.id, each.firing, WHOLE if each.index is None else each.index, each.attempt): slot.worker
            for each, slot in slots
        }
        self._in_doubt[id(reserved)] = reserved
        self._tidying.begin(self._return_leases(reserved))

    async def _return_leases(self, reserved: Mapping[AttemptPlace, str]) -> None:
        try:
            async with asyncio.timeout(DEFAULT_HEARTBEAT.total_seconds()):  # then the leases expire
                # Read once: after a release whose answer was lost, a worker may have the task by now.
                leases = await _when_available(lambda: self._leases_of(reserved))
                await _when_available(lambda: self.release([one for one in leases if one.place in reserved]))
        finally:
            del self._in_doubt[id(reserved)]
        self.look()

    async def _leases_of(self, reserved: Mapping[AttemptPlace, str]) -> list[Lease]:
        """Those that came with the task itself: one that a worker asked for since is its own."""
        runs = dict.fromkeys(run for run, *_ in reserved)
        rows = [row for run in runs for row in await self._store.tasks(run)]
        return [
            row.lease
            for row in rows
            if row.started_at == row.queued_at and reserved.get(row.lease.place) == row.worker
        ]

    def note(self, lists: Iterable[str]) -> None:
        """There may be work in these lists: for who waits here, else for other nodes."""
        noted = list(lists)
        self._backlog.add(noted)
        named = set(noted)
        for slot in self._slots.values():
            if not named.isdisjoint(slot.lists):
                slot.ready.set()
        if self._shared:
            self._hints.begin(self._tell_nodes())

    async def _tell_nodes(self) -> None:
        try:
            await self._store.notify("tasks")
        except Exception as error:
            log.debug("the other nodes were not told: %s", error)  # they look by themselves

    def attach(self, worker: LocalWorker) -> None:
        """A worker of this process: it is asked how much it can take, and hears what is withdrawn at once."""
        self._local_workers[worker.id] = worker

    def look(self) -> None:
        """There may be tasks in any list: another node added or released some, or a pause ended."""
        self._backlog.add_unknown()
        for slot in self._slots.values():
            slot.ready.set()

    def withdrawn(self, run: str, elements: Sequence[tuple[int, int]]) -> None:
        """Cancel attempts: local workers stop at once, remote ones with their next heartbeat."""
        for worker in self._local_workers.values():
            worker.nudge(run, elements)

    # -- what workers do -----------------------------------------------------------------------------------

    async def claim(self, request: ClaimRequest, wait: timedelta) -> list[Assignment]:
        """Work for a worker, at once or as soon as there is some."""
        loop = asyncio.get_running_loop()
        until, key = loop.time() + wait.total_seconds(), key_of(request)
        while True:
            if self._to_look_for(request, self._slots.get(key)):
                found = await self._lease(request)
                if found:
                    return found
            left = until - loop.time()
            if left <= 0:
                return []
            given = await self._sit(
                request, min(left, POLL_INTERVAL.total_seconds()) if self._shared else left
            )
            if given:
                return given
            if self._shared:
                self._backlog.forget(key)

    async def _sit(self, request: ClaimRequest, seconds: float) -> list[Assignment]:
        """Wait until something is given, or a list may have work, or the time is over.

        What is still being written then is given at the worker's next claim.
        """
        slot = self._slots.get(key := key_of(request))
        if slot is None:
            slot = self._slots[key] = WorkerSlot(key, self._local_workers.get(request.worker))
        slot.sit(request.limit)
        try:
            async with asyncio.timeout(seconds):
                while not slot.given and not self._to_look_for(request, slot):
                    slot.ready.clear()
                    await slot.ready.wait()
        except TimeoutError:
            pass
        except BaseException:
            slot.expected = False
            asyncio.get_running_loop().call_soon(self._sweep, slot)
            raise
        finally:
            slot.sitting -= 1
        given = slot.take(request.limit)
        if given:
            slot.expect_back(RETURN_TIMEOUT)
        if not slot.sitting:
            self._sweep_later(slot) if given or slot.given or slot.coming else self._slots.pop(key, None)
        return given

    def _sweep_later(self, slot: WorkerSlot) -> None:
        """Schedule a sweep of an unattended slot; each slot has one timer."""
        loop = asyncio.get_running_loop()
        lasts = min(
            (each.expires - self._clock.now() for each in slot.given), default=LEASE_DIVISOR * ABSENCE_TIMEOUT
        )
        at = loop.time() + min(ABSENCE_TIMEOUT, lasts / LEASE_DIVISOR).total_seconds()
        sooner, slot.sweep_at = at < slot.sweep_at, at
        if sooner or not slot.watched:
            slot.watched = True
            loop.call_at(slot.sweep_at, self._look_after, slot)

    def _look_after(self, slot: WorkerSlot) -> None:
        loop = asyncio.get_running_loop()
        slot.watched = loop.time() < slot.sweep_at
        if slot.watched:
            loop.call_at(slot.sweep_at, self._look_after, slot)
        else:
            self._sweep(slot)

    def _sweep(self, slot: WorkerSlot) -> None:
        """The worker has left: return its assignments to the lists."""
        if not slot.sitting:
            given, slot.given = slot.given, []
            if given:
                self._tidying.begin(self.release([each.lease for each in given]))
            if not slot.coming and self._slots.get(slot.key) is slot:
                del self._slots[slot.key]

    def _to_look_for(self, request: ClaimRequest, slot: WorkerSlot | None) -> int:
        """How many tasks a worker should ask the store for, none while there is something for it here."""
        coming, given = (slot.coming, slot.given) if slot else (0, [])
        return 0 if given else max(0, min(request.limit - coming, self._backlog.unseen(key_of(request))))

    async def _lease(self, request: ClaimRequest) -> list[Assignment]:
        """What is found in the store, no more than came there; the rest of its room is kept for what is made now."""
        key = key_of(request)
        slot, unseen = self._slots.get(key), self._backlog.unseen(key)
        asked = self._to_look_for(request, slot)
        if slot is not None:
            slot.room = request.limit - slot.coming - asked
            slot.settle()
            slot.handed += asked
            slot.expect_back(RETURN_TIMEOUT)
        before = self._backlog.see(key)  # before looking: what comes meanwhile must not be forgotten
        leased: list[Leased] | None = None
        looking = asyncio.ensure_future(self._store.lease(replace(request, limit=asked)))
        try:
            leased = await asyncio.shield(looking)
        except asyncio.CancelledError:
            # The worker has left: its tasks go to others.
            self._tidying.begin(self._give_back(looking))
            raise
        finally:
            if leased is None:
                self._backlog.unsee(key, before)
            elif len(leased) == asked:
                self._backlog.subtract(key, unseen - asked)
        self.leased += len(leased)
        for each in leased:
            self._expect(each.expires)
        try:
            return await self._assignments(leased)
        except BaseException:
            # The leases are durable and nobody will use them: left alone, each would cost an attempt.
            self._tidying.begin(self.release([each.lease for each in leased]))
            raise

    async def _give_back(self, looking: asyncio.Future[list[Leased]]) -> None:
        await self.release([each.lease for each in await looking])

    async def close(self) -> None:
        """Return uncollected assignments to their lists; no worker will collect them now."""
        for slot in list(self._slots.values()):
            self._sweep(slot)
        await self._tidying.wait(5)

    async def _assignments(self, leased: Sequence[Leased]) -> list[Assignment]:
        """The assignments of these leases. If the run contradicts a lease, that lease expires unused."""
        found = {
            each.lease: self._attempt(self._run_cache.get(each.lease.run), each.lease) for each in leased
        }
        missing = list(dict.fromkeys(lease.run for lease, attempt in found.items() if attempt is None))
        fetched = await self._run_cache.fetch(missing) if missing else {}
        if self._shared:
            # Its report comes next, and would read it again. Where nobody else writes, nothing tells that one is old.
            for run, live in fetched.items():
                if isinstance(live, CachedRun):
                    self._run_cache.offer(run, live)
        made: list[Assignment] = []
        for each in leased:
            attempt = found[each.lease] or self._attempt(fetched.get(each.lease.run), each.lease)
            if attempt is None:
                log.warning("task %s of run %s is no longer wanted", each.task, each.lease.run)
            else:
                made.append(Assignment(each.lease, attempt, each.expires, each.deadline))
        return made

    def _attempt(self, live: CachedRun | BaseException | None, lease: Lease) -> Attempt | None:
        """What is remembered may be old, but an attempt stays what it was when it was made."""
        return attempt_of(live.flow, live.snapshot, lease) if isinstance(live, CachedRun) else None

    async def heartbeat(self, heartbeats: Sequence[Heartbeat]) -> list[Renewal]:
        if any([heartbeat.progress is not None for heartbeat in heartbeats]):
            redact = await self.redaction()
            heartbeats = [redacted_heartbeat(heartbeat, redact) for heartbeat in heartbeats]
        return await self._store.renew(heartbeats)

    async def report(self, reports: Sequence[Report]) -> list[Verdict]:
        """Take reports, all at once; each is durable when this answers."""
        # Most are results (`is_result`), and a call for each would cost more than all that is asked here.
        if not all([type(said := report.outcome) is Done and said.port != "failed" for report in reports]):
            redact = await self.redaction()
            reports = [redacted_report(report, redact) for report in reports]
        answers = _Answers(len(reports))
        requests = [_request(report, answers.on_answer) for report in reports]
        for request in requests:
            self._submit(request)
        rare = await answers.rare if requests else {}
        if not rare:
            return ["accepted"] * len(reports)
        on_result = zip(reports, requests, strict=True)
        return [await self._verdict(report, rare.get(request, "accepted")) for report, request in on_result]

    async def _verdict(self, report: Report, answer: Answer) -> Verdict:
        if answer == "accepted":
            return "accepted"
        verdict = await verdict_of(self._store, report)
        self.repeated += verdict == "repeated"
        self.rejected += verdict != "repeated"
        return verdict

    async def release(self, leases: Sequence[Lease]) -> list[bool]:
        if not leases:
            return []
        released = await self._store.release(leases)
        self.look()
        if self._shared:
            self._hints.begin(self._tell_nodes())
        return released

    async def log(self, lines: Sequence[LogLine]) -> None:
        redact = await self.redaction()

        def redacted() -> list[LogLine]:
            return [redacted_line(line, redact) for line in lines]

        many = sum(len(line.body) for line in lines) > MAX_REDACTED_AT_ONCE
        await self._store.log(await asyncio.to_thread(redacted) if many else redacted())

    async def register(self, worker: Worker) -> None:
        await self._store.register(worker)

    async def deregister(self, worker: str) -> None:
        for slot in [slot for slot in self._slots.values() if slot.worker == worker]:
            self._sweep(slot)
        await self._store.deregister(worker)


class _Answers:
    """The verdicts of reports that were sent together; `rare` are those that were not accepted."""

    __slots__ = ("_call", "_failed", "_left", "_rare", "rare")

    def __init__(self, count: int) -> None:
        self.rare: asyncio.Future[dict[Request, Answer]] = asyncio.get_running_loop().create_future()
        self._rare: dict[Request, Answer] = {}
        self._left, self._call = count, current_call()
        self._failed: BaseException | None = None

    def on_answer(self, request: Request, answer: Answer | None, error: BaseException | None) -> None:
        if answer == "accepted":
            if self._call is not None:
                self._call.changed = True
        else:
            # A run that no longer exists has no use for a report; the other reports must not fail.
            self._rare[request] = answer or "superseded"
            if not isinstance(error, UnknownRun):
                self._failed = self._failed or error
        self._left -= 1
        if self._left or self.rare.done():
            return
        if self._failed is None:
            self.rare.set_result(self._rare)
        else:
            self.rare.set_exception(self._failed)


def _request(report: Report, on_result: OnResult) -> Request:
    lease = report.lease
    index = None if lease.index == WHOLE else lease.index
    run_input = Reported(lease.firing, index, lease.attempt, report.outcome)
    return Request(lease.run, run_input, on_result, lease)


def _ends(limits: Timeouts, now: datetime) -> Ends:
    """When a lease that begins now runs out, and when its attempt must have ended."""
    ends = [limit for limit in (limits.start_to_close, limits.schedule_to_close) if limit is not None]
    return now + (limits.heartbeat or DEFAULT_HEARTBEAT), now + min(ends) if ends else None


async def _when_available(ask: Callable[[], Awaitable[T]]) -> T:
    """What the store answers, asked until it does."""
    while True:
        try:
            return await ask()
        except StoreUnavailable:
            await asyncio.sleep(RELEASE_RETRY_DELAY)


def attempt_of(flow: Flow, snapshot: Snapshot, lease: Lease) -> Attempt | None:
    """The attempt that a lease is for, as the run has it; None: the run does not want it."""
    index = None if lease.index == WHOLE else lease.index
    element = snapshot.elements.get((lease.firing, index))
    firing = snapshot.firings.get(lease.firing)
    if element is None or firing is None or element.attempt != lease.attempt or element.state != "running":
        return None
    return new_attempt(snapshot.run, flow.steps[element.step], firing, element, snapshot.data)
