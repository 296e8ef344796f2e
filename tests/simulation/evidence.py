"""What a simulation leaves behind: what callers were told, what passed the gate, and what lies in the store."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

from msgspec import Struct, field

from penstock.flow.compile.compile import Flow
from penstock.flow.model.plan import Entry
from penstock.flow.model.run import Snapshot
from penstock.runtime.dispatch.gate import Assignment, Report
from penstock.store.rows.access import AuditRow
from penstock.store.rows.change import Change
from penstock.store.rows.rows import DueTimer, Lease
from tests.faults import Watch
from tests.simulation.workload import Order

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
"""The store's time when a simulation begins."""


class Time(Protocol):
    """Whoever knows how many seconds have passed."""

    def time(self) -> float: ...


def seconds(moment: datetime) -> float:
    """The store's time as seconds since the beginning."""
    return (moment - BEGIN).total_seconds()


def moment(seconds: float) -> datetime:
    return BEGIN + timedelta(seconds=seconds)


class Held(Struct):
    """A task in the hands of a worker: from when on, and until when it may count on it."""

    lease: Lease
    worker: str
    step: str
    data: Any
    at: float
    until: float
    ended: float | None = None  # when the worker itself said that it is through, or gave it back

    @property
    def over(self) -> float:
        return self.until if self.ended is None else min(self.ended, self.until)


class Told(Struct, frozen=True):
    """A report and how it was taken."""

    at: float
    report: Report
    verdict: str


class Written(Struct, frozen=True):
    """History that a change brought: its last entry, and the true time at which it was committed."""

    run: str
    seq: int
    at: float


class Pause(Struct, frozen=True):
    """A run that was held: from when its customer was told so until he asked to let it go on."""

    run: str
    since: float
    until: float


class Halt(Struct, frozen=True):
    """A workflow, or (None) the whole installation, that was held in the same way."""

    workflow: str | None
    since: float
    until: float


class Look(Struct, frozen=True):
    """What somebody was shown who asked: `show`, `history`, `list` or `why`."""

    kind: str
    run: str
    asked: float
    told: float
    answer: Any
    known: frozenset[str]  # runs whose start was acknowledged before it was asked


class Decided(Struct, frozen=True):
    """What somebody who decided was told: `WHO: DECISION` that counts, `late`, or `barred`."""

    run: str
    who: str
    wanted: str
    told: str


class Published(Struct, frozen=True):
    """A version: when it was asked for, and when it was acknowledged."""

    workflow: str
    version: int
    asked: float
    told: float


class Ledger:
    """Everything that is seen from outside of the engine, in order, with true times."""

    def __init__(self, clock: Time) -> None:
        self.clock = clock
        self.starts: defaultdict[str, list[str]] = defaultdict(list)  # key of an order → runs it was told
        self.asked: dict[str, float] = {}  # key of an order → when its run was first asked for
        self.started: dict[str, float] = {}  # run → when its start was acknowledged
        self.visits: dict[str, str] = {}  # key of a visitor → the run that it was told
        self.refused: dict[str, str] = {}  # key of a visitor that was sent away → the code
        self.unsure: set[str] = set()  # keys of visitors that heard nothing
        self.decided: list[Decided] = []
        self.looks: list[Look] = []
        self.published: list[Published] = []
        self.poisoned: set[str] = set()  # workers that a task killed
        self.emitted: defaultdict[str, list[str]] = defaultdict(list)  # id of an event → answers
        self.canceled: dict[str, float] = {}  # run → when the cancelling was acknowledged
        self.paused: list[Pause] = []
        self.halted: list[Halt] = []
        self.mended: set[int] = set()  # numbers whose `mend` fails no more
        self.stopped: dict[str, float] = {}  # worker that was stopped in good order in calm times → when
        self.jumps: list[tuple[float, float]] = []  # the store's time after a jump, and how far it went
        self.errors: list[str] = []  # what customers were told and should not have been
        self.leased: dict[Lease, float] = {}  # when the store gave each lease
        self.held: list[Held] = []
        self.told: list[Told] = []
        self.rung: list[tuple[DueTimer, float]] = []  # timers that were handed out
        self.written: list[Written] = []
        self._by_lease: dict[Lease, Held] = {}

    def assign(self, worker: str, assignment: Assignment) -> None:
        until = assignment.expires
        if assignment.deadline is not None:
            until = min(until, assignment.deadline)
        held = Held(
            assignment.lease,
            worker,
            assignment.attempt.step,
            assignment.attempt.data,
            self.leased.get(assignment.lease, self.clock.time()),
            seconds(until),
        )
        self.held.append(held)
        self._by_lease[held.lease] = held

    def late(self, at: float) -> float:
        """Seconds by which a node that has not heard of them is late because of jumps before `at`."""
        return sum(far for jumped, far in self.jumps if jumped <= at)

    def renew(self, lease: Lease, expires: datetime | None, deadline: datetime | None) -> None:
        held = self._by_lease.get(lease)
        if held is None or expires is None:
            return
        held.until = max(held.until, seconds(expires if deadline is None else min(expires, deadline)))

    def through(self, lease: Lease) -> None:
        """The worker says that it is through with the task."""
        held = self._by_lease.get(lease)
        if held is not None and held.ended is None:
            held.ended = self.clock.time()


class GateWatch(Watch):
    """Writes down what passes the gate."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger

    def asked(self, verb: str, args: tuple[Any, ...]) -> None:
        if verb == "report":
            for report in args[0]:
                self.ledger.through(report.lease)
        elif verb == "release":
            for lease in args[0]:
                self.ledger.through(lease)

    def answered(self, verb: str, args: tuple[Any, ...], answer: Any) -> None:
        ledger = self.ledger
        if verb == "claim":
            for assignment in answer:
                ledger.assign(args[0].worker, assignment)
        elif verb == "heartbeat":
            for beat, renewal in zip(args[0], answer, strict=True):
                ledger.renew(beat.lease, renewal.expires, renewal.deadline)
        elif verb == "report":
            now = ledger.clock.time()
            ledger.told += [Told(now, *each) for each in zip(args[0], answer, strict=True)]


class StoreWatch(Watch):
    """Writes down which timers and leases were given, and when history was committed."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger

    def answered(self, verb: str, args: tuple[Any, ...], answer: Any) -> None:
        now = self.ledger.clock.time()
        if verb == "due":
            self.ledger.rung += [(timer, now) for timer in answer.timers]
        elif verb == "lease":
            self.ledger.leased.update((leased.lease, now) for leased in answer)
        elif verb == "commit":
            for change, outcome in zip(args[0], answer.outcomes, strict=True):
                if outcome == "applied":
                    self._applied(change, now)

    def _applied(self, change: Change, now: float) -> None:
        self.ledger.written.append(Written(change.run, change.seq, now))
        for task in change.tasks:
            if task.worker is not None:
                self.ledger.leased[Lease(change.run, task.firing, task.index, task.attempt, 1)] = now


class Ran(Struct, frozen=True):
    """A run as it lies in the store."""

    flow: Flow
    snapshot: Snapshot
    history: list[Entry]

    @property
    def id(self) -> str:
        return self.snapshot.run.id

    @property
    def workflow(self) -> str:
        return self.snapshot.run.workflow

    @property
    def version(self) -> int:
        return self.snapshot.run.version

    def entries(self, kind: str) -> list[Entry]:
        return [entry for entry in self.history if entry.kind == kind]


class Evidence(Struct, frozen=True, kw_only=True):
    """All that the checkers look at."""

    orders: Sequence[Order]
    ledger: Ledger
    runs: dict[str, Ran]
    in_time: bool = True  # everything ended within the time that it had after the last fault
    damage: list[str] = field(default_factory=list)  # what the store finds wrong with its rows
    left: dict[str, int] = field(default_factory=dict)  # rows of live things that are left when nothing lives
    record: list[AuditRow] = field(default_factory=list)  # who did what
    ticks: tuple[float, float] | None = (
        None  # between which times `clock` was there, and all was calm at the end
    )

    def run_of(self, order: Order) -> Ran | None:
        """The run that a customer was told."""
        told = self.ledger.starts.get(order.key)
        return self.runs.get(told[0]) if told else None
