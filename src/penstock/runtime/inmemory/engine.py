"""Runs in memory: their snapshots and keys, and the execution of their plans."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any

from msgspec.structs import replace

from penstock.flow.compile.compile import Flow
from penstock.flow.decisions.advance import CONTINUED, Do, advance, continue_last
from penstock.flow.decisions.creation import new_run
from penstock.flow.model.plan import Answer, Entry, Plan
from penstock.flow.model.run import Header, RunId, Snapshot
from penstock.flow.model.run_input import (
    Begun,
    Canceled,
    Disabled,
    Granted,
    Outside,
    Paused,
    Resumed,
    Retried,
    RunInput,
)
from penstock.flow.values.key_text import key_text
from penstock.runtime.commands.validation import (
    checked_event,
    checked_input,
    not_disabled,
    plain_event,
    plain_payload,
    validate_step,
)
from penstock.runtime.decisions.correlation import NO_RUN
from penstock.runtime.errors import (
    IdempotencyMismatch,
    Invalid,
    NotRetryable,
    RunEnded,
    UnknownRun,
)
from penstock.runtime.inmemory.executor import Executor
from penstock.runtime.inmemory.inbox import Inbox, RefusedKey, Undelivered
from penstock.runtime.inmemory.inline_run import play_through
from penstock.runtime.inmemory.locks import Locks
from penstock.runtime.node.clock import Alarm, Clock


@dataclass(slots=True, eq=False)
class InMemoryRun:
    """One run: its flow, its state now, its history, and who waits for it to change."""

    flow: Flow
    snapshot: Snapshot
    history: list[Entry] = field(default_factory=list)
    watchers: list[Callable[[Snapshot], None]] = field(default_factory=list)
    alarms: set[Alarm] = field(default_factory=set)
    ids: dict[str, str] = field(default_factory=dict)  # of events found by key: id → event
    unfinished: bool = False  # a decision stopped half-way: the run continues at the clock's next turn

    @property
    def moving(self) -> bool:
        """Whether the run continues by itself."""
        return not self.snapshot.ended and (self.unfinished or bool(self.snapshot.firings))

    def silence(self) -> None:
        """Nothing is due."""
        for alarm in self.alarms:
            alarm.cancel()
        self.alarms.clear()


class InMemoryEngine:
    """Keeps runs and drives them. Everything happens in the thread that calls it."""

    def __init__(self, clock: Clock, executor: Executor, ids: Callable[[], str]) -> None:
        self.clock = clock
        self.executor = executor
        self.runs: dict[RunId, InMemoryRun] = {}
        self.locks = Locks()
        self.inbox = Inbox()
        self._ids = ids
        self._started: dict[tuple[str, str], tuple[RunId, str]] = {}
        self.does: Do | None = None  # does attempts within the decision that makes them
        self._queue: deque[tuple[RunId, RunInput]] = deque()
        self._pumping = False

    # -- what callers do -----------------------------------------------------------------------------------

    def start(
        self,
        flow: Flow,
        *,
        input: Any = None,
        subject: str | None = None,
        labels: Mapping[str, str] | None = None,
        tags: Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
        then: tuple[Outside, ...] = (),
    ) -> RunId:
        """Make a run and begin it; events in `then` are fired right after START.

        Raises InvalidInput, BadPayload, UndeclaredEvent, InvalidEvent, IdempotencyMismatch.
        """
        given = plain_payload(input, "the input")
        input = given if flow.definition.params is None else checked_input(flow, given)
        labels = {**(flow.definition.labels or {}), **(labels or {})}
        asked = "" if idempotency_key is None else key_text([given, subject, labels, flow.version])
        known = self._known(flow.name, idempotency_key, asked)
        if known is not None:
            return known
        then = tuple(checked_event(flow, event) for event in then)
        header = Header(
            id=RunId(self._ids()),
            workflow=flow.name,
            version=flow.version,
            subject=subject,
            labels=labels,
            input=input,
        )
        self.runs[header.id] = InMemoryRun(flow, new_run(header))
        if idempotency_key is not None:
            self._started[flow.name, idempotency_key] = header.id, asked
        self._queue.append((header.id, Begun(dict(tags) if tags else {})))
        self._queue.extend((header.id, event) for event in then)
        if not self._pumping:
            self._pump()
        return header.id

    def _known(self, workflow: str, key: str | None, asked: str) -> RunId | None:
        """The run that the key started before, with the input that was given. Raises IdempotencyMismatch."""
        known = None if key is None else self._started.get((workflow, key))
        if known is None or key is None:
            return None
        run, first = known
        if first != asked:  # texts, for to Python 1 and true are equal
            raise IdempotencyMismatch(key, run)
        return run

    def emit(self, run: RunId, event: Outside) -> Answer:
        """Fire an outside event into a run. Raises UndeclaredEvent, InvalidEvent."""
        return self._ask(run, checked_event(self.run_of(run).flow, event))

    def emit_by_key(self, key: Mapping[str, str], event: Outside) -> Answer:
        """Fire an outside event into the run that has the key; one that comes too early is kept for it."""
        key = {str(name): str(value) for name, value in key.items()}
        event, now = plain_event(event), self.clock.now()
        if self.inbox.repeats(event, now):
            return "duplicate"
        run = self.inbox.find(key)
        if run is None:
            self.inbox.keep(key, event, now)
            self.inbox.remember(event, now)
            return "accepted"
        live_run = self.run_of(run)
        event = checked_event(live_run.flow, event)
        self.inbox.remember(event, now)
        return self._ask(run, _with_scoped_id(live_run, event))

    def undelivered(self) -> tuple[Undelivered, ...]:
        """The events of the last seven days that no run has taken, each with the reason."""
        return self.inbox.undelivered(self.clock.now())

    def refused_keys(self) -> tuple[RefusedKey, ...]:
        """The correlation keys that runs were refused, because another live run has them."""
        return self.inbox.refused(self.clock.now())

    def cancel(self, run: RunId, force: bool = False) -> None:
        """Cancel a run. Raises RunEnded."""
        if self._ask(run, Canceled(force)) == "refused":
            raise RunEnded(run, self.run_of(run).snapshot.status)

    def pause(self, run: RunId) -> None:
        """Dispatch nothing new of a run. Raises RunEnded."""
        if self._ask(run, Paused()) == "refused":
            raise RunEnded(run, self.run_of(run).snapshot.status)

    def resume(self, run: RunId) -> None:
        """Resume a paused run. Raises RunEnded."""
        if self._ask(run, Resumed()) == "refused":
            raise RunEnded(run, self.run_of(run).snapshot.status)

    def retry(self, run: RunId, step: str | None = None) -> None:
        """Put back what failed. Raises NotRetryable, Invalid."""
        validate_step(self.run_of(run).flow, step)
        if self._ask(run, Retried(step)) == "refused":
            raise NotRetryable(run, self.run_of(run).snapshot.status)

    def disable(self, run: RunId, step: str, port: str | None = "done") -> None:
        """R9 for one run: the step ends on `port` at once, None makes it work again. Raises Invalid, RunEnded."""
        live_run = self.run_of(run)
        if self._ask(run, Disabled(step, port)) == "refused":
            if live_run.snapshot.ended:
                raise RunEnded(run, live_run.snapshot.status)
            raise not_disabled(live_run.flow, step, port)

    def close(self) -> None:
        """Stop: no timer of any run fires, and no loop of decisions continues."""
        for live_run in self.runs.values():
            live_run.silence()

    def run_of(self, run: RunId) -> InMemoryRun:
        """Raises UnknownRun."""
        live_run = self.runs.get(run)
        if live_run is None:
            raise UnknownRun(run)
        return live_run

    # -- the doing of plans --------------------------------------------------------------------------------

    def _ask(self, run: RunId, run_input: RunInput) -> Answer:
        """Let one thing happen at once and tell how it was taken. Not from inside a plan."""
        live_run = self.run_of(run)
        batch = [run_input]
        if live_run.unfinished:
            continue_last(batch)
        plan = advance(live_run.flow, live_run.snapshot, batch, self.clock.now())
        self._apply(live_run, plan)
        if not self._pumping:
            self._pump()
        return plan.answers[0]

    def _post(self, run: RunId, run_input: RunInput) -> None:
        self._queue.append((run, run_input))
        if not self._pumping:
            self._pump()

    def _pump(self) -> None:
        """Work off the queue; a task that ends at once only adds to it, so nothing nests."""
        self._pumping = True
        queue = self._queue
        try:
            while queue:
                run, run_input = queue.popleft()
                batch = [run_input]
                while queue and queue[0][0] == run:
                    batch.append(queue.popleft()[1])
                live_run = self.runs[run]
                if live_run.unfinished:
                    continue_last(batch)
                flow, snapshot, now = live_run.flow, live_run.snapshot, self.clock.now()
                if self.does is None:
                    self._apply(live_run, advance(flow, snapshot, batch, now))
                else:
                    self._apply(live_run, play_through(flow, snapshot, batch, now, self.does))
        finally:
            self._pumping = False

    def _apply(self, live_run: InMemoryRun, plan: Plan) -> None:
        before, live_run.snapshot = live_run.snapshot, plan.snapshot
        live_run.history += plan.history
        run = plan.snapshot.run.id
        if plan.releases or plan.acquires:
            self._lock(run, plan)
        for element in plan.withdrawn:
            self.executor.withdraw(run, element)
        for timer in plan.timers:
            self._set_alarm(live_run, timer.due, partial(self._post, run, timer.input))
        for attempt in plan.attempts:
            self.executor.begin(attempt, partial(self._post, run))
        if plan.unfinished or live_run.unfinished:
            self._go_on(live_run, plan.unfinished)
        if plan.correlations or plan.emissions:
            self._correlate(run, plan)
        if before.status != plan.snapshot.status:
            self._changed(run, live_run)

    def _set_alarm(self, live_run: InMemoryRun, due: datetime, call: Callable[[], None]) -> None:
        """Ring at that time, unless the run has ended before."""

        def fire() -> None:
            live_run.alarms.discard(alarm)
            call()

        alarm = self.clock.at(due, fire)
        live_run.alarms.add(alarm)

    def _go_on(self, live_run: InMemoryRun, unfinished: bool) -> None:
        """Let other runs proceed before a loop of decisions continues; it could block them forever."""
        waits, live_run.unfinished = live_run.unfinished, unfinished
        if unfinished and not waits:
            self._set_alarm(live_run, self.clock.now(), partial(self._continue, live_run))

    def _continue(self, live_run: InMemoryRun) -> None:
        if live_run.unfinished:
            live_run.unfinished = False
            self._post(live_run.snapshot.run.id, CONTINUED)

    def _lock(self, run: RunId, plan: Plan) -> None:
        granted = []
        for request in plan.acquires:
            if self.locks.acquire(request.key, request.limit, (run, request.element)):
                granted.append((run, request.element))
        for release in plan.releases:
            granted += self.locks.release(release.key, (run, release.element))
        self._queue.extend((holder, Granted(*element)) for holder, element in granted)

    def _correlate(self, run: RunId, plan: Plan) -> None:
        now = self.clock.now()
        for key in plan.correlations:
            for number, kept in self.inbox.bind(run, key, now):
                self.inbox.settle(number, self._deliver(run, kept.event))
        for emission in plan.emissions:
            event = Outside(event=emission.event, data=emission.data, set=emission.set, id=emission.id)
            if self.inbox.repeats(event, now):
                continue
            self.inbox.remember(event, now)
            found = self.inbox.find(emission.key)
            reason = NO_RUN if found is None else self._deliver(found, event)
            if reason is not None:
                self.inbox.keep(emission.key, event, now, reason)

    def _deliver(self, run: RunId, event: Outside) -> str | None:
        """Queue an event for its run; if it does not fit, return the reason, because its sender is not waiting."""
        live_run = self.run_of(run)
        try:
            event = checked_event(live_run.flow, event)
        except Invalid as error:
            return str(error)
        self._queue.append((run, _with_scoped_id(live_run, event)))
        return None

    def _changed(self, run: RunId, live_run: InMemoryRun) -> None:
        if live_run.snapshot.ended:
            self.inbox.forget(run, live_run.snapshot.keys)
            live_run.silence()
        for watcher in list(live_run.watchers):
            watcher(live_run.snapshot)


def _with_scoped_id(live_run: InMemoryRun, event: Outside) -> Outside:
    """Found by key, an id is unique within its event: one that another event had in this run is no repeat."""
    if event.id is None:
        return event
    came = live_run.ids.setdefault(event.id, _came_with(live_run, event.id) or event.event)
    return event if came == event.event else replace(event, id=f"{event.event}/{event.id}")


def _came_with(live_run: InMemoryRun, id: str) -> str | None:
    """The event that has had the id in the run."""
    number = live_run.snapshot.seen.get(id)
    # The entry with that number is the event itself, or the `set` that goes before it.
    entries = () if number is None else live_run.history[number - 1 : number + 1]
    return next((entry.event for entry in entries if entry.event), None)
