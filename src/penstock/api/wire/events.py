"""Events from outside on the wire."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from penstock.api.wire.runs import Json, Key

Word = Annotated[str, Meta(min_length=1, max_length=256)]


class Event(Struct, forbid_unknown_fields=True, kw_only=True):
    """An event for a run. `set` changes the run's data; a second event with the same `id` changes nothing."""

    event: Word
    data: Json = None
    set: dict[str, Json] | None = None
    id: Key | None = None


class KeyedEvent(Event):
    """An event for the run that has one of the keys."""

    key: Annotated[dict[Word, str], Meta(min_length=1, max_length=100)]


class EventTaken(Struct):
    """`recorded`: it is in the history of the run, and nothing acts on it."""

    status: Literal["accepted", "recorded", "duplicate"]
    duplicate: bool


class Undelivered(Struct):
    """An event that no run has taken, and why."""

    id: int
    event: str
    key: dict[str, str]
    data: Json
    set: dict[str, Json] | None
    event_id: str | None
    at: str
    until: str
    reason: str


class Redelivered(Struct):
    id: int
    redelivered: bool
