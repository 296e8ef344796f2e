"""From an address to an open store: the one place that knows which databases there are."""

from __future__ import annotations

from importlib import import_module
from urllib.parse import parse_qs, unquote

from penstock.store.errors import BadAddress
from penstock.store.protocol import Store
from penstock.store.sqlite.connection import Options
from penstock.store.sqlite.session import Clock
from penstock.store.sqlite.store import MEMORY, SqliteStore

POSTGRES = ("postgresql://", "postgres://")


async def open_store(url: str, *, clock: Clock | None = None, migrate: bool = True) -> Store:
    """Open the store at an address; it is made where it is not there yet. Raises what StoreError lists.

    `memory:`, `sqlite:///abs/path`, `sqlite://relative`, a path that ends in .db or .sqlite or has a slash,
    `postgresql://…`. `clock` is the time of a SQLite store; PostgreSQL has its own.
    """
    if url.startswith(POSTGRES):
        return await _open_postgres(url, migrate)
    if url == "memory:":
        return SqliteStore.open(MEMORY, clock, Options(migrate=migrate))
    path, network = sqlite_path(url)
    return SqliteStore.open(path, clock, Options(migrate=migrate, network=network))


def is_shared(url: str) -> bool:
    """Whether other processes may write to the store, too."""
    return url.startswith(POSTGRES)


async def _open_postgres(url: str, migrate: bool) -> Store:
    # Only now: who works on a file does not wait for the driver.
    module = import_module("penstock.store.postgres.store")
    store: Store = await module.PostgresStore.open(url, migrate=migrate)
    return store


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
