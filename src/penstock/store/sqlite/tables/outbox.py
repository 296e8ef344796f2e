"""What waits to be published."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.store.rows.change import Change
from penstock.store.rows.outbox import OutboxMessageRow, OutboxRow
from penstock.store.sqlite.session import Session, moment
from penstock.store.sqlite.writer import Writer


class SqliteOutbox:
    """See `store.protocol.Outbox`."""

    _writer: Writer

    async def outbox_messages(self, bus: str, limit: int) -> list[OutboxMessageRow]:
        return await self._writer.read(lambda session: _outbox_messages(session, bus, limit))

    async def sent(self, messages: Sequence[int]) -> None:
        await self._writer.write(lambda session: session.many("drop_letter", [(id,) for id in messages]))

    async def outbox(self) -> list[OutboxRow]:
        rows = await self._writer.read(lambda session: session.rows("outbox_sizes"))
        return [OutboxRow(bus, topic, waiting, moment(oldest)) for bus, topic, waiting, oldest in rows]


def insert_outbox_messages(session: Session, changes: Sequence[Change]) -> None:
    """Put what changes publish into the outbox, in their order."""
    rows = [(c.run, message) for c in changes for message in c.outbox_messages]
    ids = session.numbers(len(rows))
    session.many(
        "insert_letter",
        [
            (id, message.bus, message.topic, run, message.body, session.now)
            for id, (run, message) in zip(ids, rows, strict=True)
        ],
    )


def _outbox_messages(session: Session, bus: str, limit: int) -> list[OutboxMessageRow]:
    found: list[OutboxMessageRow] = []
    topic = ""
    while (following := session.row("next_topic", (bus, topic))) is not None:
        (topic,) = following
        rows = session.rows("letters_of_topic", (bus, topic, limit))
        found += [OutboxMessageRow(id, run, topic, body) for id, run, body in rows]
    return found
