"""What is known about a net: facts as data, each with the trace that shows it."""

from __future__ import annotations

from typing import Generic, NamedTuple, TypeVar

from msgspec import Struct

from penstock.kernel.proof.trace import Trace

T = TypeVar("T")


class Answer(NamedTuple, Generic[T]):
    """What a search was made for, whether it saw all that it had to, and how many states."""

    found: T
    complete: bool
    states: int


class Deadlock(Struct, frozen=True):
    """A stalled state: the steps that starve and the events each of them misses."""

    trace: Trace
    starving: dict[str, tuple[str, ...]]


class Unbounded(Struct, frozen=True):
    """A loop that piles `event` up at `step`; the trace ends with one turn of it."""

    trace: Trace
    step: str
    event: str


class Leftover(Struct, frozen=True):
    """A success that leaves events waiting at a join."""

    trace: Trace
    step: str
    events: tuple[str, ...]


class Analysis(Struct, frozen=True, kw_only=True):
    """All that the proof found. `complete`: everything was seen; only then does silence prove anything."""

    dead: tuple[str, ...] = ()
    deadlock: Deadlock | None = None
    no_end: Trace | None = None
    unbounded: Unbounded | None = None
    fail_without_failure: Trace | None = None
    fires_twice: dict[str, Trace] = {}
    leftover: Leftover | None = None
    complete: bool = True
    states: int = 0
    covered: str = ""
    assumes: tuple[str, ...] = ()
