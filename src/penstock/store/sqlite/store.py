"""The store on SQLite: each verb is a piece of work that is done at the writing or at the reading desk."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import apsw

from penstock.store.errors import StoreError
from penstock.store.rows.access import AuditRow
from penstock.store.rows.change import Change, Committed, PendingEvent, Seen
from penstock.store.rows.drafts import NewVersion
from penstock.store.rows.rows import (
    ClaimRequest,
    Due,
    Filter,
    Heartbeat,
    KeptRow,
    Lease,
    Leased,
    LockRow,
    LogLine,
    OldTask,
    QueueRow,
    Renewal,
    Retained,
    RunRow,
    RunState,
    StoredRun,
    TaskRow,
    TimingRow,
    TokenChange,
    TokenRow,
    Version,
    WaitingTasks,
    Worker,
    WorkflowState,
)
from penstock.store.sqlite.commit.commit import commit
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
from penstock.store.sqlite.session import SQL, Clock, Numbers, Session, Ticks
from penstock.store.sqlite.tables import (
    inbound_events,
    maintenance,
    runs,
    tasks,
    tokens,
    views,
    workflow_versions,
)
from penstock.store.sqlite.tables.access import SqliteDoors
from penstock.store.sqlite.tables.approvals import SqliteApprovals
from penstock.store.sqlite.tables.drafts import SqliteDrafts
from penstock.store.sqlite.tables.notes import SqliteNotes
from penstock.store.sqlite.tables.outbox import SqliteOutbox
from penstock.store.sqlite.times import moment
from penstock.store.sqlite.transaction_runner import MEMORY, TransactionRunner
from penstock.store.sqlite.write_ahead_log import LITTLE, Log
from penstock.store.sqlite.writer import InlineWriter, ThreadWriter, Writer

FEW = 4
"""Changes of a batch on a system that has little to do: who waits for them is to know soon."""

BESIDE = 64
"""Changes of a batch that a thread writes, while the loop decides about the next: fewer are written sooner by the loop
than they are handed over."""

MANY = 2_000
"""Rows of a smaller batch that a thread writes nevertheless: the loop must not stand for so long."""


class WallClock:
    """The time of this machine."""

    def now(self) -> datetime:
        return datetime.now(UTC)


class SqliteStore(SqliteDrafts, SqliteNotes, SqliteDoors, SqliteApprovals, SqliteOutbox):
    """All verbs of `Store` on one file, or in memory."""

    def __init__(self, path: str, opened: Opened, clock: Clock, options: Options) -> None:
        self.path, self.checked = path, opened.checked
        self._lock, self._options = opened.lock, options
        self._ticks = Ticks(clock)
        highest = opened.db.execute(SQL["highest_number"]).fetchone()
        numbers = Numbers((highest and highest[0]) or 0, int(read_setting(opened.db, "fence") or 0))
        first = options.checkpoint if options.rehearse else LITTLE
        self._ledger = TransactionRunner(
            opened.db,
            path,
            self._ticks,
            numbers,
            follow=lambda db: Log(db, options.vfs, first, options.checkpoint),
            again=lambda: open_writer(path, options),
        )
        self._desk: Writer
        if options.inline:
            self._desk = InlineWriter(self._ledger)
        else:
            self._desk = ThreadWriter(self._ledger, self._reader(), self._reader)
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
        return self._ledger.transactions

    # Runs

    async def commit(self, changes: Sequence[Change]) -> Committed:
        if not changes:
            return Committed([], [], await self.now())
        count = len(changes)
        if count >= BESIDE or sum([len(change.tasks) + len(change.parts) for change in changes]) > MANY:
            return await self._desk.write(lambda session: commit(session, changes))
        return await self._desk.write_here(lambda session: commit(session, changes), count <= FEW)

    async def load(self, runs_: Sequence[str]) -> list[StoredRun | None]:
        return await self._desk.read(lambda session: runs.load(session, runs_))

    async def payloads(self, refs: Sequence[tuple[str, bytes]]) -> dict[tuple[str, bytes], bytes]:
        return await self._desk.read(lambda session: runs.payloads(session, refs))

    async def pages(self, run: str, after: int, limit: int) -> list[bytes]:
        return await self._desk.read(lambda session: runs.pages(session, run, after, limit))

    async def due(self, limit: int, patience: timedelta) -> Due:
        return await self._desk.write(lambda session: runs.due(session, limit, patience))

    async def discard(self, messages: Sequence[int]) -> None:
        await self._desk.write(lambda session: session.many("use_message", [(id,) for id in messages]))

    async def now(self) -> datetime:
        return moment(self._ticks.now())

    # Tasks

    async def lease(self, wish: ClaimRequest) -> list[Leased]:
        return await self._desk.write(lambda session: tasks.lease(session, wish))

    async def renew(self, beats: Sequence[Heartbeat]) -> list[Renewal]:
        return await self._desk.write(lambda session: tasks.renew(session, beats))

    async def release(self, leases: Sequence[Lease]) -> list[bool]:
        return await self._desk.write(lambda session: tasks.release(session, leases))

    async def give_up(self, prefix: str) -> int:
        return await self._desk.write(lambda session: tasks.give_up(session, prefix))

    async def log(self, lines: Sequence[LogLine]) -> None:
        await self._desk.write(lambda session: tasks.log(session, lines))

    # Mail

    async def find(self, keys: Sequence[tuple[str, str]]) -> str | None:
        return await self._desk.read(lambda session: inbound_events.find(session, keys))

    async def keep(self, kept: PendingEvent) -> str | None:
        return await self._desk.write(lambda session: inbound_events.keep(session, kept))

    async def seen(self, ids: Sequence[Seen]) -> list[bool]:
        return await self._desk.read(lambda session: inbound_events.seen(session, ids))

    async def redeliver(self, id: int, audit: AuditRow | None = None) -> bool:
        return await self._desk.write(lambda session: inbound_events.redeliver(session, id, audit))

    async def drop(self, id: int, audit: AuditRow | None = None) -> bool:
        return await self._desk.write(lambda session: inbound_events.drop(session, id, audit))

    # Shelf

    async def publish(
        self,
        workflow: str,
        definition: str,
        offers: bytes,
        note: str | None,
        start: bool,
        again: bool = False,
        audit: AuditRow | None = None,
    ) -> Version:
        new = NewVersion(
            workflow=workflow, definition=definition, offers=offers, note=note, start=start, again=again
        )
        return await self._desk.write(lambda session: workflow_versions.publish(session, new, audit))

    async def version(self, workflow: str, version: int | None) -> Version | None:
        return await self._desk.read(lambda session: workflow_versions.version(session, workflow, version))

    async def workflows(self) -> list[WorkflowState]:
        return await self._desk.read(workflow_versions.workflows)

    async def set_started(self, workflow: str, started: bool, audit: AuditRow | None = None) -> bool:
        return await self._desk.write(
            lambda session: workflow_versions.set_started(session, workflow, started, audit)
        )

    async def started_at(self, workflow: str) -> datetime | None:
        return await self._desk.read(lambda session: workflow_versions.turned_at(session, workflow)[0])

    async def stopped_at(self, workflow: str) -> datetime | None:
        return await self._desk.read(lambda session: workflow_versions.turned_at(session, workflow)[1])

    async def set_paused(
        self,
        workflow: str | None,
        paused: bool,
        body: bytes,
        undone: bytes | None = None,
        audit: AuditRow | None = None,
    ) -> bool:
        return await self._desk.write(
            lambda session: workflow_versions.set_paused(session, workflow, paused, body, undone, audit)
        )

    # Views

    async def runs(self, filter: Filter) -> list[RunRow]:
        return await self._desk.read(lambda session: views.runs(session, filter))

    async def count(self, filter: Filter) -> dict[str, int]:
        return await self._desk.read(lambda session: views.count(session, filter))

    async def tasks(self, run: str) -> list[TaskRow]:
        return await self._desk.read(lambda session: views.tasks(session, run))

    async def timers(self, run: str) -> list[tuple[datetime, bytes]]:
        return await self._desk.read(lambda session: views.timers(session, run))

    async def locks(self, run: str) -> list[LockRow]:
        return await self._desk.read(lambda session: views.locks(session, run))

    async def old_tasks(self, limit: int) -> list[OldTask]:
        return await self._desk.read(lambda session: views.old_tasks(session, limit))

    async def waiting_tasks(self) -> list[WaitingTasks]:
        return await self._desk.read(views.waiting_tasks)

    async def stuck(self, limit: int) -> list[str]:
        return await self._desk.read(lambda session: [run for (run,) in session.rows("stuck_runs", (limit,))])

    async def timings(self, runs_: Sequence[str], most: int) -> list[TimingRow]:
        return await self._desk.read(lambda session: views.timings(session, runs_, most))

    async def timings_of(self, run: str, firings: Sequence[int]) -> list[TimingRow]:
        return await self._desk.read(lambda session: views.timings_of(session, run, firings))

    async def tally(self, workflow: str, since: datetime, until: datetime) -> dict[tuple[int, str], int]:
        return await self._desk.read(lambda session: views.tally(session, workflow, since, until))

    async def endings(
        self, since: datetime, until: datetime, width: timedelta
    ) -> dict[tuple[str, str, int], int]:
        return await self._desk.read(lambda session: views.endings(session, since, until, width))

    async def queues(self) -> list[QueueRow]:
        return await self._desk.read(views.queues)

    async def workers(self) -> list[Worker]:
        return await self._desk.read(views.workers)

    async def undelivered(self, after: int, limit: int) -> list[KeptRow]:
        return await self._desk.read(lambda session: views.undelivered(session, after, limit))

    async def refused(self, limit: int) -> list[tuple[str, str, str, str]]:
        return await self._desk.read(lambda session: views.refused(session, limit))

    async def logs(self, run: str, after: int, limit: int) -> list[tuple[int, bytes]]:
        return await self._desk.read(lambda session: views.logs(session, run, after, limit))

    async def states(self, runs_: Sequence[str]) -> list[RunState]:
        rows = await self._desk.read(lambda session: session.rows_of_runs("states_of_runs", runs_))
        return [RunState(*row) for row in rows]

    async def start_key(self, workflow: str, key: str) -> tuple[str, bytes] | None:
        return await self._desk.read(lambda session: views.start_key(session, workflow, key))

    # Tokens

    async def tokens(self, prefix: str, after: str, limit: int) -> list[TokenRow]:
        return await self._desk.read(lambda session: tokens.tokens(session, prefix, after, limit))

    async def change_tokens(
        self, changes: Sequence[TokenChange], audits: Sequence[AuditRow] = ()
    ) -> list[TokenRow] | str:
        return await self._desk.write(lambda session: tokens.change(session, changes, audits))

    async def claim_tokens(
        self, owner: str, prefix: str, lease: timedelta, limit: int, audit: AuditRow | None = None
    ) -> list[TokenRow]:
        return await self._desk.write(
            lambda session: tokens.claim(session, owner, prefix, lease, limit, audit)
        )

    # Upkeep

    async def retain(
        self,
        days: dict[str, timedelta],
        limit: int,
        explain: bool,
        own: Mapping[str, timedelta] | None = None,
    ) -> Retained:
        ages = own or {}
        if explain:
            return Retained(await self._desk.write(lambda s: maintenance.explain(s, days, ages, limit)))
        rows = await self._desk.write(lambda session: maintenance.drop_outdated_rest(session, limit))
        left = limit
        while left > 0:
            slice = min(left, maintenance.SLICE)
            gone = await self._desk.write(lambda s, n=slice: maintenance.drop_outdated_runs(s, days, ages, n))  # type: ignore[misc]
            rows = maintenance.add(rows, gone)
            left = left - slice if gone["run"] == slice else 0
        while await self._desk.write(maintenance.shrink) > maintenance.PAGES:
            continue
        return Retained(rows)

    async def check(self) -> list[str]:
        numbers, now = self._ledger.numbers, self._ticks.now()
        return await self._desk.apart(lambda db: maintenance.check(db, Session(db, numbers, now)))

    async def backup(self, to: str) -> None:
        await self._desk.apart(lambda db: maintenance.backup(db, to))

    async def attend(self, worker: Worker) -> None:
        await self._desk.write(lambda session: maintenance.attend(session, worker))

    async def leave(self, worker: str) -> None:
        await self._desk.write(lambda session: session.run("drop_worker", (worker,)))

    async def facts(self) -> dict[str, Any]:
        return await self._desk.read(self._facts)

    def _facts(self, session: Session) -> dict[str, Any]:
        schema = session.row("read_setting", ("schema",))
        pages, size = session.db.pragma("page_count"), session.db.pragma("page_size")
        log = f"{self.path}-wal"
        return {
            "kind": "sqlite",
            "path": self.path,
            "sqlite": apsw.sqlite_lib_version(),
            "schema": int(schema[0]) if schema else 0,
            "bytes": pages * size + (os.path.getsize(log) if os.path.exists(log) else 0),
            "synchronous": "none" if self.path == MEMORY else self._options.synchronous,
            "checked_at_opening": self.checked,
        }

    async def close(self) -> None:
        """Let go of the file. Once is enough, twice does no harm."""
        if not self._open:
            return
        self._open = False
        with contextlib.suppress(StoreError):  # no room for the note: the next opening looks the file through
            await self._desk.write(lambda session: put_clean(session.db, True))
        if self._options.inline:
            self._desk.close()
        else:
            await asyncio.to_thread(self._desk.close)
        if self._lock is not None:
            self._lock.release()

    # Bell

    async def tell(self, runs: Sequence[str]) -> None:
        """There is nobody to tell."""

    async def ring(self, what: str) -> None:
        """Nobody else has the file: there is nobody to tell."""

    async def hear(self, timeout: timedelta) -> str | None:
        await asyncio.sleep(timeout.total_seconds())
        return None
