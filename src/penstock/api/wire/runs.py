"""Runs on the wire."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from penstock.flow.run import Status

Key = Annotated[str, Meta(min_length=1, max_length=256)]
Json = Any


class StartRun(Struct, forbid_unknown_fields=True, kw_only=True):
    """A run to be started."""

    subject: str | None = None
    input: Json = None
    idempotency_key: Key | None = None
    labels: dict[str, str] | None = None
    version: Annotated[int, Meta(ge=1)] | None = None


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
