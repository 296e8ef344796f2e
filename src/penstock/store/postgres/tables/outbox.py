"""Messages that wait to be published."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from penstock.store.postgres.database import Database, Work
from penstock.store.rows.change import Change
from penstock.store.rows.outbox import OutboxMessageRow, OutboxRow


class PostgresOutbox:
    """See `store.protocol.Outbox`."""

    database: Database

    async def outbox_messages(self, bus: str, limit: int) -> list[OutboxMessageRow]:
        async def work(work: Work) -> list[OutboxMessageRow]:
            found: list[OutboxMessageRow] = []
            topic: str | None = ""
            while (topic := await work.value("next_topic", bus=bus, after=topic)) is not None:
                rows = await work.rows("letters_of_topic", bus=bus, topic=topic, limit=limit)
                found += [OutboxMessageRow(*row) for row in rows]
            return found

        return await self.database.transact(work, changes=False)

    async def sent(self, messages: Sequence[int]) -> None:
        async def work(work: Work) -> None:
            await work.rows("drop_letter", ids=sorted(messages))

        await self.database.transact(work)

    async def outbox(self) -> list[OutboxRow]:
        return [OutboxRow(*row) for row in await self.database.read("outbox_sizes")]


async def insert_outbox_messages(work: Work, changes: Sequence[Change], now: datetime) -> None:
    """Put what changes publish into the outbox. Their runs are locked by now: of one, the order is that of the ids."""
    rows = [
        (message.bus, message.topic, c.run, message.body) for c in changes for message in c.outbox_messages
    ]
    await work.many("insert_letter", "bus topic run body", rows, now=now)
