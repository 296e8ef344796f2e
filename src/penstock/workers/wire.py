"""The types that workers and servers exchange about tasks (docs/spec/worker.md)."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

MAX_BATCH = 1000
"""Tasks in one poll, and items in one report."""
MAX_POLL_SECONDS = 30
"""Seconds that a poll may wait."""

Name = Annotated[str, Meta(min_length=1, max_length=256)]
Lists = Annotated[list[Name], Meta(min_length=1, max_length=100)]
Tasks = Annotated[list[Name], Meta(max_length=10_000)]
Seconds = Annotated[float, Meta(ge=0, le=1e9)]
Level = Literal["debug", "info", "warning", "error"]
ErrorKind = Literal["error", "fatal", "timeout", "lost", "expression", "too_large", "egress", "child"]


class Poll(Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """A worker asks for work. `task_list` is short for one of `task_lists`; without `tasks` it takes any."""

    worker: Name
    task_list: Name | None = None
    task_lists: Lists | None = None
    tasks: Tasks | None = None
    max: Annotated[int, Meta(ge=1)] = 1
    wait: Annotated[float, Meta(ge=0, le=MAX_POLL_SECONDS)] = MAX_POLL_SECONDS


class RunOf(Struct):
    """The run of a task."""

    id: str
    workflow: str
    version: int
    subject: str | None


class Left(Struct):
    """Seconds that are left of each time-out; null: there is none."""

    heartbeat: float
    start_to_close: float | None = None
    schedule_to_close: float | None = None


class Given(Struct):
    """One task for this worker. `id` is the same over all attempts, `lease` goes with everything said of it."""

    id: str
    lease: str
    task: str
    attempt: int
    run: RunOf
    step: str
    index: int | None
    params: Any
    input: dict[str, Any]
    events: dict[str, Any]
    data: Any
    tags: dict[str, Any]
    timeouts: Left
    deadline: datetime | None
    idempotency_key: str
    task_list: str
    expires: datetime


class Polled(Struct):
    """Work, or none; `now` is the server's time, by which `expires` and `deadline` are meant."""

    tasks: list[Given]
    now: datetime


class Error(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """Why a task failed."""

    message: str
    kind: ErrorKind | None = None  # `error`, or `fatal` where it is not to be tried again
    detail: Any = None


class Line(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """One line that a task wrote."""

    text: str
    level: Level = "info"
    at: Annotated[datetime, Meta(tz=True)] | None = None

    def __post_init__(self) -> None:
        if self.at is not None and not 1 < self.at.year < 9999:
            raise ValueError("Object has a time in field `at` that is out of the calendar")


Lines = Annotated[list[Line | str], Meta(max_length=10_000)]


class Completion(Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """A task ended on a port."""

    port: Name = "done"
    output: Any = None
    tags: dict[str, Any] | None = None
    set: dict[str, Any] | None = None
    correlate: dict[str, str] | None = None


class Fault(Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """A task failed. Without `retry` the step's budget decides; false: never again."""

    error: Error | str
    retry: bool | None = None
    retry_after: Seconds | None = None


class Sign(Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """The task runs, and how far it is."""

    progress: Any = None


class Nothing(Struct, forbid_unknown_fields=True):
    """No more is to be said."""


class Written(Struct, forbid_unknown_fields=True, kw_only=True):
    """What the task wrote."""

    lines: Lines


class Item(Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """One thing said of one task: exactly one of the last five."""

    id: Name
    lease: str
    complete: Completion | UnsetType = UNSET
    fail: Fault | UnsetType = UNSET
    release: Nothing | UnsetType = UNSET
    heartbeat: Sign | UnsetType = UNSET
    log: Written | UnsetType = UNSET


class Items(Struct, forbid_unknown_fields=True, kw_only=True):
    """Many things at once, by one worker."""

    worker: Name
    items: Annotated[list[Item], Meta(max_length=MAX_BATCH)]


class Told(Struct, omit_defaults=True, kw_only=True):
    """How one item was taken: 200, or the status, code and sentence that it alone would have been answered with."""

    id: str
    status: int
    code: str | None = None
    detail: str | None = None
    cancel: bool | None = None
    deadline: datetime | None = None
    expires: datetime | None = None


class AllTold(Struct):
    """An answer for each item, in their order."""

    items: list[Told]
    now: datetime


class Offered(Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """A task as a worker offers it, with JSON Schemas: `parameters` of its `with`, `output` of what it gives on `done`.

    `outputs` are those of its other ports, `sets` that of what it sets on the run's data.
    """

    name: Name
    title: Annotated[str, Meta(max_length=200)] = ""
    doc: Annotated[str, Meta(max_length=10_000)] = ""
    parameters: dict[str, Any] = {}
    ports: Annotated[tuple[Name, ...], Meta(min_length=1, max_length=100)] = ("done", "failed")
    task_list: Name | None = None
    output: dict[str, Any] | None = None
    outputs: dict[Name, dict[str, Any]] = {}
    sets: dict[str, Any] | None = None


class Offers(Struct, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """A worker is there, and what it can do. `name` is for people; a worker's id is new at every start."""

    worker: Name
    offers: Annotated[list[Offered], Meta(max_length=MAX_BATCH)]
    name: Name | None = None
    task_lists: Lists | None = None
    concurrency: Annotated[int, Meta(ge=1, le=1_000_000)] = 1


class Leaving(Struct, forbid_unknown_fields=True, kw_only=True):
    """A worker goes, or takes no more work."""

    worker: Name
