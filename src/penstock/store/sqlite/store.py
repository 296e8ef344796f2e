"""`SqliteStore`: all roles on one file, or in memory."""

from __future__ import annotations

import asyncio
import contextlib
from datetime import UTC, datetime

import apsw

from penstock.store.errors import StoreError
from penstock.store.sqlite.commit.commit import SqliteCommits
from penstock.store.sqlite.connection import (
    Opened,
    Options,
    open_file,
    open_memory,
    open_reader,
    open_writer,
    put_clean,
    read_setting,
)
from penstock.store.sqlite.errors import store_error
from penstock.store.sqlite.notifier import SqliteNotifier
from penstock.store.sqlite.session import SQL, Clock, Numbers, Ticks
from penstock.store.sqlite.tables.access import SqliteAccess
from penstock.store.sqlite.tables.approvals import SqliteApprovals
from penstock.store.sqlite.tables.audit_log import SqliteAuditLog
from penstock.store.sqlite.tables.drafts import SqliteDrafts
from penstock.store.sqlite.tables.inbound_events import SqliteInboundEvents
from penstock.store.sqlite.tables.maintenance import SqliteMaintenance
from penstock.store.sqlite.tables.notes import SqliteNotes
from penstock.store.sqlite.tables.outbox import SqliteOutbox
from penstock.store.sqlite.tables.runs import SqliteRuns
from penstock.store.sqlite.tables.secrets import SqliteSecrets
from penstock.store.sqlite.tables.tasks import SqliteTasks
from penstock.store.sqlite.tables.tokens import SqliteTokens
from penstock.store.sqlite.tables.views import SqliteViews
from penstock.store.sqlite.tables.workflow_versions import SqliteWorkflowVersions
from penstock.store.sqlite.transaction_runner import MEMORY, InlineWriter, TransactionRunner
from penstock.store.sqlite.write_ahead_log import INITIAL_PAGES, Log
from penstock.store.sqlite.writer import ThreadWriter


class WallClock:
    """The time of this machine."""

    def now(self) -> datetime:
        return datetime.now(UTC)


class SqliteStore(
    SqliteCommits,
    SqliteRuns,
    SqliteTasks,
    SqliteInboundEvents,
    SqliteWorkflowVersions,
    SqliteDrafts,
    SqliteViews,
    SqliteTokens,
    SqliteApprovals,
    SqliteMaintenance,
    SqliteNotes,
    SqliteAccess,
    SqliteSecrets,
    SqliteAuditLog,
    SqliteOutbox,
    SqliteNotifier,
):
    """See `store.protocol.Store`. One process at a time has a file open."""

    def __init__(self, path: str, opened: Opened, clock: Clock, options: Options) -> None:
        self.path, self.checked = path, opened.checked
        self._lock, self._options = opened.lock, options
        self._ticks = Ticks(clock)
        highest = opened.db.execute(SQL["highest_number"]).fetchone()
        numbers = Numbers((highest and highest[0]) or 0, int(read_setting(opened.db, "fence") or 0))
        first = options.checkpoint if options.warm_up else INITIAL_PAGES
        self._runner = TransactionRunner(
            opened.db,
            path,
            self._ticks,
            numbers,
            follow=lambda db: Log(db, options.vfs, first, options.checkpoint),
            again=lambda: open_writer(path, options),
        )
        if options.inline:
            self._writer = InlineWriter(self._runner)
        else:
            self._writer = ThreadWriter(self._runner, self._reader(), self._reader)
        self._open = True

    @classmethod
    def open(cls, path: str, clock: Clock | None = None, options: Options | None = None) -> SqliteStore:
        """Open or make a file; `:memory:` for one in memory, always inline. Raises what StoreError lists."""
        options = options or Options()
        if path == MEMORY:
            options = Options(inline=True, migrate=options.migrate, migrations=options.migrations)
            return cls(path, open_memory(options), clock or WallClock(), options)
        opened = open_file(path, options)
        try:
            return cls(path, opened, clock or WallClock(), options)
        except apsw.Error as error:
            opened.let_go()
            raise store_error(error, path) from error

    def _reader(self) -> apsw.Connection:
        return open_reader(self.path, self._options)

    @property
    def transactions(self) -> int:
        """How many transactions were committed since the opening."""
        return self._runner.transactions

    async def close(self) -> None:
        """Let go of the file. Once is enough, twice does no harm."""
        if not self._open:
            return
        self._open = False
        with contextlib.suppress(StoreError):  # no room for the note: the next opening looks the file through
            await self._writer.write(lambda session: put_clean(session.db, True))
        if self._options.inline:
            self._writer.close()
        else:
            await asyncio.to_thread(self._writer.close)
        if self._lock is not None:
            self._lock.release()
