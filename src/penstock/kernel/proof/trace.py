"""Traces: the outside events and firings that lead from START to a state somebody should see."""

from __future__ import annotations

from msgspec import Struct


class Event(Struct, frozen=True):
    """An event that comes from outside the run; also CANCEL and TIMEOUT."""

    name: str


class Fire(Struct, frozen=True):
    """A firing of a step that ends on a port; None for tasks without ports."""

    step: str
    port: str | None


Trace = tuple[Event | Fire, ...]
