"""C2: a change is there whole or not at all, wherever in its transaction it breaks off, and for every reader."""

from __future__ import annotations

import asyncio
import shutil
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from asyncpg.transaction import Transaction

from penstock.store.errors import OutcomeUnknown, StoreAway
from penstock.store.open import open_store
from penstock.store.postgres.database import Work
from penstock.store.protocol import Store
from penstock.store.rows.access import AuditRow
from penstock.store.rows.change import Asked, Change, EventId, Part, Post
from penstock.store.rows.outbox import OutboxMessage
from penstock.store.sqlite.store import SqliteStore
from tests.store.builders import (
    LATER,
    NOON,
    A,
    B,
    C,
    D,
    change,
    end,
    ended,
    lease,
    lock,
    new_run,
    pending_event,
    start,
    task,
    unlock,
)
from tests.trust.beside import BesideFile, BesideServer, Tables, beside

BY = AuditRow(actor="amy", token_id=None, ip=None, action="cancel_run", target=A)
FITS = ["applied", "applied", "applied", "stale"]
TOUCHED = {
    "run",
    "history",
    "part",
    "payload",
    "task",
    "timer",
    "message",
    "lock",
    "correlation",
    "kept",
    "kept_key",
    "seen",
    "start_key",
    "run_label",
    "rest",
    "approval",
    "outbox",
    "audit",
}


class PulledPlug(Exception):
    """What breaks off a statement in SQLite."""


class Breaking:
    """Breaks off the statement number `at`; what a reader sees just before it."""

    def __init__(self, at: int) -> None:
        self.at, self.count, self.over = at, 0, False
        self.seen: Tables = {}

    @property
    def struck(self) -> bool:
        return self.count >= self.at

    def strikes(self) -> bool:
        self.count += 1
        return self.count == self.at


async def furnish(store: Store) -> list[Change]:
    """Runs in the middle of things; and a batch that touches every table that a commit can touch.

    One change of it does not fit: it is sorted out, and the others are written again.
    """
    begun = [
        start(A, tasks=(task(1), task(2)), timers=((NOON, b"t"),), locks=(lock("key", 1),)),
        start(D, locks=(lock("key", 1, body=b"yours"),), keys=(("order", "7"),)),
        start(C, keys=(("order", "7"),)),
        change(A, 1, posts=(Post(A, b"m"),), parts=(Part("e", 1, 0, b"old"),)),
    ]
    for one in begun:
        assert (await store.commit([one])).outcomes == ["applied"]
    [first, _] = await lease(store)
    due = await store.due(10, timedelta(seconds=10))
    rich = change(
        A,
        2,
        ended=(ended(first.lease),),
        tasks=(task(3),),
        timers=((LATER, b"later"),),
        rung=tuple(timer.id for timer in due.timers),
        read=tuple(message.id for message in due.messages),
        parts=(Part("e", 1, 0, None), Part("r", 2, 0, b"new")),
        payloads=((b"d" * 32, b"body"),),
        unlocks=(unlock("key", 1),),
        locks=(lock("other", 2),),
        posts=(Post(D, b"to D"), Post(None, b"to all")),
        rest=(("event", "paid"),),
        seen=(EventId("scope", "id", LATER), EventId("run", "id")),
        pending_events=(pending_event(("user", "x")), pending_event(("order", "7"))),
        outbox_messages=(OutboxMessage("bus", "topic", b"letter"),),
        asked=(Asked(id="ask", workflow="w", step="s", role="operator", body=b"?"),),
        void=((2, -1),),
        audits=(BY,),
    )
    fresh = start(B, new_run(labels={"a": "b"}, start_key=("once", b"digest")), tasks=(task(1),))
    return [rich, fresh, end(D, 1), change(C, 7)]


async def on_sqlite(store: SqliteStore, reader: BesideFile, batch: list[Change], at: int) -> Breaking:
    """Commit, and fail at one statement; what lies on the disk there is what a killed process leaves."""
    breaking, image = Breaking(at), Path(store.path).with_name("image.db")

    def look(cursor: Any, sql: str, bindings: Any) -> bool:
        if breaking.over:  # what follows looks after the log of the database
            return True
        breaking.over = sql == "COMMIT"
        if breaking.strikes():
            breaking.seen = reader.seen()
            for suffix in ("", "-wal"):
                shutil.copyfile(f"{store.path}{suffix}", f"{image}{suffix}")
            raise PulledPlug
        return True

    store._runner.db.exec_trace = look
    try:
        assert (await store.commit(batch)).outcomes == FITS
    except (PulledPlug, OutcomeUnknown):  # the second where the COMMIT itself breaks off
        assert await crashed(image) == but_settings(breaking.seen)
    finally:
        store._runner.db.exec_trace = None
    return breaking


async def crashed(image: Path) -> Tables:
    """What the next process finds."""
    await (await open_store(str(image))).close()
    async with beside(str(image)) as found:
        tables = await found.tables()
    for suffix in ("", "-wal", "-shm", ".lock"):
        Path(f"{image}{suffix}").unlink(missing_ok=True)
    return but_settings(tables)


def but_settings(tables: Tables) -> Tables:
    """Whether the file was closed in good order is none of a commit's business."""
    return {name: rows for name, rows in tables.items() if name != "setting"}


async def on_postgres(
    store: Store, reader: BesideServer, batch: list[Change], at: int, patch: pytest.MonkeyPatch
) -> Breaking:
    """Commit, and end the server's process of this connection just before one statement."""
    breaking, rows, commit = Breaking(at), Work.rows, Transaction.commit

    async def look(connection: Any) -> None:
        if breaking.strikes():
            breaking.seen = await reader.tables()
            await reader.end(connection.get_server_pid())

    async def watched(work: Work, query: str, **values: object) -> list[Any]:
        await look(work.connection)
        return await rows(work, query, **values)

    async def watched_commit(self: Any) -> None:
        await look(self._connection)
        await commit(self)

    with patch.context() as patched:
        patched.setattr(Work, "rows", watched)
        patched.setattr(Transaction, "commit", watched_commit)
        try:
            assert (await store.commit(batch)).outcomes == FITS
        except StoreAway:
            assert breaking.struck
    return breaking


def test_c2_a_commit_that_breaks_off_at_any_statement_leaves_nothing_and_nobody_sees_half_of_it(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main() -> int:
        store = await open_store(url)
        async with beside(url) as reader:
            batch = await furnish(store)
            before, at = await reader.tables(), 0
            while True:
                at += 1
                if isinstance(store, SqliteStore):
                    assert isinstance(reader, BesideFile)
                    breaking = await on_sqlite(store, reader, batch, at)
                else:
                    assert isinstance(reader, BesideServer)
                    breaking = await on_postgres(store, reader, batch, at, monkeypatch)
                if not breaking.struck:
                    break
                assert breaking.seen == before, f"statement {at}: half of it was seen"
                assert await reader.tables() == before, f"statement {at}: half of it is there"
            after = await reader.tables()
            assert {name for name in before if before[name] != after[name]} >= TOUCHED
            assert await store.check() == []
        await store.close()
        return at

    assert asyncio.run(main()) > 20
