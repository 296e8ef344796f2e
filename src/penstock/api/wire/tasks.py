"""One task on the wire. Types that workers also use are in `penstock.workers.wire`."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from msgspec import Struct

from penstock.workers.wire import Error, Lines, Name, Seconds


class Heartbeat(Struct, forbid_unknown_fields=True, kw_only=True):
    """The task runs, and how far it is."""

    lease: str
    progress: Any = None


class Renewed(Struct, kw_only=True):
    """The lease lasts until `expires`, the attempt until `deadline`; `now` is the server's time."""

    cancel: bool
    deadline: datetime | None
    expires: datetime
    now: datetime


class Complete(Struct, forbid_unknown_fields=True, kw_only=True):
    """The task ended on a port."""

    lease: str
    port: Name = "done"
    output: Any = None
    tags: dict[str, Any] | None = None
    set: dict[str, Any] | None = None
    correlate: dict[str, str] | None = None


class Fail(Struct, forbid_unknown_fields=True, kw_only=True):
    """The task failed. Without `retry` the step's budget decides; false: never again."""

    lease: str
    error: Error | str
    retry: bool | None = None
    retry_after: Seconds | None = None


class Release(Struct, forbid_unknown_fields=True, kw_only=True):
    """The task was not begun."""

    lease: str


class Log(Struct, forbid_unknown_fields=True, kw_only=True):
    """Lines that the task wrote: texts, or `{text, level, at}`."""

    lease: str
    lines: Lines


class TaskTaken(Struct):
    """It was taken, and is durable."""

    status: Literal["taken"]
