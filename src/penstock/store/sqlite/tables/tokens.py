"""Tokens under `/custom/`, which workers use freely."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from penstock.store.rows.access import AuditRow
from penstock.store.rows.rows import TokenChange, TokenRow
from penstock.store.sql.index_scans import LAST
from penstock.store.sqlite.session import (
    Session,
    length,
    micros,
    moment_or_none,
    reads,
    struct,
    structs,
    writes,
)
from penstock.store.sqlite.tables.audit_log import note, note_one


def _tokens(session: Session, prefix: str, after: str, limit: int) -> list[TokenRow]:
    rows = session.rows("list_tokens", (prefix, prefix + LAST, after, limit))
    return structs(TokenRow, rows, expires=moment_or_none)


def _change(
    session: Session, changes: Sequence[TokenChange], audits: Sequence[AuditRow] = ()
) -> list[TokenRow] | str:
    """All are looked at before any is written."""
    for one in changes:
        found = session.row("token_version", (one.name,))
        if (None if found is None else found[0]) != one.expect:
            return one.name
    written: list[TokenRow] = []
    for one, version in zip(changes, session.numbers(len(changes)), strict=True):
        if one.gone:
            session.run("drop_token", (one.name,))
            continue
        expires = None if one.expires is None else micros(one.expires)
        row = (one.name, version, one.owner, expires, one.priority, one.data)
        session.run("put_token", row)
        written.append(struct(TokenRow, row, expires=moment_or_none))
    note(session, audits)
    return written


def _claim(
    session: Session, owner: str, prefix: str, lease: timedelta, limit: int, audit: AuditRow | None = None
) -> list[TokenRow]:
    free = session.rows("free_tokens", (prefix, prefix + LAST, session.now, limit))
    until = session.now + length(lease)
    numbers = session.numbers(len(free))
    found = [
        session.row_changed("claim_token", (owner, until, version, name))
        for (name,), version in zip(free, numbers, strict=True)
    ]
    claimed = structs(TokenRow, (row for row in found if row is not None), expires=moment_or_none)
    if claimed:
        note_one(session, audit)
    return claimed


class SqliteTokens:
    """See `store.protocol.Tokens`."""

    tokens = reads(_tokens)
    change_tokens = writes(_change)
    claim_tokens = writes(_claim)
