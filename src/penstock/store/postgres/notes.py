"""Small things that the installation remembers by name: rows of `setting` whose names begin with `note/`."""

from __future__ import annotations

from penstock.store.postgres.database import Database, Work

SPACE = "note/"


class PostgresNotes:
    """See `store.protocol.Notes`."""

    database: Database

    async def note(self, name: str, value: str, *, first: bool = False) -> str:
        async def work(work: Work) -> str:
            await work.rows("keep_setting" if first else "put_setting", name=SPACE + name, value=value)
            return str(await work.value("read_setting", name=SPACE + name))

        return await self.database.transact(work)

    async def notes(self, prefix: str) -> dict[str, str]:
        rows = await self.database.read("list_settings", prefix=SPACE + prefix)
        return {row["name"][len(SPACE) :]: row["value"] for row in rows}
