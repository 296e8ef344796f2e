"""Messages that wait to be published."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.store.rows.change import Change
from penstock.store.rows.outbox import OutboxMessageRow, OutboxRow
from penstock.store.sqlite.session import Session, moment, reads, structs, writes


def insert_outbox_messages(session: Session, changes: Sequence[Change]) -> None:
    """Put what changes publish into the outbox, in their order."""
    rows = [(c.run, message) for c in changes for message in c.outbox_messages]
    ids = session.numbers(len(rows))
    letters = (
        (id, message.bus, message.topic, run, message.body, session.now)
        for id, (run, message) in zip(ids, rows, strict=True)
    )
    session.many("insert_letter", list(letters))


def _outbox_messages(session: Session, bus: str, limit: int) -> list[OutboxMessageRow]:
    found: list[OutboxMessageRow] = []
    topic = ""
    while (following := session.row("next_topic", (bus, topic))) is not None:
        (topic,) = following
        rows = session.rows("letters_of_topic", (bus, topic, limit))
        found += [OutboxMessageRow(id, run, topic, body) for id, run, body in rows]
    return found


def _sent(session: Session, messages: Sequence[int]) -> None:
    session.many("drop_letter", [(id,) for id in messages])


def _outbox(session: Session) -> list[OutboxRow]:
    return structs(OutboxRow, session.rows("outbox_sizes"), oldest=moment)


class SqliteOutbox:
    """See `store.protocol.Outbox`."""

    outbox_messages = reads(_outbox_messages)
    sent = writes(_sent)
    outbox = reads(_outbox)
