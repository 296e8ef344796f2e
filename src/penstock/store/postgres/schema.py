"""Migrates the schema: each step whole or not at all, and by one process at a time."""

from __future__ import annotations

from penstock.store.postgres.commit.column_arrays import advisory
from penstock.store.postgres.database import Database, Work
from penstock.store.sql.migrations import Migration, missing, read_migrations

MIGRATIONS = read_migrations("penstock.store.postgres")

MIGRATION_TIMEOUT = 365 * 86_400.0
"""Seconds: the driver takes None for the limit of all other statements."""


async def migrate(
    database: Database, may: bool = True, migrations: tuple[Migration, ...] = MIGRATIONS
) -> None:
    """Bring the schema up to date. Raises NewerSchema, and NeedsMigration where `may` forbids it."""
    if not missing(migrations, await database.transact(read_schema, changes=False), may):
        return
    while await database.transact(lambda work: _step(work, may, migrations)):
        pass


async def _step(work: Work, may: bool, migrations: tuple[Migration, ...]) -> bool:
    """Do the next step, if there is one."""
    # Who waits for a lock makes all others wait behind: rather give up, and try again.
    await work.connection.execute("SET LOCAL lock_timeout = '5s'")
    await work.rows("lock_keys", keys=[advisory("migrate")])
    step = next(iter(missing(migrations, await read_schema(work), may)), None)
    if step is None:
        return False
    # A step takes the time that the tables need: with a limit, one that is slow could never be done.
    await work.connection.execute("SET LOCAL statement_timeout = 0")
    await work.connection.execute(step.sql, timeout=MIGRATION_TIMEOUT)
    await work.rows("put_setting", name="schema", value=str(step.number))
    return True


async def read_schema(work: Work) -> int:
    """The schema's number; 0 where there is none yet."""
    if not await work.value("schema_there"):
        return 0
    return int(await work.value("read_setting", name="schema") or 0)
