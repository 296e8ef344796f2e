"""The rows of the reference model: what the tables of a store mean, as plain objects."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from penstock.store.rows.change import Change, NewRun, NewTask, PendingEvent
from penstock.store.rows.rows import Lease

NEVER = datetime(9999, 12, 31, tzinfo=UTC)
LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass
class Run:
    """A run with all that goes with it when it is deleted."""

    new: NewRun
    revision: int = 0
    seq: int = 0
    status: str = ""
    ended_at: datetime | None = None
    waiting: str | None = None
    head: bytes = b""
    pages: list[tuple[int, int, bytes]] = field(default_factory=list)
    parts: dict[tuple[str, int, int], bytes] = field(default_factory=dict)
    payloads: dict[bytes, bytes] = field(default_factory=dict)
    keys: set[tuple[str, str]] = field(default_factory=set)
    timings: dict[tuple[int, int, int], tuple[datetime, datetime]] = field(default_factory=dict)
    rests: dict[tuple[str, str], datetime] = field(default_factory=dict)

    def take(self, change: Change, now: datetime) -> None:
        """Write what is the run's own."""
        self.keys.update(change.keys)
        if change.rest is not None:
            self.rests = dict.fromkeys(change.rest, now)
        self.revision, self.seq, self.head = change.revision, change.seq, change.head
        self.status, self.ended_at, self.waiting = change.status, change.ended_at, change.waiting
        if change.page is not None:
            self.pages.append((change.page_from, change.seq, change.page))
        for part in change.parts:
            place = (part.kind, part.firing, part.index)
            if part.body is None:
                self.parts.pop(place, None)
            else:
                self.parts[place] = part.body
        for digest, body in change.payloads:
            self.payloads.setdefault(digest, body)


@dataclass
class Task:
    """An attempt on its task list, or leased."""

    run: str
    new: NewTask
    queued_at: datetime
    turn: int
    held: bool
    counts_from: datetime
    waits_from: datetime
    given_back: bool = False
    fence: int = 0
    worker: str | None = None
    started_at: datetime | None = None
    lease_until: datetime = NEVER
    progress: bytes | None = None
    taken_until: datetime = LONG_AGO

    @property
    def lease(self) -> Lease:
        return Lease(self.run, self.new.firing, self.new.index, self.new.attempt, self.fence)

    def give(self, worker: str, now: datetime) -> None:
        """Lease it anew."""
        self.fence += 1
        self.worker, self.started_at, self.progress = worker, now, None
        self.lease_until = now + self.new.heartbeat

    def take_back(self, held: bool, now: datetime) -> None:
        """Before all others of its list, with all its time to start; held where the rest of its run is."""
        self.given_back, self.held, self.waits_from = True, held, now
        self.worker, self.started_at, self.lease_until, self.progress = None, None, NEVER, None

    def limits(self) -> list[tuple[datetime, str]]:
        """The time-outs that run now, each with its time; of those at one time the first is told."""
        close = (self.new.schedule_to_close, self.counts_from, "schedule_to_close")
        if self.held:
            return []
        if self.started_at is None:
            spans = [(self.new.schedule_to_start, self.waits_from, "schedule_to_start"), close]
        else:
            spans = [
                (self.new.heartbeat, self.lease_until - self.new.heartbeat, "lost"),
                (self.new.start_to_close, self.started_at, "start_to_close"),
                close,
            ]
        return [(since + span, name) for span, since, name in spans if span is not None]

    def deadline(self) -> datetime | None:
        return min(
            (at for at, name in self.limits() if name not in ("lost", "schedule_to_start")), default=None
        )

    def place(self) -> tuple[int, bool, int]:
        """Where it stands in its list."""
        return (-self.new.priority, not self.given_back, self.turn)

    def expires(self) -> datetime:
        return min((at for at, _ in self.limits()), default=NEVER)

    def struck(self) -> str:
        """The limit whose time comes first."""
        return min(self.limits(), key=lambda limit: limit[0])[1]


@dataclass
class Timer:
    run: str
    due: datetime
    body: bytes
    taken_until: datetime = LONG_AGO


@dataclass
class Letter:
    run: str | None
    body: bytes
    taken_until: datetime


@dataclass
class LockRow:
    key: str
    number: int
    run: str
    firing: int
    index: int
    limit: int
    body: bytes
    held: bool = False


@dataclass
class KeptEvent:
    pending: PendingEvent
    at: datetime


@dataclass
class Id:
    """An id that came: until when it counts, and the run with which it goes."""

    until: datetime | None
    run: str | None


FIRST_LOOK = timedelta(seconds=5)
"""How long a message is left to the committer that made it."""
