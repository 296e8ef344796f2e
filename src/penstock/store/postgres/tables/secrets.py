"""Named secrets, sealed."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.store.postgres.database import Database, Work
from penstock.store.postgres.tables.audit_log import changed, note_one
from penstock.store.rows.access import AuditRow, SecretRow


class PostgresSecrets:
    """See `store.protocol.Secrets`."""

    database: Database

    async def put_secret(
        self,
        name: str,
        key_id: str,
        sealed: bytes,
        known: Sequence[str] = (),
        audit: AuditRow | None = None,
        *,
        was: bytes | None = None,
    ) -> SecretRow | None:
        new = {"name": name, "key_id": key_id, "sealed": sealed}

        async def work(work: Work) -> SecretRow | None:
            if was is None:
                await work.rows("lock_secrets")
                rows = await work.rows("put_secret", **new, known=list(known))
            else:
                rows = await work.rows("reseal_secret", **new, was=was)
            if not rows:
                return None
            await note_one(work, audit)
            return SecretRow(**rows[0])

        return await self.database.transact(work)

    async def drop_secret(self, name: str, audit: AuditRow | None = None) -> bool:
        return await changed(self.database, "drop_secret", audit, name=name)

    async def secret_keys(self) -> dict[str, str]:
        return dict(await self.database.read("secret_keys"))

    async def secrets(
        self, names: Sequence[str] | None = None, *, after: str = "", limit: int = 0
    ) -> list[SecretRow]:
        if names is None:
            rows = await self.database.read("list_secrets", after=after, limit=limit)
            return [SecretRow(**row) for row in rows]
        rows = await self.database.read("one_secret", names=list(names))
        return sorted((SecretRow(**row) for row in rows), key=lambda row: row.name)
