"""The seam to what waits to be published: written with the decision that made it, gone when the broker has it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

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
    """How many letters wait for a topic, and since when."""

    bus: str
    topic: str
    waiting: int
    oldest: datetime


class Outbox(Protocol):
    """What waits to be published."""

    async def letters(self, bus: str, limit: int) -> list[OutboxMessageRow]:
        """Those that wait for a bus: of each topic the oldest, in their order, up to `limit`."""
        ...

    async def sent(self, letters: Sequence[int]) -> None:
        """Delete letters that the broker has."""
        ...

    async def outbox(self) -> list[OutboxRow]:
        """What waits, by bus and topic."""
        ...
