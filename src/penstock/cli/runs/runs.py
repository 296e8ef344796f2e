"""`penstock runs`, `show`, `history` and `logs`: reading runs."""

from __future__ import annotations

from typing import Annotated, Any

from rich.text import Text

from penstock.cli.author.run_report import STYLES, cut, short
from penstock.cli.io.completion import run_ids
from penstock.cli.io.console import out, print_json, printable
from penstock.cli.io.inputs import AsJson
from penstock.cli.io.parameters import argument, option
from penstock.cli.io.tables import print_list, print_table
from penstock.cli.io.target import Target, acting
from penstock.cli.io.times import Local, ago, between, moment
from penstock.cli.runs.filters import filtering
from penstock.cli.runs.progress import LOOKS

Run = Annotated[str, argument("RUN", "The id of a run.", autocompletion=run_ids)]
Limit = Annotated[int, option("--limit", "N", "How many at most.", min=1, max=100_000)]
After = Annotated[int, option("--after", "N", "Only entries after this one.", min=0)]


@acting
@filtering
def runs(
    at: Target, wanted: dict[str, Any], limit: Limit = 50, local: Local = False, json: AsJson = False
) -> None:
    """List runs, the newest first.

    [bold]Examples[/bold]

      penstock runs --workflow shop --status failed

      penstock runs --waiting-for paid --waiting-since 2h

      penstock runs --label customer=7 --since 2026-03-02 --json
    """
    found = at.do(lambda engine: engine.runs(limit=limit, **wanted))
    print_list(
        found,
        json,
        ("run", "workflow", "status", "started", "ago", "subject"),
        lambda each: (
            each["id"],
            printable(each["workflow"]),
            Text(each["status"], STYLES.get(each["status"], "")),
            moment(each["started_at"], local),
            ago(each["started_at"]),
            printable(each["subject"] or ""),
        ),
        spare=("subject", "started"),
    )


@acting
def show(at: Target, run: Run, local: Local = False, json: AsJson = False) -> None:
    """Show a run as it is now.

    [bold]Examples[/bold]

      penstock show 1a1e21b4904dfa6a32b7 --json
    """
    show_view(at.do(lambda engine: engine.show(run)), json, local)


@acting
def history(at: Target, run: Run, after: After = 0, local: Local = False, json: AsJson = False) -> None:
    """Show all that happened to a run, in order.

    [bold]Examples[/bold]

      penstock history 1a1e21b4904dfa6a32b7
    """
    print_list(
        at.do(lambda engine: engine.history(run, after=after)),
        json,
        ("entry:", "at", "kind", "step", "event", "port", "what"),
        lambda entry: (
            str(entry["seq"]),
            moment(entry["at"], local),
            entry["kind"],
            *(printable(entry[name] or "") for name in ("step", "event", "port")),
            printable(_what(entry)),
        ),
        spare=("at",),
    )


def _what(entry: dict[str, Any]) -> str:
    """Why an attempt or a step failed, why somebody repaired, how the run ended; else nothing."""
    data = entry["data"] if isinstance(entry["data"], dict) else {}
    if entry["kind"] == "attempt" and "error" in data:
        return f"attempt {entry['attempt']}: {_message(data)}"
    if entry["kind"] == "ended" and entry["port"] == "failed":
        return _message(data)
    told = {"repaired": "reason", "run_ended": "status"}.get(entry["kind"], "")
    return str(data.get(told) or "")


def _message(data: dict[str, Any]) -> str:
    error = data.get("error")
    return cut(str(error.get("message", ""))) if isinstance(error, dict) else ""


def show_view(view: dict[str, Any], json: bool = False, local: bool = False) -> None:
    """A run: for programs, or for people its status, its steps, why it failed or waits."""
    if json:
        print_json(view)
        return
    console, status = out(), view["status"]
    console.print(
        Text.assemble(
            f"{printable(view['workflow'])} ",
            (status, STYLES.get(status, "")),
            f" after {between(view['started_at'], view['ended_at'])}",
            (f" · run {view['id']} · version {view['version']}", "faint"),
            (f" · started {moment(view['started_at'], local)}", "faint"),
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
    if view["result"] not in (None, {}):
        console.print(Text.assemble(("result: ", "bold"), printable(short(view["result"]))))
    if view["waiting_for"]:
        console.print(f"waiting for: {printable(', '.join(view['waiting_for']))}")
