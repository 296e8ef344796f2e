"""`penstock why` and `incidents`: what keeps runs from going on, and what waits for a person."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Annotated, Any

import typer
from rich.text import Text

from penstock.cli.author.run_report import short
from penstock.cli.io.command_group import NO, YES
from penstock.cli.io.console import out, print_json, print_result, printable
from penstock.cli.io.inputs import AsJson
from penstock.cli.io.parameters import argument
from penstock.cli.io.tables import print_list
from penstock.cli.io.target import Penstock, Target, acting
from penstock.cli.io.times import Local, moment, read_moment
from penstock.cli.runs.filters import OfWorkflow, Since
from penstock.cli.runs.runs import Limit, Run
from penstock.remote.paging import up_to

Number = Annotated[int, argument("NUMBER", "The number of the event.", min=1)]
AtStep = Annotated[str | None, argument("[STEP]", "Only this step.")]


@acting
def why(at: Target, run: Run, step: AtStep = None, json: AsJson = False) -> None:
    """Say why a run does not continue, step by step: no worker, a pause, another run, a time, events that are missing.

    [bold]Examples[/bold]

      penstock why 1a1e21b4904dfa6a32b7

      penstock why 1a1e21b4904dfa6a32b7 ship
    """
    found = at.do(lambda engine: engine.why(run, step))
    if json:
        print_json(found)
        return
    out().print(printable(found["text"]), style="bold")
    for each in (*found["steps"], *found["refused_keys"]):
        out().print(reason_line(each))


def reason_line(each: dict[str, Any]) -> Text:
    """Why a step does not go on, and how far its worker says that it is."""
    progress = each.get("progress")
    told = "" if progress is None else f" Progress: {short(progress)}"
    return Text.assemble((f"  {each.get('reason', 'key'):<14} ", "faint"), printable(each["text"] + told))


@acting
def incidents(
    at: Target,
    workflow: OfWorkflow = None,
    since: Since = None,
    limit: Limit = 50,
    local: Local = False,
    json: AsJson = False,
) -> None:
    """List what waits for a person: failing sources, failed and stalled runs, events set aside or not taken.

    Each line says what can be done: `penstock retry`, `skip`, `cancel`, `rerun`, and of an event `redeliver`, with the
    number in the first column.

    [bold]Examples[/bold]

      penstock incidents --workflow shop --since 2h
    """
    after = None if since is None else read_moment(since, "--since")

    def ask(engine: Penstock) -> Awaitable[list[dict[str, Any]]]:
        return up_to(
            limit,
            lambda size, cursor: engine.incidents(since=after, workflow=workflow, limit=size, cursor=cursor),
        )

    print_list(
        at.do(ask),
        json,
        ("run or event", "kind", "at", "actions", "what"),
        lambda each: (
            printable(str(each.get("run") or each.get("id") or "")),
            each["kind"],
            moment(each.get("at"), local),
            ", ".join(each["actions"]),
            printable(each["text"]),
        ),
        spare=("at",),
    )


@acting
def redeliver(at: Target, number: Number, json: AsJson = False) -> None:
    """Give an event that nobody took to the run that has its key now; `penstock incidents` shows its number.

    One that could not start a run, such as that of an object, starts it now. Exit code 1: no run has its key.

    [bold]Examples[/bold]

      penstock redeliver 17
    """
    done = at.do(lambda engine: engine.redeliver(number))
    words = "delivered" if done else "no run has its key yet: it stays where it is"
    print_result({"id": number, "delivered": done}, words, json)
    raise typer.Exit(YES if done else NO)
