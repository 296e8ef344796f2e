"""The chain of the audit log: each hash covers the entry before, so a changed or deleted row shows."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from hashlib import sha256

import msgspec

from penstock.store.rows.access import Audited, AuditHead, AuditRow

START = AuditHead(0, b"")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def chained(head: AuditHead, at: datetime, rows: Sequence[AuditRow]) -> list[Audited]:
    """Rows as the next entries after `head`."""
    entries: list[Audited] = []
    number, last = head.number, head.hash
    for row in rows:
        number += 1
        last = hash_of(last, number, at, row)
        entries.append(Audited(number=number, at=at, row=row, hash=last))
    return entries


def hash_of(last: bytes, number: int, at: datetime, row: AuditRow) -> bytes:
    """The hash of an entry: SHA-256 over the hash before it and its columns as a JSON list."""
    columns = [number, (at - _EPOCH) // timedelta(microseconds=1), *msgspec.structs.astuple(row)]
    return sha256(last + msgspec.json.encode(columns)).digest()


def write_head(entry: Audited) -> str:
    """Where the record ends, as the setting `audit`."""
    return f"{entry.number} {entry.hash.hex()}"


def read_head(setting: str | None) -> AuditHead:
    """The setting `audit`."""
    if setting is None:
        return START
    number, _, hash = setting.partition(" ")
    return AuditHead(int(number), bytes.fromhex(hash))
