"""Retention, checks and sizes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import apsw

from penstock.store.rows.rows import Retained
from penstock.store.sql.backup_files import written_whole
from penstock.store.sqlite.commit.lock_grants import drop_pending
from penstock.store.sqlite.connection import Options
from penstock.store.sqlite.files import make_private
from penstock.store.sqlite.session import Session, Ticks, json_list, length
from penstock.store.sqlite.transaction_runner import MEMORY, TransactionRunner
from penstock.store.sqlite.writer import Writer

MAX_RUNS = 100
"""Runs that are deleted in one transaction: others must not wait long."""
MAX_FREE_PAGES = 256
"""Free pages that are given back to the disk in one transaction. As many may stay: they are soon used again."""
WORKER_RETENTION = timedelta(days=1)
"""After this time without a sign of life a worker is not shown any more."""

Ages = Mapping[str, timedelta]
"""How long runs are kept, by status or by workflow."""

_TABLES = {
    "run_label": "drop_labels_of_runs",  # first: it reads them from the runs
    "run": "drop_runs",
    "history": "drop_history_of_runs",
    "part": "drop_parts_of_runs",
    "payload": "drop_payloads_of_runs",
    "log": "drop_logs_of_runs",
    "seen": "drop_seen_of_runs",
    "start_key": "drop_start_keys_of_runs",
    "task": "drop_tasks_of_runs",
    "timer": "drop_timers_of_runs",
    "message": "drop_messages_of_runs",
    "lock": "drop_locks_of_runs",
    "correlation": "drop_correlations_of_runs",
    "run_key": "drop_run_keys_of_runs",
    "rest": "drop_rests_of_runs",
    "timing": "drop_timings_of_runs",
    "approval": "drop_approvals_of_runs",
}


class SqliteMaintenance:
    """See `store.protocol.Maintenance`."""

    path: str
    checked: bool
    _options: Options
    _writer: Writer
    _runner: TransactionRunner
    _ticks: Ticks

    async def retain(
        self,
        days: dict[str, timedelta],
        limit: int,
        explain: bool,
        own: Mapping[str, timedelta] | None = None,
    ) -> Retained:
        ages = own or {}
        if explain:
            return Retained(await self._writer.write(lambda s: _explain(s, days, ages, limit)))
        rows = await self._writer.write(lambda session: _drop_outdated_rest(session, limit))
        left = limit
        while left > 0:
            slice = min(left, MAX_RUNS)
            gone = await self._writer.write(lambda s, n=slice: _drop_outdated_runs(s, days, ages, n))  # type: ignore[misc]
            rows = _add(rows, gone)
            left = left - slice if gone["run"] == slice else 0
        while await self._writer.write(_shrink) > MAX_FREE_PAGES:
            continue
        return Retained(rows)

    async def check(self) -> list[str]:
        numbers, now = self._runner.numbers, self._ticks.now()
        return await self._writer.apart(lambda db: check(db, Session(db, numbers, now)))

    async def backup(self, to: str) -> None:
        await self._writer.apart(lambda db: backup(db, to))

    async def facts(self) -> dict[str, Any]:
        return await self._writer.read(self._facts)

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


def _drop_outdated_runs(session: Session, days: Ages, own: Ages, limit: int) -> dict[str, int]:
    """Delete up to `limit` ended runs that are older than their status, or workflow, is kept; rows by table."""
    old: list[str] = []
    others = json_list(list(own))
    for status, age in sorted(days.items()):
        before = session.now - length(age)
        old += [run for (run,) in session.rows("outdated_runs", (status, before, others, limit - len(old)))]
    for workflow, age in sorted(own.items()):
        before = session.now - length(age)
        values = (workflow, before, before, limit - len(old))
        old += [run for (run,) in session.rows("outdated_runs_of_workflow", values)]
    return {table: session.run(query, (json_list(old),)) for table, query in _TABLES.items()}


def _drop_outdated_rest(session: Session, limit: int) -> dict[str, int]:
    """Delete whatever is out of date and belongs to no run; rows by table."""
    kept = session.rows("outdated_kept", (session.now, limit))
    before = session.db.total_changes()
    for (id,) in kept:
        drop_pending(session, id)
    return {
        "kept": len(kept),
        "kept_key": session.db.total_changes() - before - len(kept),
        "seen": session.run("drop_outdated_seen", (session.now, limit)),
        "worker": session.run("drop_gone_workers", (session.now - length(WORKER_RETENTION),)),
    }


def _explain(session: Session, days: Ages, own: Ages, limit: int) -> dict[str, int]:
    """What would be deleted: it is, and then taken back."""
    session.db.execute("SAVEPOINT explain")
    found = _add(_drop_outdated_runs(session, days, own, limit), _drop_outdated_rest(session, limit))
    session.db.execute("ROLLBACK TO explain")
    session.db.execute("RELEASE explain")
    return found


def _add(one: dict[str, int], other: dict[str, int]) -> dict[str, int]:
    """Rows by table, together."""
    return {table: one.get(table, 0) + other.get(table, 0) for table in sorted(one.keys() | other.keys())}


def _shrink(session: Session) -> int:
    """Give free pages back to the disk, a slice of them; how many are left."""
    session.db.execute(f"PRAGMA incremental_vacuum({MAX_FREE_PAGES})").fetchall()
    return int(session.db.pragma("freelist_count"))


def check(db: apsw.Connection, session: Session) -> list[str]:
    found = [
        f"the file is not whole: {line}" for (line,) in db.execute("PRAGMA quick_check(20)") if line != "ok"
    ]
    tell = {
        "gaps_in_history": "run {}: the history page at {} does not follow entry {}",
        "wrong_ends_of_history": "run {}: it is at entry {}, its history at {}",
        "tasks_without_run": "run {}: task {}.{} belongs to no live run",
        "orphans": "table {}: it has rows of run {}, which is not there",
        "stuck_runs": "run {}: it runs, but no task, timer, message, lock or child can move it on",
        "overheld_locks": "key {}: it is held {} times, {} at most are allowed",
        "idle_locks": "key {}: nobody holds it, but somebody waits for it",
        "locks_of_ended_runs": "key '{}': run {} has it or waits for it (element {}.{}), but has ended",
        "wrongly_held_tasks": "run {}: task {}.{} is held, but the run is not paused",
    }
    with db:
        for query, sentence in tell.items():
            values = (20,) if query == "stuck_runs" else ()
            found += [sentence.format(*row) for row in session.rows(query, values)]
    return found


def backup(db: apsw.Connection, to: str) -> None:
    """Under another name until it is whole: half a copy is never taken for one."""
    with written_whole(to) as part:
        make_private(part)
        db.execute("VACUUM INTO ?", (part,))
        with open(part, "rb") as file:
            os.fsync(file.fileno())
