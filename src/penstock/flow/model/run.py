"""A run as a value: what `advance` reads and gives back. Nothing here acts."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal, NewType, get_args

from immutables import Map
from msgspec import Struct

from penstock.flow.model.tags import NO_TAGS, Tags
from penstock.kernel.marking import EMPTY, Marking, Taken, Token

RunId = NewType("RunId", str)
Status = Literal["running", "waiting", "paused", "stalled", "succeeded", "failed", "canceled", "timed_out"]
Ending = Literal["failed", "canceled", "timed_out"]
StepStatus = Literal["blocked", "ready", "running", "complete", "failed", "canceled", "disabled"]
Pauser = Literal["run", "workflow", "installation"]
STATUSES: tuple[Status, ...] = get_args(Status)
ENDED = frozenset({"succeeded", "failed", "canceled", "timed_out"})


class Header(Struct, frozen=True, kw_only=True):
    """What a run is and never changes."""

    id: RunId
    workflow: str
    version: int = 1
    subject: str | None = None
    labels: dict[str, str] = {}
    input: Any = None
    parent: str | None = None
    rerun_of: str | None = None
    tags: dict[str, Any] = {}  # those that it began with
    by: str | None = None  # who started it, where that is known


class Origin(Struct, frozen=True, array_like=True, gc=False):
    """Where an event came from and what it carries: shared by all its copies."""

    data: Any
    tags: Tags
    at: datetime
    step: str | None = None
    outside: bool = False
    id: str | None = None
    firing: int | None = None


class Failure(Struct, frozen=True, omit_defaults=True):
    """Why a firing failed."""

    kind: str
    message: str
    detail: Any = None


class Firing(Struct, frozen=True, array_like=True, gc=False):
    """One execution of a step that has begun and not ended. `number` is its place in the history."""

    number: int
    step: str
    taken: Taken
    at: datetime
    tags: Tags = NO_TAGS
    total: int | None = None  # of `each`: how many elements
    items: tuple[Any, ...] = ()
    begun: int = 0  # the index up to which elements have been started
    live: int = 0  # started and not ended
    done: int = 0
    failed: int = 0
    attempts: int = 0  # of elements that have ended


ElementState = Literal["queued", "running", "backoff", "key", "sleep", "paused", "parked"]
ElementKey = tuple[int, int | None]


class Element(Struct, frozen=True, array_like=True, gc=False):
    """What is tried: one item of an `each`, or the whole firing (index None), under its two budgets."""

    firing: int
    index: int | None
    step: str
    state: ElementState
    params: Any = None
    attempt: int = 0
    failures: int = 0
    timeouts: int = 0
    multiplier: float = 1
    key: str | None = None
    output: Any = None  # of a sleeping one: what it will end with

    @property
    def id(self) -> ElementKey:
        return self.firing, self.index


def attempts_of(elements: Map[ElementKey, Element], firing: Firing) -> int:
    """How many attempts a firing under way has had."""
    indexes = [None] if firing.total is None else range(firing.total)
    live = (elements.get((firing.number, index)) for index in indexes)
    return firing.attempts + sum(element.attempt for element in live if element is not None)


class Result(Struct, frozen=True, gc=False):
    """What an element of an `each` came to: its output, or the error of one that failed and was collected."""

    entry: Any
    failed: bool = False


class StepState(Struct, frozen=True, array_like=True, gc=False):
    """A step in a run: that of its latest firing, with a count of firings (R12). `live` are those under way."""

    status: StepStatus = "blocked"
    firings: int = 0
    live: tuple[int, ...] = ()
    latest: int = 0
    attempts: int = 0  # of the latest firing, once it has ended
    output: Any = None
    error: Failure | None = None
    port: str | None = None
    reason: str | None = None
    elements: tuple[int, int, int] | None = None  # total, done, failed
    spoke: bool = False  # has ended on a port at least once: `output` is what it said last


NEVER_FIRED = StepState()


class Aside(Struct, frozen=True):
    """An event that a step with `match` could not key: set aside and shown (R1)."""

    step: str
    slot: int
    token: Token
    reason: str


class Snapshot(Struct, frozen=True, gc=False, kw_only=True):
    """The whole state of a run after history entry `seq`."""

    run: Header
    seq: int = 0
    status: Status = "running"
    ending: Ending | None = None
    paused: tuple[Pauser, ...] = ()  # whose pauses hold it
    started_at: datetime | None = None
    ended_at: datetime | None = None
    data: Any = None
    tags: Tags = NO_TAGS
    result: Any = None
    error: Failure | None = None
    ok: bool = False
    put_off: Map[int, Any] = Map()  # failures that `on_failure: continue` put off: firing -> its data
    marking: Marking = EMPTY
    firings: Map[int, Firing] = Map()
    elements: Map[ElementKey, Element] = Map()
    results: Map[tuple[int, int], Result] = Map()  # of `each`: what finished elements came to
    steps: Map[str, StepState] = Map()
    failed: Map[int, Firing] = Map()  # failed firings, and
    halted: Map[int, Firing] = Map()  # firings that FAIL withdrew: what `retry` puts back
    # Of a retried `each`: what it consumed -> whose results are kept.
    reused: Map[tuple[int, ...], Firing] = Map()
    came: Map[str, int] = Map()  # outside events that were acted on
    seen: Map[str, int] = Map()  # ids of outside events -> history number
    keys: Map[tuple[str, str], int] = Map()  # correlation: name and value -> history number
    disabled: Map[str, str] = Map()  # for this run only: step -> port
    aside: tuple[Aside, ...] = ()
    epoch: int = 0  # counts retries: timers of the run set before are void
    agenda: tuple[int, ...] = ()  # steps still to be looked at, where a decision stopped half-way
    revision: int = 0  # counts the plans that changed the run

    @property
    def ended(self) -> bool:
        return self.status in ENDED
