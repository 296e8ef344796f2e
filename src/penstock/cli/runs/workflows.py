"""`penstock publish`, `workflows`, `start-source`, `stop-source` and `start`."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

import typer
from rich.text import Text

from penstock.cli.author.check import show_findings
from penstock.cli.author.run import Subject
from penstock.cli.io.command_group import NO, YES
from penstock.cli.io.completion import workflow_names
from penstock.cli.io.console import err, out, plural, print_json, print_result, printable
from penstock.cli.io.inputs import AsJson, Files, NoTasks, Read, Tasks, read, read_input
from penstock.cli.io.parameters import argument, option
from penstock.cli.io.problems import Wrong
from penstock.cli.io.tables import print_list
from penstock.cli.io.target import Penstock, Target, acting
from penstock.cli.runs.filters import read_pair
from penstock.cli.runs.runs import show_view
from penstock.cli.runs.watch_stream import watched
from penstock.engine.authoring.check_gate import CheckFailed, check_loaded
from penstock.engine.services import EngineServices
from penstock.flow.checks.findings import Finding
from penstock.flow.model.problems import DefinitionError

Start = Annotated[
    bool | None,
    typer.Option(
        "--start/--no-start",
        help="Let the source of a new workflow make runs, or not. By default one that is started by hand does.",
    ),
]
Note = Annotated[str | None, option("--note", "TEXT", "What is new in this version.")]
Workflow = Annotated[
    str, argument("NAME", "The name of a published workflow.", autocompletion=workflow_names)
]
Input = Annotated[
    str | None, option("--input", "JSON|@FILE", "The run's input; @FILE reads it from a file, @- from stdin.")
]
Key = Annotated[
    str | None, option("--key", "TEXT", "An idempotency key: a second start with it gives the first run.")
]
Labels = Annotated[
    list[str] | None, option("--label", "NAME=VALUE", "A label to find the run by. May be given again.")
]
Wait = Annotated[bool, typer.Option("--wait", help="Wait until the run has ended or is stalled.")]


@acting
def publish(
    at: Target,
    files: Files,
    tasks: Tasks = None,
    start: Start = None,
    note: Note = None,
    no_tasks: NoTasks = False,
    json: AsJson = False,
) -> None:
    """Publish workflows; one that did not change gets no new version.

    They are checked first, with the Python tasks next to them: one with an error is not published, nor are those
    named after it. Exit code 0: all are published. 1: the checks find an error. 2: a file cannot be read.

    [bold]Examples[/bold]

      penstock publish shop.yaml

      penstock publish workflows/*.yaml --start --note "ships on Sundays"

      penstock publish shop.yaml --db postgresql://penstock@db.example/penstock
    """
    found = [read(file, tasks, no_tasks) for file in files]
    published: list[dict[str, Any]] = []
    for workflow in found:
        published.append(_published(at, workflow, note, start))
        if not json:
            _tell(workflow, published[-1])
        if published[-1]["version"] is None:
            break
    if json:
        print_json([{name: each[name] for name in ("name", "version", "findings")} for each in published])
    if published[-1]["version"] is None:
        _fail(published[-1]["why"], len(found) - len(published))


def _tell(workflow: Read, published: dict[str, Any]) -> None:
    if published["version"] is None:
        findings = map(Finding.from_plain, published["findings"])
        show_findings(out(), workflow.name, workflow.text, findings)
        return
    out().print(f"{printable(published['name'])} version {published['version']}")
    for finding in published["findings"]:
        out().print(Text.assemble(("  warning", "warning"), f": {printable(finding['message'])}"))


def _fail(why: str, behind: int) -> None:
    """The sentence, and how many were left out for it. Raises Exit."""
    err().print(Text.assemble(("error", "error"), f": {printable(why)}"))
    if behind:
        err().print(f"  {plural(behind, 'file')} named after it: not published either")
    raise typer.Exit(NO)


def _published(at: Target, workflow: Read, note: str | None, start: bool | None) -> dict[str, Any]:
    """Name, version and warnings; of one that is refuted no version, all errors and warnings, and why.

    What the server finds wrong is shown in the file.
    """
    name = workflow.loaded.flow.name
    text = workflow.text if "\n" in workflow.text else f"{workflow.text}\n"
    why: str | None = None
    try:
        if at.db is not None:
            answer = asyncio.run(_published_to_database(at.db, workflow, text, note, start))
        else:
            answer = at.ask(lambda engine: engine.publish(name, text, note=note, start=start, again=False))
    except DefinitionError as error:
        raise Wrong.reading(error, workflow.name, workflow.text) from None
    except CheckFailed as error:
        why, answer = str(error), {"version": None, "findings": error.findings}
    found = [each for each in answer["findings"] if each["severity"] != "info"]
    return {"name": name, "version": answer["version"], "findings": found, "why": why}


async def _published_to_database(
    db: str, workflow: Read, text: str, note: str | None, start: bool | None
) -> dict[str, Any]:
    running = await EngineServices.open(db, workflow.tasks, work=False, feed=False)
    try:
        version = await running.catalog.publish(text, note, start, again=False)
        findings = [each.to_plain() for each in check_loaded(workflow.loaded).findings]
        return {"version": version.version, "findings": findings}
    finally:
        await running.close()


@acting
def workflows(at: Target, json: AsJson = False) -> None:
    """List the workflows that are published.

    [bold]Examples[/bold]

      penstock workflows --json
    """
    print_list(
        at.do(lambda engine: engine.workflows()),
        json,
        ("workflow", "version:", "state"),
        lambda each: (printable(each["name"]), str(each["published_version"] or ""), _state(each)),
    )


def _state(workflow: dict[str, Any]) -> str:
    started = "started" if workflow["started"] else "stopped"
    return f"{started}, paused" if workflow["paused"] else started


@acting
def start_source(at: Target, name: Workflow, json: AsJson = False) -> None:
    """Start the source of a workflow.

    [bold]Examples[/bold]

      penstock start-source nightly
    """
    at.do(lambda engine: engine.start_source(name))
    print_result({"name": name, "state": "started"}, f"{printable(name)} is started", json)


@acting
def stop_source(at: Target, name: Workflow, json: AsJson = False) -> None:
    """Stop the source of a workflow. Active runs finish.

    [bold]Examples[/bold]

      penstock stop-source nightly
    """
    at.do(lambda engine: engine.stop_source(name))
    print_result({"name": name, "state": "stopped"}, f"{printable(name)} is stopped", json)


@acting
def start(
    at: Target,
    name: Workflow,
    input: Input = None,
    subject: Subject = None,
    key: Key = None,
    label: Labels = None,
    wait: Wait = False,
    json: AsJson = False,
) -> None:
    """Start a run of a published workflow.

    Exit code 0: it is started, or with --wait: it succeeded. 1: it did not.

    [bold]Examples[/bold]

      penstock start shop --input '{"order": 7}' --key order-7

      penstock start shop --wait --json
    """
    given = None if input is None else read_input(input)
    labels = dict(read_pair(each, "--label") for each in label or ()) or None

    async def begin(engine: Penstock) -> dict[str, Any]:
        run = await engine.start(name, input=given, subject=subject, labels=labels, idempotency_key=key)
        if not wait:
            return {"id": run} if not json else await engine.show(run)
        return await watched(engine, run, quiet=json)

    view = at.do(begin)
    if json or wait:
        show_view(view, json)
    else:
        out().print(view["id"])
    raise typer.Exit(NO if wait and view["status"] != "succeeded" else YES)
