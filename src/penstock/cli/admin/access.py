"""`penstock access`: tokens for people, programs and workers."""

from __future__ import annotations

import asyncio
import getpass
import socket
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Literal

import msgspec

from penstock.access.access import Access
from penstock.access.caller import Caller
from penstock.access.roles import ROLES, role_named
from penstock.access.tokens import DEFAULT_LIFE, TokenRequest
from penstock.cli.admin.database import once
from penstock.cli.io.command_group import group
from penstock.cli.io.console import note, out, print_json, print_result, printable
from penstock.cli.io.inputs import AsJson
from penstock.cli.io.parameters import argument, option
from penstock.cli.io.problems import Wrong
from penstock.cli.io.tables import print_list
from penstock.cli.io.target import Target, acting_in
from penstock.cli.io.times import Local, ago, moment
from penstock.remote.connection import path_of
from penstock.remote.engine import RemoteEngine
from penstock.server.build import access_to
from penstock.store.open import open_store

ME = Caller(name="command line", role="admin", local=True)
"""Who can open the database may do everything with it."""

access = group("Make, list and revoke tokens.")

RoleOption = Annotated[str, option("--role", "ROLE", f"What it may do: {', '.join(ROLES)}.")]
Name = Annotated[str | None, option("--name", "TEXT", "Who or what will use it; by default you.")]
Expires = Annotated[str, option("--expires", "DAYS", "After how many days it ends, or `never`.")]
Workflows = Annotated[
    list[str] | None,
    option("--workflow", "NAME", "Only for this workflow; * stands for anything. May be given again."),
]
TaskLists = Annotated[
    list[str] | None,
    option("--task-list", "LIST", "A worker's: only for this task list. May be given again."),
]
Concurrency = Annotated[
    int | None, option("--concurrency", "N", "A worker's: tasks that it may hold.", min=1)
]
Id = Annotated[str, argument("ID", "The id of a token, as `penstock access list` shows it.")]


@acting_in(access)
def create(
    at: Target,
    role: RoleOption,
    name: Name = None,
    expires: Expires = str(DEFAULT_LIFE.days),
    workflow: Workflows = None,
    task_list: TaskLists = None,
    concurrency: Concurrency = None,
    json: AsJson = False,
) -> None:
    """Make a token; it is shown this once.

    With --db it is made in the database itself, which is how the first one comes about.

    [bold]Examples[/bold]

      penstock access create --role admin --db penstock.db

      penstock access create --role worker --task-list gpu --name gpu-box --expires never
    """
    known = role_named(role)
    if known is None:
        raise Wrong.because(f"--role '{role}' is not known: say {', '.join(ROLES)}.")
    request = TokenRequest(
        name=name or f"{getpass.getuser()}@{socket.gethostname()}",
        role=known,
        expires_in=_read_days(expires),
        workflows=tuple(workflow) if workflow else None,
        task_lists=tuple(task_list) if task_list else None,
        concurrency=concurrency,
    )
    made = _made(at, request)
    if json:
        print_json(made)
        return
    note(f"{made['role']} '{printable(made['name'])}', id {made['id']}; this is the only time it is shown:")
    out().print(made["token"])


def _made(at: Target, request: TokenRequest) -> dict[str, Any]:
    """The token's view, with the token itself."""
    made: dict[str, Any] = with_access(
        at,
        lambda engine: engine.connection.post("/api/access", msgspec.to_builtins(request)),
        lambda access: access.create(ME, request),
    )
    return {"token": made["token"], **made.get("view", made)}


@acting_in(access, "list")
def list_tokens(at: Target, local: Local = False, json: AsJson = False) -> None:
    """List the tokens, the newest first; never what they are made of.

    [bold]Examples[/bold]

      penstock access list
    """
    found = with_access(
        at, lambda engine: engine.listed("/api/access"), lambda access: access.list(None, 1000)
    )
    print_list(
        found,
        json,
        ("id", "name", "role", "state", "expires", "used", "bound to"),
        lambda each: (
            each["id"],
            printable(each["name"]),
            each["role"],
            each["state"],
            moment(each["expires_at"], local) or "never",
            ago(each["used_at"]) or "never",
            printable(", ".join(each["workflows"] or each["task_lists"] or ())),
        ),
        spare=("bound to", "used"),
    )


@acting_in(access)
def revoke(at: Target, id: Id, json: AsJson = False) -> None:
    """Revoke a token: it is invalid from now on.

    [bold]Examples[/bold]

      penstock access revoke 1uA9xW2bQfT0
    """
    path = path_of("api", "access", id)
    with_access(
        at, lambda engine: engine.connection.ask("DELETE", path), lambda access: access.revoke(ME, id)
    )
    print_result({"id": id, "state": "revoked"}, f"{printable(id)} is revoked", json)


def with_access(
    at: Target, far: Callable[[RemoteEngine], Awaitable[Any]], near: Callable[[Access], Awaitable[Any]]
) -> Any:
    """Ask the server, or do it in the database that is named, which is made where it is not there; in plain values.

    Raises PenstockError.
    """
    db = at.db
    if db is None:
        return at.ask(far)
    return msgspec.to_builtins(asyncio.run(once(open_store(db), lambda store: near(access_to(store, db)))))


def _read_days(text: str) -> int | Literal["never"]:
    if text == "never":
        return "never"
    if not text.isdigit():
        raise Wrong.because(f"--expires '{text}' is no number of days: write 30, or never.")
    return int(text)
