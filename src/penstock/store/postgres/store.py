"""`PostgresStore`: all roles on one database."""

from __future__ import annotations

import asyncio

from penstock.store.postgres.backups import read_backup
from penstock.store.postgres.commit.commit import PostgresCommits
from penstock.store.postgres.database import Database, read_address
from penstock.store.postgres.notifier import Listener, PostgresNotifier
from penstock.store.postgres.schema import migrate as bring_up_to_date
from penstock.store.postgres.schema import read_schema
from penstock.store.postgres.tables.access import PostgresAccess
from penstock.store.postgres.tables.approvals import PostgresApprovals
from penstock.store.postgres.tables.audit_log import PostgresAuditLog
from penstock.store.postgres.tables.drafts import PostgresDrafts
from penstock.store.postgres.tables.inbound_events import PostgresInboundEvents
from penstock.store.postgres.tables.maintenance import PostgresMaintenance
from penstock.store.postgres.tables.notes import PostgresNotes
from penstock.store.postgres.tables.outbox import PostgresOutbox
from penstock.store.postgres.tables.runs import PostgresRuns
from penstock.store.postgres.tables.secrets import PostgresSecrets
from penstock.store.postgres.tables.tasks import PostgresTasks
from penstock.store.postgres.tables.tokens import PostgresTokens
from penstock.store.postgres.tables.views import PostgresViews
from penstock.store.postgres.tables.workflow_versions import PostgresWorkflowVersions
from penstock.store.postgres.warmup import call_in_vain


class PostgresStore(
    PostgresCommits,
    PostgresRuns,
    PostgresTasks,
    PostgresInboundEvents,
    PostgresWorkflowVersions,
    PostgresDrafts,
    PostgresViews,
    PostgresTokens,
    PostgresApprovals,
    PostgresMaintenance,
    PostgresNotes,
    PostgresAccess,
    PostgresSecrets,
    PostgresAuditLog,
    PostgresOutbox,
    PostgresNotifier,
):
    """See `store.protocol.Store`. Any number of processes may have one database open."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.listener = Listener(database)
        self.hints = {}
        self.again = set()

    @classmethod
    async def open(cls, url: str, *, migrate: bool = True, warm_up: bool = False) -> PostgresStore:
        """Connect, and bring the schema up to date. Raises BadAddress, StoreAway, NeedsMigration, NewerSchema."""
        database = Database(read_address(url))
        try:
            await database.open()
            await bring_up_to_date(database, migrate)
            if warm_up:
                await database.warm_up(call_in_vain)
        except BaseException:
            await database.close()
            raise
        return cls(database)

    async def close(self) -> None:
        await self.listener.close()
        for task in self.hints.values():
            task.cancel()
        await asyncio.gather(*self.hints.values(), return_exceptions=True)
        await self.database.close()


async def restore(url: str, source: str) -> None:
    """Fill the empty database at `url` with a backup. Nothing is written where it is not whole."""
    store = await PostgresStore.open(url)
    try:
        await read_backup(store.database, source)
    finally:
        await store.close()


async def schema_at(url: str) -> int:
    """The schema of the database at `url`, as it is; 0 where there is none yet."""
    database = Database(read_address(url))
    try:
        await database.open()
        return await database.transact(read_schema, changes=False)
    finally:
        await database.close()
