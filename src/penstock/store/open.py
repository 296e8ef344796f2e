"""From an address to an open store: the only module that knows which databases exist."""

from __future__ import annotations

import asyncio
import os
from importlib import import_module
from typing import Any
from urllib.parse import parse_qs, unquote

import apsw

from penstock.store.errors import BadAddress, StoreBusy
from penstock.store.protocol import Store
from penstock.store.sqlite.backups import restore
from penstock.store.sqlite.connection import Options, found_schema
from penstock.store.sqlite.errors import store_error
from penstock.store.sqlite.files import validate_path
from penstock.store.sqlite.observer import Observer
from penstock.store.sqlite.session import Clock
from penstock.store.sqlite.store import SqliteStore
from penstock.store.sqlite.transaction_runner import MEMORY

POSTGRES = ("postgresql://", "postgres://")


async def open_store(
    url: str, *, clock: Clock | None = None, migrate: bool = True, warm_up: bool = False
) -> Store:
    """Open the store at an address; it is made where it is not there yet. Raises what StoreError lists.

    `memory:`, `sqlite:///abs/path`, `sqlite://relative`, a path that ends in .db or .sqlite or has a slash,
    `postgresql://…`. `clock` is the time of a SQLite store; PostgreSQL has its own.
    With `warm_up` it is made ready for runs, which takes a moment: else the first of them would wait for it.
    """
    if not isinstance(url, str):
        raise BadAddress(repr(url), "is no text")
    if url.startswith(POSTGRES):
        return await _open_postgres(url, migrate, warm_up)
    if url == "memory:":
        return SqliteStore.open(MEMORY, clock, Options(migrate=migrate))
    path, network = sqlite_path(url)
    return SqliteStore.open(path, clock, Options(migrate=migrate, network=network, warm_up=warm_up))


def is_shared(url: str) -> bool:
    """Whether other processes may write to the store, too."""
    return url.startswith(POSTGRES)


Looker = Store | Observer
"""What checks and copies a store without disturbing its users."""


async def open_to_look(url: str) -> Looker:
    """Open a store to check or copy it, also where another process has its file. Raises what StoreError lists."""
    try:
        return await open_store(url, migrate=False)
    except StoreBusy as busy:
        return Observer(busy.path)


async def schema_at(url: str) -> int:
    """The schema of a store as it is, 0 where there is none; nothing is made. Raises what StoreError lists."""
    if url.startswith(POSTGRES):
        schema: int = await _postgres().schema_at(url)
        return schema
    path, _ = sqlite_path(url)
    if not os.path.exists(path):
        return 0
    validate_path(path)
    try:
        db = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)
        try:
            return found_schema(db)
        finally:
            db.close()
    except apsw.Error as error:
        raise store_error(error, path) from error


async def restore_store(url: str, source: str) -> str | None:
    """Make a store of a backup; it must not hold anything. Answers where a file in its place was moved to."""
    if url.startswith(POSTGRES):
        await _postgres().restore(url, source)
        return None
    return await asyncio.to_thread(restore, sqlite_path(url)[0], source)


async def _open_postgres(url: str, migrate: bool, warm_up: bool) -> Store:
    store: Store = await _postgres().PostgresStore.open(url, migrate=migrate, warm_up=warm_up)
    return store


def _postgres() -> Any:
    # Only now: who works on a file does not wait for the driver.
    return import_module("penstock.store.postgres.store")


def sqlite_path(url: str) -> tuple[str, bool]:
    """The path in an address of a SQLite file, and whether it may be on a network disk. Raises BadAddress."""
    path, _, query = url.removeprefix("sqlite://").partition("?")
    plain = not url.startswith("sqlite://")
    if plain and "://" in url:
        raise BadAddress(url, "is an address of a kind that is not known")
    if plain and "/" not in path and not path.endswith((".db", ".sqlite")):
        raise BadAddress(url, "is neither a file nor a known kind of address")
    options = parse_qs(query, keep_blank_values=True)
    if options not in ({}, {"network": ["allow"]}):
        raise BadAddress(url, "has an option that is not known (there is ?network=allow)")
    path = path if plain else unquote(path)
    if not path or path.endswith("/") or "\0" in path:
        raise BadAddress(url, "names no file")
    return path, bool(options)
