"""Named secrets, sealed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.store.rows.access import AuditRow, SecretRow
from penstock.store.sqlite.session import Row, Session, json_list, moment
from penstock.store.sqlite.tables import audit_log
from penstock.store.sqlite.writer import Writer


class SqliteSecrets:
    """See `store.protocol.Secrets`."""

    _writer: Writer

    async def put_secret(
        self, name: str, key_id: str, sealed: bytes, known: Sequence[str], audit: AuditRow | None = None
    ) -> SecretRow | None:
        values = {"name": name, "key_id": key_id, "sealed": sealed, "known": json_list(known)}
        return await self._writer.write(lambda session: _put_secret(session, values, audit))

    async def secret_keys(self) -> dict[str, str]:
        return await self._writer.read(secret_keys)

    async def secrets(
        self, names: Sequence[str] | None = None, *, after: str = "", limit: int = 0
    ) -> list[SecretRow]:
        return await self._writer.read(lambda session: _secrets(session, names, after, limit))

    async def reseal_secret(self, name: str, was: bytes, key_id: str, sealed: bytes) -> bool:
        values = (key_id, sealed, name, was)
        return bool(await self._writer.write(lambda session: session.run("reseal_secret", values)))

    async def drop_secret(self, name: str, audit: AuditRow | None = None) -> bool:
        return await self._writer.write(lambda session: _drop_secret(session, name, audit))


def _put_secret(session: Session, values: dict[str, Any], audit: AuditRow | None) -> SecretRow | None:
    rows = session.named("put_secret", {**values, "now": session.now})
    if not rows:
        return None
    audit_log.note_one(session, audit)
    return _secret(rows[0])


def secret_keys(session: Session) -> dict[str, str]:
    """See `Store.secret_keys`."""
    return dict(session.rows("secret_keys"))


def _secrets(session: Session, names: Sequence[str] | None, after: str, limit: int) -> list[SecretRow]:
    if names is None:
        return [_secret(row) for row in session.rows("list_secrets", (after, limit))]
    found = (session.row("one_secret", (name,)) for name in sorted(set(names)))
    return [_secret(row) for row in found if row is not None]


def _secret(row: Row) -> SecretRow:
    name, version, key_id, sealed, updated = row
    return SecretRow(name=name, version=version, key_id=key_id, sealed=sealed, updated_at=moment(updated))


def _drop_secret(session: Session, name: str, audit: AuditRow | None) -> bool:
    if not session.run("drop_secret", (name,)):
        return False
    audit_log.note_one(session, audit)
    return True
