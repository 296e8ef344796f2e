"""Gathers inputs of runs, decides them in batches, and writes each batch in one transaction.

The batch grows by itself: while one is being written, the next gathers. On an idle system it has one run.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Container, Iterable, Sequence
from datetime import datetime
from typing import Any

from penstock.flow.model.run_input import Outside, Retried, Skipped
from penstock.runtime.decisions.decision import Decision, Request, ReservationMaker, Reserved
from penstock.runtime.decisions.fast.fast_path import FastPath
from penstock.runtime.decisions.plan_to_change import decide, write_down
from penstock.runtime.decisions.poison_runs import PoisonRuns
from penstock.runtime.dispatch.dispatch import Dispatch
from penstock.runtime.errors import UnknownRun, UnreadableRun
from penstock.runtime.node.clock import StoreClock
from penstock.runtime.node.flow_cache import FlowCache
from penstock.runtime.node.run_cache import CachedRun, RunCache
from penstock.runtime.node.timers import Timers
from penstock.store.errors import OutcomeUnknown, StoreUnavailable
from penstock.store.protocol import Runs
from penstock.store.rows.change import Change, Committed, Outcome

MAX_BATCH = 512
"""Runs in one batch."""
MAX_CONCURRENT_BATCHES = 2
CHUNK_SIZE = 32
"""Runs that are decided and then turned into changes together: few enough to stay in the processor's cache."""

MAX_CONFLICTS = 50
"""How often other writers may overtake a decision before this counts as an error."""


log = logging.getLogger("penstock.advancer")

Settled = Callable[[Sequence[Decision]], None]
Wrote = Callable[[int, float], None]


class RequestQueue:
    """Requests by run, each run's in the order in which they came. `wake` is set while there may be some to take."""

    def __init__(self) -> None:
        self.wake = asyncio.Event()
        self.waiting: dict[str, list[Request]] = {}
        self._closed: BaseException | None = None

    def submit(self, request: Request) -> None:
        """Queue an input of a run. `request.on_result` is called when it is durable, or with the error if it fails."""
        if self._closed is not None:
            request.tell(None, self._closed)
            return
        self.waiting.setdefault(request.run, []).append(request)
        self.wake.set()

    def take(self, busy: Container[str]) -> dict[str, list[Request]]:
        """One decision for each run that is not busy."""
        batch: dict[str, list[Request]] = {}
        for run in self.waiting:
            if run not in busy:
                batch[run] = self.waiting[run]
                if len(batch) >= MAX_BATCH:
                    self.wake.set()  # there may be more
                    break
        for run in batch:
            requests = self.waiting.pop(run)
            if len(requests) > 1:
                batch[run], rest = _one_decision(requests)
                if rest:
                    self.waiting[run] = rest
        return batch

    def close(self, error: BaseException) -> None:
        """Decide nothing more: fail waiting requests, and all later ones."""
        self._closed = error
        waiting, self.waiting = self.waiting, {}
        for requests in waiting.values():
            for request in requests:
                request.tell(None, error)


def _one_decision(requests: list[Request]) -> tuple[list[Request], list[Request]]:
    """As many as may be decided at once: one that had a conflict goes alone, so does one id of an event."""
    ids = 0
    for number, request in enumerate(requests):
        ids += isinstance(request.input, Outside) and request.seen is not None
        if ids > 1 or (request.isolated and number) or (number and requests[0].isolated):
            return requests[:number], requests[number:]
    return requests, []


class Advancer:
    """The only way in which a run changes."""

    def __init__(
        self,
        *,
        store: Runs,
        flows: FlowCache,
        run_cache: RunCache,
        requests: RequestQueue,
        dispatch: Dispatch,
        timers: Timers,
        clock: StoreClock,
        shared: bool,
        settled: Sequence[Settled],
    ) -> None:
        self._store, self._flows, self._run_cache = store, flows, run_cache
        self._requests, self._dispatch, self._timers = requests, dispatch, timers
        self._clock, self._shared = clock, shared
        self._busy: set[str] = set()
        self._lanes = asyncio.Semaphore(MAX_CONCURRENT_BATCHES)
        self._carrying: set[asyncio.Task[None]] = set()
        self._poison_runs = PoisonRuns(requests.submit)
        self._settled = list(settled)
        self._wrote: list[Wrote] = []
        self.stale = self.decided = self.batches = 0

    def observe(self, settled: Settled, wrote: Wrote | None = None) -> None:
        """From now on, hear what was decided and written, and how long it took to write it."""
        self._settled.append(settled)
        if wrote is not None:
            self._wrote.append(wrote)

    async def run(self) -> None:
        """Decide and write, without end."""
        try:
            while True:
                await self._requests.wake.wait()
                await self._lanes.acquire()
                self._requests.wake.clear()
                task = asyncio.create_task(self._carry())
                self._carrying.add(task)
                task.add_done_callback(self._carrying.discard)
        finally:
            for task in list(self._carrying):
                task.cancel()

    async def drain(self) -> None:
        """Wait until no request is waiting or being decided."""
        while self._requests.waiting or self._carrying:
            await asyncio.sleep(0.005)

    # -- gathering -----------------------------------------------------------------------------------------

    async def _carry(self) -> None:
        """One batch. Waits one loop iteration so that concurrent requests join it."""
        batch = self._requests.take(self._busy)
        self._busy.update(batch)
        try:
            await self._advance(batch)
        except BaseException as error:
            # The callers were not cancelled, but their requests were, perhaps while being written.
            canceled = isinstance(error, asyncio.CancelledError)
            told = OutcomeUnknown("this engine is closed") if canceled else error
            for requests in batch.values():
                for request in requests:
                    request.tell(None, told)
            if not isinstance(error, StoreUnavailable | asyncio.CancelledError):
                log.exception("a batch of %d runs was not decided", len(batch))
            for run in batch:
                self._run_cache.forget(run)
        finally:
            self._busy.difference_update(batch)
            self._lanes.release()
            if batch and self._requests.waiting:
                self._requests.wake.set()

    async def _advance(self, batch: dict[str, list[Request]]) -> None:
        lives = await self._lives(batch)
        decisions: list[Decision] = []
        written: list[Decision] = []
        slots, now, fast = self._dispatch.reserving(), self._clock.now(), FastPath()
        try:
            runs = list(batch)
            for at in range(0, len(runs), CHUNK_SIZE):
                decided = self._decide_some(runs[at : at + CHUNK_SIZE], batch, lives, now, fast)
                decisions += decided
                written += self._write_down(decided, slots, fast)
            self.decided += len(written)
            await self._write(written)
        except BaseException as error:
            if isinstance(error, OutcomeUnknown):
                self._dispatch.return_leases([each for decision in decisions for each in decision.slots])
                self._timers.look()
            for decision in decisions:
                self._give_up(decision)
            raise

    async def _lives(self, batch: dict[str, list[Request]]) -> dict[str, CachedRun | BaseException]:
        """The runs as they are known here; those that are not, or must be fresh, from the store."""
        lives: dict[str, CachedRun | BaseException] = {}
        wanted: list[str] = []
        for run, requests in batch.items():
            first = requests[0]
            live = self._run_cache.get(run)
            if first.new is not None and live is None:
                assert first.flow is not None, "a run is made only with its flow"
                lives[run] = CachedRun(first.flow, first.new)
            elif live is None or first.fresh or (len(requests) > 1 and any(each.fresh for each in requests)):
                wanted.append(run)
            else:
                lives[run] = live
        if wanted:
            lives.update(await self._run_cache.fetch(wanted, remember=True))
        return lives

    def _decide_some(
        self,
        runs: Sequence[str],
        batch: dict[str, list[Request]],
        lives: dict[str, CachedRun | BaseException],
        now: datetime,
        fast: FastPath,
    ) -> list[Decision]:
        """One run that cannot be decided about must not hold the others."""
        decisions: list[Decision] = []
        for run in runs:
            live, requests = lives.get(run), batch[run]
            if not isinstance(live, CachedRun):
                self._reject(run, requests, live)
                continue
            try:
                decisions.append(decide(live, requests, now, fast))
            except Exception as error:
                self._undecided(live, requests, error)
        return decisions

    def _write_down(
        self, decisions: Sequence[Decision], slots: ReservationMaker, fast: FastPath
    ) -> list[Decision]:
        """A decision that cannot be encoded must not block the rest of the batch."""
        written: list[Decision] = []
        for decision in decisions:
            try:
                write_down(decision, slots, fast)
                written.append(decision)
            except Exception as error:
                self._undecided(decision.live, decision.requests, error)
        return written

    def _undecided(self, live: CachedRun, requests: Sequence[Request], error: Exception) -> None:
        log.exception("run %s cannot be decided about", live.snapshot.run.id)
        self._run_cache.forget(live.snapshot.run.id)
        self._poison_runs.tell(requests, error)

    def _reject(self, run: str, requests: list[Request], error: BaseException | None) -> None:
        """Skip a run that does not exist or cannot be read."""
        if error is not None:
            log.error("run %s cannot be read and is left alone: %s", run, error)
        elif gone := [request.read for request in requests if request.read is not None]:
            self._timers.discard(gone)
        told = UnknownRun(run) if error is None else UnreadableRun(run, error)
        for request in requests:
            request.tell(None, told)

    # -- writing -------------------------------------------------------------------------------------------

    async def _write(self, decisions: list[Decision]) -> None:
        changed: list[Decision] = []
        changes: list[Change] = []
        for decision in decisions:
            if decision.change is None:
                self._answer_unchanged(decision)
            else:
                changed.append(decision)
                changes.append(decision.change)
        if changes:
            await self._commit(changed, changes)

    async def _commit(self, changed: Sequence[Decision], changes: Sequence[Change]) -> None:
        asked = self._clock.asked()
        try:
            committed = await self._store.commit(changes)
        except StoreUnavailable:
            raise
        except Exception as error:
            await self._find_culprit(changed, changes, error)
            return
        self.batches += 1
        self._clock.tell(committed.now, asked)
        took = self._clock.asked() - asked
        self._settle(changed, committed)
        _observe(self._wrote, len(changed), took)

    async def _find_culprit(
        self, changed: Sequence[Decision], changes: Sequence[Change], error: Exception
    ) -> None:
        """The store cannot write some change: it must not take the others of its batch with it."""
        if len(changed) > 1:
            middle = len(changed) // 2
            await self._commit(changed[:middle], changes[:middle])
            await self._commit(changed[middle:], changes[middle:])
            return
        [decision] = changed
        self._give_up(decision)
        if len(decision.requests) > 1:
            for request in decision.requests:  # each by itself: only one of them may be at fault
                request.isolated = True
                self._requests.submit(request)
            return
        log.error("run %s cannot be written: %s", decision.live.snapshot.run.id, error)
        self._poison_runs.tell(decision.requests, error)

    def _answer_unchanged(self, decision: Decision) -> None:
        """Nothing followed. If other nodes write, answer only after checking the current state of the store."""
        fresh = not self._shared or all(request.fresh for request in decision.requests)
        if fresh:
            self._answer(decision)
        else:
            for request in decision.requests:
                request.fresh = True
                self._requests.submit(request)

    def _settle(self, changed: Sequence[Decision], committed: Committed) -> None:
        outcomes = committed.outcomes
        if outcomes.count("applied") == len(changed):
            self._apply(changed, committed)
        else:
            self._sort(changed, committed)
        if committed.messages:
            self._timers.read(committed.messages)
        if "stale" in outcomes:
            self._timers.look()  # a row that was dropped because another node was faster may still exist

    def _sort(self, changed: Sequence[Decision], committed: Committed) -> None:
        """Handle the changes that no longer fit."""
        told = list(zip(changed, committed.outcomes, strict=True))
        self._apply([decision for decision, outcome in told if outcome == "applied"], committed)
        for decision, outcome in told:
            if outcome != "applied":
                self.stale += outcome == "stale"
                self._give_up(decision)
                self._again(decision.requests, outcome)

    def _apply(self, decisions: Sequence[Decision], committed: Committed) -> None:
        """These are durable: cache the runs, hand over their tasks, and answer the callers."""
        run_cache = self._run_cache
        self._poison_runs.settle(decisions)
        given: Reserved = []
        rest: list[tuple[Decision, Change, Reserved]] = []
        for decision in decisions:
            live, change, slots = decision.live, decision.change, decision.slots
            assert change is not None
            live.snapshot = snapshot = decision.plan.snapshot
            live.first = None if change.new is None else change.tasks
            live.state = decision.state
            if snapshot.status != "running" and snapshot.ended:
                run_cache.forget(change.run)
            else:
                run_cache.keep(change.run, live)
            if slots:
                given += slots
                decision.slots = []  # it is freed by who gives its decision up: never one that was handed over
            if change.has_extras or len(change.tasks) != len(slots):
                rest.append((decision, change, slots))
        if given:
            self._dispatch.hand_over(given, committed.now, committed.fence)
        for each in rest:
            self._tell_workers(*each)
        for decision in decisions:
            self._answer(decision)
        _observe(self._settled, decisions)

    def _tell_workers(self, decision: Decision, change: Change, slots: Reserved) -> None:
        """Announce tasks that were not handed over, and tasks that are no longer wanted."""
        if len(change.tasks) > len(slots):
            handed = {(attempt.firing, attempt.index) for attempt, _ in slots}
            self._dispatch.note(
                attempt.task_list
                for attempt in decision.plan.attempts
                if (attempt.firing, attempt.index) not in handed
            )
        if change.hold is False:
            self._dispatch.look()
        if change.void:
            self._dispatch.withdrawn(change.run, change.void)

    def _answer(self, decision: Decision) -> None:
        for request, answer in zip(decision.requests, decision.answers, strict=False):
            request.tell(answer)

    def _give_up(self, decision: Decision) -> None:
        self._run_cache.forget(decision.live.snapshot.run.id)
        if decision.slots:
            self._dispatch.free(decision.slots)
            decision.slots = []

    def _again(self, requests: Sequence[Request], outcome: Outcome) -> None:
        """Others were faster. Rows of the store are handed out again; decide the rest again."""
        single = len(requests) == 1
        for request in requests:
            request.tries += 1
            if outcome == "lost" and single:
                request.tell("superseded")
            elif outcome in ("seen", "known") and single:
                request.tell("duplicate")
            elif outcome == "stale" and (
                request.from_store
                # The run exists, or a pause came or went.
                or request.new is not None
                or isinstance(request.input, Retried | Skipped)
            ):
                request.tell("superseded")
            elif request.tries > MAX_CONFLICTS:
                request.tell(None, RuntimeError(f"run {request.run} was never left alone long enough"))
            else:
                request.isolated, request.fresh = True, True
                self._requests.submit(request)


def _observe(observers: Iterable[Callable[..., None]], *what: Any) -> None:
    """Show what is durable to those who look on: one that fails must not make it look as if it were not."""
    for observer in observers:
        try:
            observer(*what)
        except Exception:
            log.exception("what is written could not be shown to %r", observer)
