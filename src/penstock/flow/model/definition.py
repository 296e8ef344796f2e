"""The model of a workflow definition: what YAML and JSON both become. `format.definition_parser` makes it.

A field is None where the definition does not say it, so that writing gives back what was read.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Literal

from msgspec import Struct

Json = Any
"""A JSON value: None, bool, int, float, str, list or dict with str keys."""

OnFailure = Literal["fail", "continue"]
EachFailure = Literal["fail", "collect"]


class Slot(Struct, frozen=True):
    """One entry of `after`: `a`, `a | b` (need None), or `{need: n, of: [...], rest: keep}`."""

    events: tuple[str, ...]
    need: int | None = None
    keep: bool = False


class Backoff(Struct, frozen=True, kw_only=True):
    """The wait after the i-th failure: initial * factor**(i-1), at most `max`, give or take `jitter`."""

    initial: timedelta | None = None
    factor: float | None = None
    max: timedelta | None = None
    jitter: float | None = None


class Timeouts(Struct, frozen=True, kw_only=True):
    """The four time-outs of one attempt."""

    schedule_to_start: timedelta | None = None
    start_to_close: timedelta | None = None
    schedule_to_close: timedelta | None = None
    heartbeat: timedelta | None = None


class Policy(Struct, frozen=True, kw_only=True):
    """The keys that a step and the workflow's `defaults` share."""

    task_list: str | None = None
    priority: int | None = None
    parallel: int | None = None
    retries: int | None = None
    backoff: Backoff | None = None
    timeout_retries: tuple[float, ...] | None = None
    timeouts: Timeouts | None = None
    warn_after: timedelta | None = None


class Step(Struct, frozen=True, kw_only=True):
    """One box. `emits` maps a port to its events, `fails` is its port `failed`; None: neither is written."""

    task: str
    title: str | None = None
    after: tuple[Slot, ...] | None = None
    emits: dict[str, tuple[str, ...]] | None = None
    params: dict[str, Json] | None = None  # the key `with`
    each: str | None = None
    each_failure: EachFailure | None = None
    serialize: str | None = None
    serialize_limit: int | None = None
    serialize_scope: str | None = None
    cancels: tuple[str, ...] | None = None
    match: str | None = None
    disabled: bool | str | None = None
    policy: Policy = Policy()


class From(Struct, frozen=True, kw_only=True):
    """Where an outside event comes from: calls of its hook, or messages of a topic."""

    kind: Literal["webhook", "topic"]
    verify: Json = None
    bus: str | None = None
    topic: str | None = None
    where: str | None = None
    key: dict[str, str] | None = None  # correlation key -> CEL
    data: str | None = None
    set: str | None = None
    id: str | None = None


class External(Struct, frozen=True, kw_only=True):
    """An event that comes from outside the workflow."""

    name: str
    many: bool | None = None
    optional: bool | None = None
    schema: Json = None
    from_: From | None = None  # the key `from`


class Source(Struct, frozen=True, kw_only=True):
    """What starts runs: `kind` and the keys of that kind, already checked."""

    kind: str = "api"
    options: dict[str, Json] = {}


EndStatus = Literal["succeeded", "failed", "canceled", "timed_out"]


class Notice(Struct, frozen=True, kw_only=True):
    """Somebody who is told: of these events and ends, of every end where neither is said; `data` is CEL.

    Either a topic of a bus, or the webhook at a `url`, signed with the secret of that name.
    """

    bus: str | None = None
    topic: str | None = None
    url: str | None = None
    secret: str | None = None
    events: tuple[str, ...] | None = None
    statuses: tuple[EndStatus, ...] | None = None
    data: str | None = None


class Definition(Struct, frozen=True, kw_only=True):
    """A whole workflow as its author wrote it."""

    name: str
    steps: dict[str, Step]
    penstock: int = 1
    title: str | None = None
    description: str | None = None
    source: Source | None = None
    external: tuple[External, ...] | None = None
    params: Json = None
    result: str | None = None
    defaults: Policy | None = None
    timeout: timedelta | None = None
    cleanup_timeout: timedelta | None = None
    on_failure: OnFailure | None = None
    endless: bool | None = None
    max_running: int | None = None
    retention: timedelta | None = None
    labels: dict[str, str] | None = None
    notify: tuple[Notice, ...] | None = None
    view: Json = None
    extra: dict[str, Json] = {}  # every `x-...` key
