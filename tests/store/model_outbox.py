"""The outbox of the reference model."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from penstock.store.rows.change import Change
from penstock.store.rows.outbox import OutboxMessage, OutboxMessageRow, OutboxRow


class ModelOutbox:
    """By number, as they were put in."""

    def __init__(self) -> None:
        self.waiting: dict[int, tuple[str, OutboxMessage, datetime]] = {}
        self.posted = 0

    def _publish(self, change: Change, now: datetime) -> None:
        for letter in change.outbox_messages:
            self.posted += 1
            self.waiting[self.posted] = change.run, letter, now

    async def outbox_messages(self, bus: str, limit: int) -> list[OutboxMessageRow]:
        rows = [
            OutboxMessageRow(id, run, letter.topic, letter.body)
            for id, (run, letter, _) in self.waiting.items()
            if letter.bus == bus
        ]
        topics = sorted({row.topic for row in rows})
        return [row for topic in topics for row in [row for row in rows if row.topic == topic][:limit]]

    async def sent(self, letters: Sequence[int]) -> None:
        for id in letters:
            self.waiting.pop(id, None)

    async def outbox(self) -> list[OutboxRow]:
        places = sorted({(letter.bus, letter.topic) for _, letter, _ in self.waiting.values()})
        times = {
            place: [at for _, letter, at in self.waiting.values() if (letter.bus, letter.topic) == place]
            for place in places
        }
        return [OutboxRow(*place, len(times[place]), min(times[place])) for place in places]
