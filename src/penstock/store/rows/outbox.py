"""Outgoing messages: written with their decision, deleted when the broker has accepted them."""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct


class OutboxMessage(Struct, frozen=True):
    """A message to be published on a topic of a bus, by its name in the settings."""

    bus: str
    topic: str
    body: bytes


class OutboxMessageRow(Struct, frozen=True):
    """A letter that waits; of one run and topic the lower `id` goes first."""

    id: int
    run: str
    topic: str
    body: bytes


class OutboxRow(Struct, frozen=True):
    """How many messages wait for a topic, and since when."""

    bus: str
    topic: str
    waiting: int
    oldest: datetime
