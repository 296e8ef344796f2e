"""`penstock publish`, `workflows` and `start`: workflows in a database."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated, Any

import typer

from penstock.cli.commands import NO, YES
from penstock.cli.console import out, print_json, printable
from penstock.cli.databases import DbOrHere, with_engine
from penstock.cli.inputs import AsJson, NoTasks, Tasks, read, read_input
from penstock.cli.run import Subject
from penstock.cli.runs import show_view
from penstock.cli.tables import print_table
from penstock.engine.engine import Engine
from penstock.engine.running import Running
from penstock.store.rows import Version

HERE = "penstock.db"

Files = Annotated[list[str], typer.Argument(metavar="FILE...", help="Workflows in YAML or JSON.")]
Start = Annotated[
    bool | None,
    typer.Option(
        "--start/--no-start", show_default=False,
        help="Let the source of a new workflow make runs, or not. By default one that is started by hand does.",
    ),
]  # fmt: skip
Workflow = Annotated[str, typer.Argument(metavar="NAME", help="The name of a published workflow.")]
Input = Annotated[
    str | None,
    typer.Option(
        "--input", metavar="JSON|@FILE", help="The run's input; @FILE reads it from a file, @- from stdin.",
        show_default=False,
    ),
]  # fmt: skip
Key = Annotated[
    str | None,
    typer.Option(
        "--key", metavar="TEXT", help="An idempotency key: a second start with it gives the first run.",
        show_default=False,
    ),
]  # fmt: skip
Wait = Annotated[bool, typer.Option("--wait", help="Wait until the run has ended or is stalled.")]


def publish(
    files: Files,
    tasks: Tasks = None,
    start: Start = None,
    db: DbOrHere = HERE,
    no_tasks: NoTasks = False,
    json: AsJson = False,
) -> None:
    """Publish workflows; one that did not change gets no new version.

    [bold]Examples[/bold]

      penstock publish shop.yaml --db postgresql://penstock@db.example/penstock
    """
    found = [(Path(file), read(file, tasks, no_tasks).tasks) for file in files]

    async def put(file: Path, offered: Any) -> Version:
        running = await Running.open(db, offered, work=False)
        try:
            return await running.catalog.publish(file, start=start, again=False)
        finally:
            await running.close()

    versions = [asyncio.run(put(file, offered)) for file, offered in found]
    if json:
        print_json([{"name": each.workflow, "version": each.version} for each in versions])
        return
    for each in versions:
        out().print(f"{printable(each.workflow)} version {each.version}")


def workflows(db: DbOrHere = HERE, json: AsJson = False) -> None:
    """List the workflows that are published.

    [bold]Examples[/bold]

      penstock workflows --json
    """
    found = with_engine(db, lambda engine: engine.workflows())
    if json:
        print_json(found)
        return
    rows = [(printable(each["name"]), str(each["published_version"]), _state(each)) for each in found]
    print_table(out(), ("workflow", "version:", "state"), rows)


def _state(workflow: dict[str, Any]) -> str:
    started = "started" if workflow["started"] else "stopped"
    return f"{started}, paused" if workflow["paused"] else started


def start(
    name: Workflow,
    input: Input = None,
    subject: Subject = None,
    key: Key = None,
    wait: Wait = False,
    db: DbOrHere = HERE,
    json: AsJson = False,
) -> None:
    """Start a run of a published workflow; processes that serve the database work on it.

    Exit code 0: it is started, or with --wait: it succeeded. 1: it did not.

    [bold]Examples[/bold]

      penstock start shop --input '{"order": 7}' --key order-7

      penstock start shop --wait --json
    """
    given = None if input is None else read_input(input)

    async def begin(engine: Engine) -> dict[str, Any]:
        run = await engine.start(name, input=given, subject=subject, idempotency_key=key)
        return await engine.wait(run) if wait else await engine.show(run)

    view = with_engine(db, begin)
    if json:
        print_json(view)
    elif wait:
        show_view(view)
    else:
        out().print(view["id"])
    raise typer.Exit(NO if wait and view["status"] != "succeeded" else YES)
