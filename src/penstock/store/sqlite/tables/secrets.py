"""Named secrets, sealed."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.store.rows.access import AuditRow, SecretRow
from penstock.store.sqlite.session import Session, json_list, moment, reads, struct, structs, writes
from penstock.store.sqlite.tables import audit_log


def _put_secret(
    session: Session,
    name: str,
    key_id: str,
    sealed: bytes,
    known: Sequence[str] = (),
    audit: AuditRow | None = None,
    *,
    was: bytes | None = None,
) -> SecretRow | None:
    if was is not None:
        rows = session.rows("reseal_secret", (key_id, sealed, name, was))
    else:
        values = {"name": name, "key_id": key_id, "sealed": sealed, "known": json_list(known)}
        rows = session.named("put_secret", {**values, "now": session.now})
    if not rows:
        return None
    audit_log.note_one(session, audit)
    return struct(SecretRow, rows[0], updated_at=moment)


def secret_keys(session: Session) -> dict[str, str]:
    """See `Store.secret_keys`."""
    return dict(session.rows("secret_keys"))


def _secrets(
    session: Session, names: Sequence[str] | None = None, *, after: str = "", limit: int = 0
) -> list[SecretRow]:
    if names is None:
        rows = session.rows("list_secrets", (after, limit))
    else:
        rows = [row for name in sorted(set(names)) for row in session.rows("one_secret", (name,))]
    return structs(SecretRow, rows, updated_at=moment)


def _drop_secret(session: Session, name: str, audit: AuditRow | None = None) -> bool:
    return audit_log.changed(session, "drop_secret", (name,), audit)


class SqliteSecrets:
    """See `store.protocol.Secrets`."""

    put_secret = writes(_put_secret)
    drop_secret = writes(_drop_secret)
    secret_keys = reads(secret_keys)
    secrets = reads(_secrets)
