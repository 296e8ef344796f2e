"""`penstock secret`: values that steps use and nobody reads back."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from penstock.cli.admin.access import ME, with_access
from penstock.cli.io.command_group import group
from penstock.cli.io.console import err, plural, print_result, printable
from penstock.cli.io.inputs import AsJson
from penstock.cli.io.parameters import argument
from penstock.cli.io.problems import Wrong
from penstock.cli.io.tables import print_list
from penstock.cli.io.target import Target, acting_in
from penstock.cli.io.times import Local, moment
from penstock.remote.connection import path_of
from penstock.secrets.keys import Keys

secret = group(
    "Set, list and remove secrets, and renew their key. Their values are written, never read back."
)

Name = Annotated[str, argument("NAME", "The name of the secret.")]


@acting_in(secret, "set")
def set_secret(at: Target, name: Name, json: AsJson = False) -> None:
    """Set a secret to what is typed, or comes from stdin; never to something on the command line.

    [bold]Examples[/bold]

      penstock secret set mail.password

      pass show mail | penstock secret set mail.password
    """
    value = _read_value(name)
    keys = None if at.db is None else Keys.of(at.db)
    made = keys is not None and not keys.exist
    path = path_of("api", "secrets", name)
    view: dict[str, Any] = with_access(
        at,
        lambda engine: engine.connection.ask("PUT", path, {"value": value}),
        lambda access: access.set_secret(ME, name, value),
    )
    if keys is not None and made:
        _tell_of_key(keys)
    print_result(view, f"{printable(name)} is set, version {view['version']}", json)


def _tell_of_key(keys: Keys) -> None:
    """Where the first key was made: without it the other processes on the database cannot open the secret."""
    more = "; copy it to every other process on this database" if keys.shared else ""
    err().print(f"note: the key of the secrets is new, in {printable(str(keys.path.absolute()))}{more}")


def _read_value(name: str) -> str:
    """Typed twice where there is a terminal, else all of stdin without the end of its last line. Raises Wrong."""
    if sys.stdin.isatty():
        typed: str = typer.prompt(f"value of {name}", hide_input=True, confirmation_prompt=True, err=True)
        return typed
    value = sys.stdin.read().removesuffix("\n").removesuffix("\r")
    if not value:
        raise Wrong.because("stdin is empty: pipe the value into it, or type it at a terminal.")
    return value


@acting_in(secret, "list")
def list_secrets(at: Target, local: Local = False, json: AsJson = False) -> None:
    """List the secrets: their names, when they were set, and which key each is sealed with.

    [bold]Examples[/bold]

      penstock secret list
    """
    found = with_access(
        at, lambda engine: engine.listed("/api/secrets"), lambda access: access.list_secrets("", 1000)
    )
    print_list(
        found,
        json,
        ("secret", "version:", "set", "key"),
        lambda each: (
            printable(each["name"]),
            str(each["version"]),
            moment(each["updated_at"], local),
            each["key"],
        ),
    )


@acting_in(secret, "rm")
def remove_secret(at: Target, name: Name, json: AsJson = False) -> None:
    """Remove a secret.

    [bold]Examples[/bold]

      penstock secret rm mail.password
    """
    path = path_of("api", "secrets", name)
    with_access(
        at,
        lambda engine: engine.connection.ask("DELETE", path),
        lambda access: access.delete_secret(ME, name),
    )
    print_result({"name": name, "removed": True}, f"{printable(name)} is removed", json)


Reseal = Annotated[
    bool,
    typer.Option(
        "--reseal",
        help="Make no key: seal with the first of those there are. For keys in PENSTOCK_SECRET_KEY.",
    ),
]


@acting_in(secret, "rotate")
def rotate_key(at: Target, reseal: Reseal = False, json: AsJson = False) -> None:
    """Make a new key and seal every secret with it.

    Nothing needs to be stopped. Old keys stay in the file, for what is in backups. On PostgreSQL the new key must be
    on every node first: add it to every key file, then seal with --reseal.

    [bold]Examples[/bold]

      penstock secret rotate

      penstock secret rotate --db penstock.db

      penstock secret rotate --reseal
    """
    done = with_access(
        at,
        lambda engine: engine.connection.post(path_of("api", "secret-keys", "rotate"), {"make": not reseal}),
        lambda access: access.reseal_secrets(ME) if reseal else access.rotate_key(ME),
    )
    sealed = done if isinstance(done, int) else int(done["sealed"])
    print_result({"sealed": sealed}, f"{plural(sealed, 'secret')} sealed anew", json)
