"""`penstock why` and `incidents`: what keeps runs from going on, and what waits for a person."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Annotated, Any

import typer
from rich.text import Text

from penstock.cli.at import At, Penstock, acting
from penstock.cli.console import out, print_json, printable
from penstock.cli.filters import Since
from penstock.cli.inputs import AsJson
from penstock.cli.pages import up_to
from penstock.cli.runs import Limit, OfWorkflow, Run
from penstock.cli.tables import print_table
from penstock.cli.times import Local, moment, read_moment

AtStep = Annotated[str | None, typer.Argument(metavar="[STEP]", help="Only this step.", show_default=False)]


@acting
def why(at: At, run: Run, step: AtStep = None, json: AsJson = False) -> None:
    """Say why a run does not go on, step by step: no worker, a pause, another run, a time, events that are missing.

    [bold]Examples[/bold]

      penstock why 1a1e21b4904dfa6a32b7

      penstock why 1a1e21b4904dfa6a32b7 ship
    """
    found = at.do(lambda engine: engine.why(run, step))
    if json:
        print_json(found)
        return
    out().print(printable(found["text"]), style="bold")
    for each in found["steps"]:
        out().print(Text.assemble((f"  {each['reason']:<10} ", "faint"), printable(each["text"])))


@acting
def incidents(
    at: At,
    workflow: OfWorkflow = None,
    since: Since = None,
    limit: Limit = 50,
    local: Local = False,
    json: AsJson = False,
) -> None:
    """List what waits for a person: failed and stalled runs, events set aside, events that nobody took.

    Each line says what can be done: `penstock retry`, `skip`, `cancel`, `rerun`.

    [bold]Examples[/bold]

      penstock incidents --workflow shop --since 2h
    """
    after = None if since is None else read_moment(since, "--since")

    def ask(engine: Penstock) -> Awaitable[list[dict[str, Any]]]:
        return up_to(
            limit,
            lambda size, cursor: engine.incidents(since=after, workflow=workflow, limit=size, cursor=cursor),
        )

    found = at.do(ask)
    if json:
        print_json(found)
        return
    rows = [
        (
            printable(str(each.get("run") or "")),
            each["kind"],
            moment(each.get("at"), local),
            ", ".join(each["actions"]),
            printable(each["text"]),
        )
        for each in found
    ]
    print_table(out(), ("run", "kind", "at", "actions", "what"), rows, ("at",))
