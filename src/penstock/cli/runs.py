"""`penstock runs`, `show`, `history`, `emit`, `cancel`, `retry`, `pause` and `resume`: runs in a database."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, Any, get_args

import typer
from rich.text import Text

from penstock.cli.console import out, print_json, printable
from penstock.cli.databases import DbOrHere, with_engine
from penstock.cli.inputs import AsJson, read_json
from penstock.cli.problems import Wrong
from penstock.cli.progress import LOOKS
from penstock.cli.run_report import STYLES
from penstock.cli.tables import print_table
from penstock.engine.engine import Engine
from penstock.flow.run import Status

HERE = "penstock.db"

Run = Annotated[str, typer.Argument(metavar="RUN", help="The id of a run.")]
OfWorkflow = Annotated[
    str | None, typer.Option("--workflow", metavar="NAME", help="Only of this one.", show_default=False)
]
OfStatus = Annotated[
    list[str] | None,
    typer.Option("--status", metavar="STATUS", help="Only these. May be given again.", show_default=False),
]
OfSubject = Annotated[
    str | None, typer.Option("--subject", metavar="TEXT", help="Only about this.", show_default=False)
]
Limit = Annotated[int, typer.Option("--limit", metavar="N", min=1, max=1000, help="How many at most.")]
Words = Annotated[
    list[str], typer.Argument(metavar="[RUN] EVENT [JSON]", help="The run, the event and its data.")
]
ByKey = Annotated[
    str | None,
    typer.Option(
        "--key", metavar="NAME=VALUE", help="Find the run by a correlation key, instead of its id.",
        show_default=False,
    ),
]  # fmt: skip
EventId = Annotated[
    str | None,
    typer.Option("--id", metavar="TEXT", help="An id: the event counts once.", show_default=False),
]
Force = Annotated[bool, typer.Option("--force", help="Do not run the clean-up steps.")]
Reason = Annotated[str | None, typer.Option("--reason", metavar="TEXT", help="Why.", show_default=False)]
Step = Annotated[
    str | None,
    typer.Argument(metavar="[STEP]", help="Only this failed step; else all.", show_default=False),
]


def runs(
    workflow: OfWorkflow = None,
    status: OfStatus = None,
    subject: OfSubject = None,
    limit: Limit = 50,
    db: DbOrHere = HERE,
    json: AsJson = False,
) -> None:
    """List runs, the newest first.

    [bold]Examples[/bold]

      penstock runs --workflow shop --status failed
    """
    known = get_args(Status)
    if unknown := [each for each in status or () if each not in known]:
        raise Wrong.because(f"--status '{unknown[0]}' is not known: say {', '.join(known)}.")
    wanted = {"workflow": workflow, "statuses": tuple(status or ()), "subject": subject, "limit": limit}
    found = with_engine(db, lambda engine: engine.runs(**wanted))
    if json:
        print_json(found)
        return
    rows = [
        (
            row["id"],
            printable(row["workflow"]),
            Text(row["status"], STYLES.get(row["status"], "")),
            row["started_at"],
            printable(row["subject"] or ""),
        )
        for row in found
    ]
    print_table(out(), ("run", "workflow", "status", "started", "subject"), rows, ("subject", "started"))


def show(run: Run, db: DbOrHere = HERE, json: AsJson = False) -> None:
    """Show a run as it is now.

    [bold]Examples[/bold]

      penstock show 1a1e21b4904dfa6a32b7 --json
    """
    _act(db, json, lambda engine: engine.show(run))


def history(run: Run, db: DbOrHere = HERE, json: AsJson = False) -> None:
    """Show all that happened to a run, in order.

    [bold]Examples[/bold]

      penstock history 1a1e21b4904dfa6a32b7
    """
    found = with_engine(db, lambda engine: engine.history(run))
    if json:
        print_json(found)
        return
    rows = [
        (
            str(entry["seq"]),
            entry["at"],
            entry["kind"],
            *(_cell(entry[name]) for name in ("step", "event", "port")),
        )
        for entry in found
    ]
    print_table(out(), ("entry:", "at", "kind", "step", "event", "port"), rows, ("at",))


def emit(
    words: Words, key: ByKey = None, id: EventId = None, db: DbOrHere = HERE, json: AsJson = False
) -> None:
    """Fire an outside event into a run; one that comes before its key is kept for it.

    [bold]Examples[/bold]

      penstock emit 1a1e21b4904dfa6a32b7 approved '{"by": "ann"}'

      penstock emit --key job=123 encoded --id message-7
    """
    run, rest = (None, words) if key is not None else (words[0], words[1:])
    if not 1 <= len(rest) <= 2:
        raise Wrong.because(
            "say which event: penstock emit RUN EVENT [JSON], or --key NAME=VALUE EVENT [JSON]."
        )
    data = read_json(rest[1], "the data") if len(rest) == 2 else None
    by = None if key is None else _read_key(key)
    answer = with_engine(db, lambda engine: engine.emit(rest[0], data, run=run, key=by, id=id))
    if json:
        print_json({"answer": answer})
    else:
        out().print(answer)


def cancel(
    run: Run, force: Force = False, reason: Reason = None, db: DbOrHere = HERE, json: AsJson = False
) -> None:
    """Cancel a run; its clean-up steps still run.

    [bold]Examples[/bold]

      penstock cancel 1a1e21b4904dfa6a32b7 --reason "ordered twice"
    """
    _act(db, json, lambda engine: engine.cancel(run, force=force, reason=reason))


def retry(run: Run, step: Step = None, db: DbOrHere = HERE, json: AsJson = False) -> None:
    """Put back what the failed steps of a failed run consumed, and run on.

    [bold]Examples[/bold]

      penstock retry 1a1e21b4904dfa6a32b7
    """
    _act(db, json, lambda engine: engine.retry(run, step))


def pause(run: Run, db: DbOrHere = HERE, json: AsJson = False) -> None:
    """Dispatch nothing new of a run until it is resumed.

    [bold]Examples[/bold]

      penstock pause 1a1e21b4904dfa6a32b7
    """
    _act(db, json, lambda engine: engine.pause(run))


def resume(run: Run, db: DbOrHere = HERE, json: AsJson = False) -> None:
    """Go on where a pause held a run.

    [bold]Examples[/bold]

      penstock resume 1a1e21b4904dfa6a32b7
    """
    _act(db, json, lambda engine: engine.resume(run))


def _act(db: str, json: bool, do: Callable[[Engine], Awaitable[dict[str, Any]]]) -> None:
    """Do something with a run and show what it is then."""
    view = with_engine(db, do)
    if json:
        print_json(view)
    else:
        show_view(view)


def show_view(view: dict[str, Any]) -> None:
    """A run for people: its status, its steps, why it failed or waits."""
    console, status = out(), view["status"]
    console.print(
        Text.assemble(
            f"{printable(view['workflow'])} ",
            (status, STYLES.get(status, "")),
            (f" · run {view['id']}", "faint"),
        )
    )
    rows = [
        (
            Text(f"{LOOKS[step['status']][0]} {printable(name)}"),
            step["status"],
            step["port"] or "",
            str(step["attempts"]),
        )
        for name, step in view["steps"].items()
    ]
    print_table(console, ("step", "status", "port", "attempts:"), rows)
    if view["error"]:
        console.print(Text.assemble(("error: ", "error"), printable(view["error"]["message"])))
    if view["waiting_for"]:
        console.print(f"waiting for: {printable(', '.join(view['waiting_for']))}")


def _cell(value: str | None) -> str:
    return printable(value or "")


def _read_key(text: str) -> dict[str, str]:
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise Wrong.because(f"--key '{text}' is no key: write --key NAME=VALUE.")
    return {name: value}
