"""Runs on the wire."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from penstock.api.paging import Paged
from penstock.flow.model.plan import EntryKind
from penstock.flow.model.run import Status
from penstock.runtime.commands.verbs import Version

Key = Annotated[str, Meta(min_length=1, max_length=256)]
Subject = Annotated[str, Meta(min_length=1, max_length=1000)]
LabelName = Annotated[str, Meta(min_length=1, max_length=100, pattern="^[^=]+$")]
LabelValue = Annotated[str, Meta(max_length=256)]
Labels = Annotated[dict[LabelName, LabelValue], Meta(max_length=50)]
Json = Any


class StartRun(Struct, forbid_unknown_fields=True, kw_only=True):
    """A run to be started."""

    subject: Subject | None = None
    input: Json = None
    idempotency_key: Key | None = None
    labels: Labels | None = None
    version: Version | None = None


class Failure(Struct):
    kind: str
    message: str
    detail: Json = None


class Elements(Struct):
    total: int
    done: int
    failed: int


class StepState(Struct):
    """A step in a run: that of its latest firing."""

    status: Literal["blocked", "ready", "running", "complete", "failed", "canceled", "disabled"]
    reason: str | None
    firings: int
    attempts: int
    port: str | None
    output: Json
    error: Failure | None
    elements: Elements | None


class Starving(Struct):
    step: str
    missing: list[str]


class SetAside(Struct):
    step: str
    event: str
    reason: str


class Run(Struct):
    """A run as it is now."""

    id: str
    workflow: str
    version: int
    subject: str | None
    status: Status
    ending: Literal["failed", "canceled", "timed_out"] | None
    input: Json
    data: Json
    tags: dict[str, Json]
    result: Json
    labels: dict[str, str]
    keys: dict[str, str]
    parent: str | None
    rerun_of: str | None
    started_at: str
    ended_at: str | None
    error: Failure | None
    waiting_for: list[str]
    starving: list[Starving]
    set_aside: list[SetAside]
    steps: dict[str, StepState]


class Started(Run, kw_only=True):
    """The run; `duplicate`: it was there already, by its idempotency key."""

    duplicate: bool


class Entry(Struct):
    """One line of a run's history."""

    seq: int
    at: str
    kind: EntryKind
    step: str | None
    event: str | None
    port: str | None
    attempt: int | None
    firing: int | None
    started_at: str | None  # of the end of an attempt that waited for a worker: when one had it
    data: Json


class HistoryQuery(Paged, kw_only=True, forbid_unknown_fields=True):
    """`after`: the number of the last entry that is known."""

    limit: Annotated[int, Meta(ge=1, le=1000)] = 100
    after: Annotated[int, Meta(ge=0, le=2**63 - 1)] = 0

    @property
    def begin(self) -> int:
        return self.place(int) or self.after


class LogLine(Struct):
    """What a task wrote."""

    id: int
    at: str
    step: str
    index: int | None
    attempt: int
    level: str
    text: str


class SetStep(Struct, forbid_unknown_fields=True, kw_only=True):
    """True: the step ends on `done` at once; a port: on that; false: it works again."""

    disabled: bool | str


class CallWorkflow(Struct, forbid_unknown_fields=True, kw_only=True):
    """A workflow as a function, within `timeout` seconds."""

    subject: Subject | None = None
    input: Json = None
    version: Version | None = None
    timeout: Annotated[float, Meta(ge=0.001, le=300)] = 30.0


class Called(Struct):
    """What came of it."""

    status: Status
    result: Json
    data: Json
    tags: dict[str, Json]
    steps: dict[str, StepState]
    error: Failure | None


class StreamQuery(Struct, kw_only=True, forbid_unknown_fields=True):
    """`after`: the number of the last history entry that is known."""

    after: Annotated[int, Meta(ge=0, le=2**63 - 1)] | None = None
