"""A plan: all that follows from what happened, as data. Only the shell acts on it."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from msgspec import Struct

from penstock.flow.model.retry_policy import Timeouts
from penstock.flow.model.run import ElementKey, Header, Snapshot
from penstock.flow.model.secret_references import References
from penstock.flow.model.tags import TagChange, Tags
from penstock.kernel.marking import Taken

EntryKind = Literal[
    "event",
    "fired",
    "attempt",
    "ended",
    "withdrawn",
    "set",
    "correlated",
    "conflict",
    "paused",
    "resumed",
    "repaired",
    "run_ended",
]
Answer = Literal["accepted", "duplicate", "recorded", "superseded", "refused"]


class Entry(Struct, frozen=True, gc=False):
    """One line of a run's history: gap-free, in order, never changed."""

    seq: int
    at: datetime
    kind: EntryKind
    step: str | None = None
    event: str | None = None
    port: str | None = None
    attempt: int | None = None
    data: Any = None
    firing: int | None = None
    id: str | None = None  # of an outside event; of an end: the mark of what it did to the tags
    tags: TagChange | None = None  # what it did to the tags of the run


class Attempt(Struct, frozen=True, gc=False, kw_only=True):
    """One try at an element, to be put on its task list now."""

    run: Header
    firing: int
    index: int | None
    step: str
    task: str
    attempt: int
    params: Any
    data: Any
    tags: Tags
    taken: Taken
    timeouts: Timeouts
    task_list: str
    priority: int
    ports: tuple[str, ...]
    secrets: References = {}  # what the definition names; a look-alike in `params` comes from data

    @property
    def id(self) -> str:
        """The same over all attempts: what a task may use to recognise a repeat."""
        tail = "" if self.index is None else f".{self.index}"
        return f"{self.run.id}.{self.firing}{tail}"


class Timer(Struct, frozen=True):
    """Wake the run at `due` with `input`; a stale one changes nothing."""

    due: datetime
    input: Any


class Acquire(Struct, frozen=True):
    """Queue an element for a `serialize` key: first come, first served, `limit` at a time."""

    key: str
    limit: int
    element: ElementKey


class Release(Struct, frozen=True):
    """An element gives its key back, or stops waiting for it."""

    key: str
    element: ElementKey


class Emission(Struct, frozen=True, kw_only=True):
    """An event for another run, found by its correlation key."""

    event: str
    key: dict[str, str]
    data: Any = None
    set: dict[str, Any] | None = None
    id: str | None = None


class Plan(Struct, kw_only=True):
    """What one decision leads to. `base` is the `revision` it was computed from: a stale plan is not applied."""

    base: int
    snapshot: Snapshot
    history: list[Entry]
    answers: list[Answer]
    attempts: list[Attempt]
    withdrawn: tuple[ElementKey, ...] = ()
    timers: tuple[Timer, ...] = ()
    acquires: tuple[Acquire, ...] = ()
    releases: tuple[Release, ...] = ()
    correlations: tuple[tuple[str, str], ...] = ()
    emissions: tuple[Emission, ...] = ()
    unfinished: bool = False
    touched: list[ElementKey] = []  # elements of an `each` that changed, or whose result did
