"""`penstock db`: what operators do with the database."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Annotated, TypeVar

import typer

from penstock.access.audit import verify_audit
from penstock.cli.admin.database import DbOrHere, address_in, asked, must_be_there, once
from penstock.cli.io.command_group import NO, YES, Command, group
from penstock.cli.io.console import err, out, plural, print_json, print_result, printable
from penstock.cli.io.inputs import AsJson
from penstock.cli.io.parameters import argument
from penstock.cli.io.tables import print_table
from penstock.cli.serve.settings import settings_of
from penstock.runtime.node.retention import DEFAULT_RETENTION, Own, RetentionRows
from penstock.store.open import Looker, open_store, open_to_look, restore_store, schema_at
from penstock.store.protocol import Maintenance

T = TypeVar("T")

HERE = "penstock.db"
BATCH = 1000
"""Runs that retention takes at a time."""
LOOK = 0.2
"""Seconds between two looks at how far a copy is."""

db = group("Look after the database: schema, checks, backups, old runs.")

To = Annotated[str, argument("FILE", "The new file for the backup.")]
From = Annotated[str, argument("FILE", "A backup that `penstock db backup` has made.")]
Explain = Annotated[bool, typer.Option("--explain", help="Delete nothing; show what would be deleted.")]


@db.command(cls=Command)
def migrate(db: DbOrHere = HERE, json: AsJson = False) -> None:
    """Create the database, or bring its schema up to date; other processes may keep running.

    [bold]Examples[/bold]

      penstock db migrate --db postgresql://penstock@db.example/penstock
    """

    async def bring_up() -> tuple[str, int, int]:
        before = await schema_at(db)
        facts = await once(open_store(db, migrate=True), lambda store: store.facts())
        return address_in(facts), before, facts["schema"]

    address, before, after = asyncio.run(bring_up())
    if before == after:
        done = f"has schema {after}: nothing to do"
    elif before == 0:
        done = f"is made, with schema {after}"
    else:
        done = f"went from schema {before} to {after}"
    print_result({"db": address, "from": before, "to": after}, f"{printable(address)} {done}", json)


@db.command(cls=Command)
def check(db: DbOrHere = HERE, json: AsJson = False) -> None:
    """Look through the rows: histories without gaps, no run that is stuck, nothing left over, an audit that is whole.

    Exit code 0: all is well. 1: something is wrong.

    [bold]Examples[/bold]

      penstock db check

      penstock db check --db postgresql://penstock@db.example/penstock --json
    """

    async def look(looker: Looker) -> tuple[str, list[str]]:
        broken = await verify_audit(looker)
        return address_in(await looker.facts()), [*await looker.check(), *([broken] if broken else ())]

    address, problems = _looked(db, look)
    if json:
        print_json({"db": address, "problems": problems})
    else:
        for problem in problems:
            out().print(printable(problem), style="error")
        found = plural(len(problems), "problem") if problems else "all is well"
        out().print(f"{printable(address)}: {found}")
    raise typer.Exit(NO if problems else YES)


@db.command(cls=Command)
def backup(file: To, db: DbOrHere = HERE, json: AsJson = False) -> None:
    """Copy the whole database into a new file, as of one moment, while everything keeps running.

    [bold]Examples[/bold]

      penstock db backup /backups/monday.db

      penstock db backup monday.backup --db postgresql://penstock@db.example/penstock
    """

    async def copy(looker: Looker) -> str:
        copying = asyncio.create_task(looker.backup(file))
        await _show_growth(copying, f"{file}.part")
        await copying
        return address_in(await looker.facts())

    address, size = _looked(db, copy), os.path.getsize(file)
    words = f"{printable(address)} is copied to {printable(file)} ({readable_size(size)})"
    print_result({"db": address, "file": file, "bytes": size}, words, json)


@db.command(cls=Command)
def restore(file: From, db: DbOrHere = HERE, json: AsJson = False) -> None:
    """Restore a database from a backup. It must be empty or not exist: nothing is ever replaced.

    A damaged SQLite file is moved aside. No process may work on the database meanwhile.

    [bold]Examples[/bold]

      penstock db restore /backups/monday.db --db penstock.db
    """
    moved = asyncio.run(restore_store(db, file))
    address = asked(db, _address)
    if moved and not json:
        out().print(f"what was there is now {printable(moved)}")
    words = f"{printable(address)} is restored from {printable(file)}"
    print_result({"db": address, "file": file, "moved_to": moved}, words, json)


@db.command(cls=Command)
def retention(explain: Explain = False, db: DbOrHere = HERE, json: AsJson = False) -> None:
    """Delete runs that ended long ago, as the engine does by itself every few minutes.

    Runs that succeeded or were canceled are kept for 30 days, those that failed or timed out for 90, unless the
    setting `retention_days` or the workflow's own `retention` says otherwise.

    [bold]Examples[/bold]

      penstock db retention --explain
    """
    days = {**DEFAULT_RETENTION, **settings_of()["retention_days"]}
    address, rows = asked(db, lambda store: _retained(store, days, explain))
    if json:
        print_json({"db": address, "explained": explain, "rows": rows})
        return
    gone = [(table, f"{count:,}") for table, count in rows.items() if count]
    if gone:
        print_table(out(), ("table", "rows:"), gone)
    total = plural(sum(rows.values()), "row")
    would = f"{total} would be deleted" if explain else f"{total} deleted"
    out().print(f"{printable(address)}: {would}")


async def _address(store: Maintenance) -> str:
    return address_in(await store.facts())


async def _retained(
    store: RetentionRows, days: dict[str, timedelta], explain: bool
) -> tuple[str, dict[str, int]]:
    """Rows by table that are deleted, or would be."""
    rows: dict[str, int] = {}
    own = await Own().ages(store)
    while True:
        # All at once where it is only explained: nothing is deleted, so a second look would find the same.
        some = (await store.retain(days, 1_000_000 if explain else BATCH, explain, own)).rows
        for table in sorted(some):
            rows[table] = rows.get(table, 0) + some[table]
        if explain or max(some.values(), default=0) < BATCH:
            return await _address(store), rows


def _looked(url: str, question: Callable[[Looker], Awaitable[T]]) -> T:
    """Ask a database that is there one thing, also where another process works on it."""
    must_be_there(url)
    return asyncio.run(once(open_to_look(url), question))


async def _show_growth(copying: asyncio.Task[None], part: str) -> None:
    """How large the copy is by now, on a terminal."""
    console = err()
    if not console.is_terminal:
        await asyncio.wait([copying])
        return
    with console.status("copying …") as status:
        while not (await asyncio.wait([copying], timeout=LOOK))[0]:
            size = os.path.getsize(part) if os.path.exists(part) else 0
            status.update(f"copying … {readable_size(size)}")


def readable_size(count: int) -> str:
    """Bytes for people: `12 bytes`, `3.4 MB`."""
    if count < 1000:
        return plural(count, "byte")
    size, unit = float(count), 0
    while size >= 999.5 and unit < 4:
        size, unit = size / 1000, unit + 1
    return f"{size:.3g} {('', 'kB', 'MB', 'GB', 'TB')[unit]}"
