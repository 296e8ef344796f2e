"""The option `--db`, and databases opened for one question."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, TypeVar

import typer

from penstock.cli.io.parameters import option
from penstock.cli.io.problems import Wrong
from penstock.engine.engine import Engine
from penstock.server.settings import read_settings
from penstock.store.open import Looker, is_shared, open_store, sqlite_path
from penstock.store.protocol import Store

S = TypeVar("S", bound=Looker)
T = TypeVar("T")

_HELP = "The database: a path for SQLite, or postgresql://user@host/name. Also PENSTOCK_DB."


def _from_file(context: typer.Context, parameter: typer.CallbackParam, value: str) -> str:
    """What nobody said on the command line or in the environment may be in `penstock.toml`."""
    source = context.get_parameter_source(parameter.name or "")
    unsaid = source is not None and source.name == "DEFAULT" and not context.resilient_parsing
    return str(read_settings(variables={})["db"]) if unsaid else value


DbOrHere = Annotated[
    str, option("--db", "URL", _HELP, envvar="PENSTOCK_DB", show_envvar=False, callback=_from_file)
]
DbOption = Annotated[str | None, option("--db", "URL", _HELP)]


def address_in(facts: dict[str, Any]) -> str:
    """Where a store is, as it says of itself: without a password."""
    return str(facts.get("path") or facts["address"])


def asked(url: str, question: Callable[[Store], Awaitable[T]]) -> T:
    """Open a database that is there, ask one thing, close it. Raises StoreError, Wrong."""
    must_be_there(url)
    return asyncio.run(once(open_store(url, migrate=False), question))


async def once(opening: Awaitable[S], question: Callable[[S], Awaitable[T]]) -> T:
    """Open a store, ask it one thing, close it."""
    store = await opening
    try:
        return await question(store)
    finally:
        await store.close()


def with_engine(url: str, do: Callable[[Engine], Awaitable[T]]) -> T:
    """Do one thing with an engine on a database that is there. Raises PenstockError, Wrong."""
    must_be_there(url)

    async def work() -> T:
        async with Engine(url, tasks={}, work=False, feed=False) as engine:
            return await do(engine)

    return asyncio.run(work())


def must_be_there(url: str) -> None:
    """A mistyped path must not make a new database. Raises Wrong."""
    if is_shared(url):
        return
    path, _ = sqlite_path(url)
    if not os.path.isfile(path):
        raise Wrong.because(f"there is no database '{path}': look at --db.", "no_database")
