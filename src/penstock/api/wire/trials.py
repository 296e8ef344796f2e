"""A draft that is tried, on the wire."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct, field

from penstock.api.wire.runs import Entry, Json, Run, Subject
from penstock.api.wire.workflows import Definition, Text


class StubError(Struct, forbid_unknown_fields=True):
    """A failure; with `retry` the step's own retries count."""

    message: str
    retry: bool = False


class TryStub(Struct, forbid_unknown_fields=True, kw_only=True):
    """What a step comes to: its port and output, or an error."""

    port: str | None = None
    output: Json = None
    tags: dict[str, Json] | None = None
    set: dict[str, Json] | None = None
    error: str | StubError | None = None


class TryEvent(Struct, forbid_unknown_fields=True):
    """An outside event that comes right after the start."""

    event: str
    data: Json = None


class Try(Struct, forbid_unknown_fields=True, kw_only=True):
    """A run in memory of `definition`, or of the draft. A step without a stub ends on `done` with null.

    `stubs`: step → what it comes to, or one such a try. `until`: the step after which to stop, or {before: step},
    {after: step}. `from`: what leads to that step ends at once. `real`: steps without a stub do their work with the
    tasks of this server, all of them or those that are named; what they do outside is done.
    """

    definition: Definition | Text | None = None
    input: Json = None
    subject: Subject | None = None
    stubs: dict[str, TryStub | list[TryStub]] = {}
    events: list[TryEvent] = []
    until: str | dict[Literal["before", "after"], str] | None = None
    from_: str | None = field(name="from", default=None)
    real: bool | list[str] = False


class Tried(Struct):
    """The run as it came to rest, or was `stopped`: where it should, after its time, or because it is too long.

    `absent`: steps that should do their work, but this server has no task for them; they ended as stubs.
    """

    run: Run
    history: list[Entry]
    stopped: Literal["until", "time", "long"] | None
    absent: list[str] = []
