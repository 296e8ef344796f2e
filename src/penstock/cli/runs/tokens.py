"""`penstock tokens`: the state of every run by name, open to inspection and repair."""

from __future__ import annotations

from typing import Annotated, Any

from penstock.cli.io.command_group import group
from penstock.cli.io.console import out, print_json, printable
from penstock.cli.io.inputs import AsJson, read_input
from penstock.cli.io.parameters import argument, option
from penstock.cli.io.problems import Wrong
from penstock.cli.io.tables import print_list
from penstock.cli.io.target import Penstock, Target, acting_in
from penstock.cli.io.times import Local, moment, read_moment
from penstock.cli.runs.actions import Reason
from penstock.cli.runs.runs import Limit
from penstock.remote.paging import PAGE, up_to

tokens = group("Look at the marking of runs, and repair it.")

Prefix = Annotated[str, argument("[PREFIX]", "How their names begin.")]
Name = Annotated[str, argument("NAME", "Such as /runs/shop/1a1e…/slots/ship/0/1, or /custom/anything.")]
Data = Annotated[str, argument("JSON|@FILE", "Its data; @FILE reads it from a file.")]
Version = Annotated[
    int | None,
    option("--version", "N", "The version that it must have now; without it, put makes a new token."),
]
Owner = Annotated[str | None, option("--owner", "TEXT", "Who owns it.")]
Expires = Annotated[str | None, option("--expires", "TIME", "Until when it is owned.")]
Priority = Annotated[float, option("--priority", "N", "The highest is claimed first.")]


@acting_in(tokens)
def ls(
    at: Target, prefix: Prefix = "/runs/", limit: Limit = 1000, local: Local = False, json: AsJson = False
) -> None:
    """List tokens by the beginning of their names: of live runs, of ended ones (/history/), or your own (/custom/).

    [bold]Examples[/bold]

      penstock tokens ls /runs/shop/

      penstock tokens ls /custom/ --json
    """
    found = at.do(lambda engine: _read(engine, prefix, limit))
    print_list(
        found,
        json,
        ("token", "version:", "owner", "expires", "priority:"),
        lambda each: (
            printable(each["name"]),
            str(each["version"]),
            printable(each["owner"] or ""),
            moment(each["expires"], local),
            f"{each['priority']:g}",
        ),
        spare=("expires", "priority:"),
    )


@acting_in(tokens)
def cat(at: Target, name: Name, json: AsJson = False) -> None:
    """Print the data of a token; with --json all of it.

    [bold]Examples[/bold]

      penstock tokens cat /runs/shop/1a1e21b4904dfa6a32b7/steps/ship
    """
    found = at.do(lambda engine: _one(engine, name))
    print_json(found if json else found["data"])


@acting_in(tokens)
def put(
    at: Target,
    name: Name,
    data: Data,
    version: Version = None,
    owner: Owner = None,
    expires: Expires = None,
    priority: Priority = 0,
    reason: Reason = None,
    json: AsJson = False,
) -> None:
    """Make a token, or with --version change one that has this version; in a slot of a run this is a repair.

    [bold]Examples[/bold]

      penstock tokens put /custom/mine/1 '{"page": 7}' --priority 2

      penstock tokens put /runs/shop/1a1e21b4904dfa6a32b7/slots/ship/0/1 '{"event": "paid"}' --reason "paid in cash"
    """
    token: dict[str, Any] = {"name": name, "data": read_input(data), "owner": owner, "priority": priority}
    if expires is not None:
        token["expires"] = read_moment(expires, "--expires").isoformat()
    changes = {"insert": [token]} if version is None else {"update": [{**token, "version": version}]}
    answer = at.do(lambda engine: engine.edit_tokens(**changes, reason=reason))
    _show(answer, f"{name} is put", json)


@acting_in(tokens)
def rm(at: Target, name: Name, version: Version = None, reason: Reason = None, json: AsJson = False) -> None:
    """Remove a token, as it is now or with --version only as it was then.

    [bold]Examples[/bold]

      penstock tokens rm /custom/mine/1
    """

    async def remove(engine: Penstock) -> dict[str, Any]:
        known = version if version is not None else (await _one(engine, name))["version"]
        return await engine.edit_tokens(delete=[{"name": name, "version": known}], reason=reason)

    _show(at.do(remove), f"{name} is removed", json)


def _show(answer: dict[str, Any], words: str, json: bool) -> None:
    if json:
        print_json(answer)
        return
    written = "".join(f", version {each['version']}" for each in answer.get("items", ()))
    out().print(printable(words) + written)
    if fires := answer.get("will_fire"):
        out().print(f"now begins: {printable(', '.join(map(str, fires)))}")


async def _read(engine: Penstock, prefix: str, limit: int) -> list[dict[str, Any]]:
    return await up_to(limit, lambda size, cursor: engine.tokens(prefix, limit=size, cursor=cursor))


async def _one(engine: Penstock, name: str) -> dict[str, Any]:
    """The token of that very name. Raises Wrong."""
    for each in await _read(engine, name, PAGE):
        if each["name"] == name:
            return each
    raise Wrong.because(f"there is no token '{name}': see `penstock tokens ls`.", "not_found")
