"""Where a command acts: on a server by default, or with `--db` on a database."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Annotated, TypeVar

import typer
from msgspec import Struct

from penstock.cli.admin.database import with_engine
from penstock.cli.io.command_group import Command
from penstock.cli.io.parameters import Function, expanded, option
from penstock.cli.io.problems import Wrong
from penstock.cli.serve.settings import settings_of
from penstock.engine.engine import Engine
from penstock.remote.engine import RemoteEngine

T = TypeVar("T")

Penstock = Engine | RemoteEngine

Server = Annotated[
    str | None,
    option(
        "--server",
        "URL",
        "The server to act on; http://127.0.0.1:7777 unless said otherwise. Also PENSTOCK_SERVER.",
    ),
]
Token = Annotated[
    str | None,
    option(
        "--token",
        "TOKEN",
        "A token, where the server needs sign-in. Better PENSTOCK_TOKEN: others cannot see it.",
    ),
]
OnDb = Annotated[
    str | None,
    option("--db", "URL", "Act on a database instead: a path for SQLite, or postgresql://user@host/name."),
]
PLACE = {"server": Server, "token": Token, "db": OnDb}


class Target(Struct, frozen=True):
    """One place that a command acts on: a server, or a database where `db` is named."""

    server: str
    token: str | None = None
    db: str | None = None

    def do(self, work: Callable[[Penstock], Awaitable[T]]) -> T:
        """Do one thing there. Raises PenstockError, Wrong."""
        if self.db is not None:
            return with_engine(self.db, work)
        return self.ask(work)

    def ask(self, work: Callable[[RemoteEngine], Awaitable[T]]) -> T:
        """Do one thing at the server. Raises PenstockError."""

        async def asked() -> T:
            async with RemoteEngine(self.server, self.token) as engine:
                return await work(engine)

        return asyncio.run(asked())


def place(server: str | None, token: str | None, db: str | None) -> Target:
    """Where the options point. Raises Wrong, BadSettings."""
    if server is not None and db is not None:
        raise Wrong.because("--server and --db contradict each other: give one of them.")
    settings = settings_of(server=server, token=token)
    return Target(settings["server"], settings["token"], db)


def acting(command: Function) -> Function:
    """The command takes `--server`, `--token` and `--db` before `--json`, and gets what they say as `at`."""
    return expanded(command, "at", PLACE, place, lambda own, added: [*own[:-1], *added, own[-1]])


def acting_in(group: typer.Typer, name: str | None = None) -> Callable[[Function], Function]:
    """The same for a command of a group."""
    return lambda command: group.command(name, cls=Command)(acting(command))
