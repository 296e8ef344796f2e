"""`penstock demo`: the example workflows, proved, drawn and run: a tour."""

from __future__ import annotations

import json as json_text
import tempfile
from pathlib import Path
from typing import Annotated, Any

import typer
from msgspec import Struct
from rich.console import Console
from rich.text import Text

from penstock.cli.check import report_of
from penstock.cli.commands import NO, YES
from penstock.cli.console import out, plural, print_json
from penstock.cli.draw import drawn
from penstock.cli.findings import show_report, verdict_words
from penstock.cli.inputs import AsJson, Read, read
from penstock.cli.problems import Wrong
from penstock.cli.run import play
from penstock.cli.run_report import event_option, failures
from penstock.flow.checking.findings import Report
from penstock.flow.rest import waiting_for
from penstock.flow.run import Snapshot

BUDGET = 2.0
MOST_ROUNDS = 5
"""How often a run that waits is given what it waits for."""

Examples = Annotated[
    str | None,
    typer.Option("--examples", metavar="DIR", help="The folder of the workflows.", show_default=False),
]
Drawings = Annotated[
    str | None,
    typer.Option(
        "--output", "-o", metavar="DIR", help="Where the drawings go; by default a temporary folder.",
        show_default=False,
    ),
]  # fmt: skip


class Shown(Struct, frozen=True):
    """One example: what was proved, drawn and run."""

    workflow: Read
    report: Report
    drawing: Path
    events: list[str]
    run: Snapshot

    @property
    def good(self) -> bool:
        return self.report.verdict == "proved" and self.run.status == "succeeded"

    def view(self) -> dict[str, Any]:
        return {
            "file": self.workflow.name,
            "verdict": self.report.verdict,
            "drawing": str(self.drawing),
            "events": self.events,
            "status": self.run.status,
            "result": self.run.result,
        }


def demo(examples: Examples = None, output: Drawings = None, json: AsJson = False) -> None:
    """Prove, draw and run the example workflows, and show what a broken one looks like.

    [bold]Examples[/bold]

      penstock demo

      penstock demo -o drawings
    """
    folder = _folder(examples)
    drawings = Path(output) if output else Path(tempfile.gettempdir()) / "penstock-demo"
    drawings.mkdir(parents=True, exist_ok=True)
    console = out()
    shown = []
    for path in sorted(folder.glob("*.yaml")):
        shown.append(show_of(path, drawings))
        if not json:
            _show(console, shown[-1])
    if json:
        print_json([each.view() for each in shown])
    else:
        for path in sorted((folder / "broken").glob("*.yaml")):
            _show_broken(console, path)
        _show_next(console, folder)
    raise typer.Exit(YES if shown and all(each.good for each in shown) else NO)


def _folder(wanted: str | None) -> Path:
    """The folder of the examples. Raises Wrong."""
    here = Path("examples")
    places = [Path(wanted)] if wanted else [here, Path(__file__).resolve().parents[3] / "examples"]
    for place in places:
        if any(place.glob("*.yaml")):
            return place
    where = f"'{wanted}' holds no .yaml file" if wanted else "the examples are not here"
    raise Wrong.because(f"{where}: run this in a clone of Penstock, or name their folder with --examples.")


def show_of(path: Path, drawings: Path) -> Shown:
    """Prove, draw and run one example; a run that waits is run again with what it waits for."""
    workflow = read(str(path), None, say=_silent)
    drawing = drawings / f"{path.stem}.svg"
    drawing.write_text(drawn(workflow, "svg"), encoding="utf-8")
    events: list[str] = []
    for _ in range(MOST_ROUNDS):
        played = play(workflow, None, events, fast=True, stubbed=True, quiet=True, say=_silent)
        snapshot = played.hosted.snapshot
        if snapshot.status != "waiting":
            break
        declared = {event.name: event for event in workflow.loaded.definition.external or ()}
        events += [event_option(declared[name]) for name in waiting_for(workflow.loaded.flow, snapshot)]
    return Shown(workflow, report_of(workflow, BUDGET), drawing, events, snapshot)


def _silent(text: str) -> None:
    """The tour says itself what it does."""


def _show(console: Console, shown: Shown) -> None:
    definition, run = shown.workflow.loaded.definition, shown.run
    console.print(
        Text.assemble((definition.title or definition.name, "bold"), (f"  {shown.workflow.name}", "faint"))
    )
    if definition.description:
        console.print(f"  {definition.description}")
    firings = sum(state.firings for state in run.steps.values())
    style = "good" if run.status == "succeeded" else "error"
    given = f", given {', '.join(shown.events)}" if shown.events else ""
    lines = [
        Text.assemble("check: ", verdict_words(shown.report)),
        Text.assemble("draw:  ", str(shown.drawing)),
        Text.assemble("run:   ", (run.status, style), f" after {plural(firings, 'firing')}{given}"),
    ]
    if run.result not in (None, {}):
        lines.append(Text.assemble("       ", (json_text.dumps(run.result, ensure_ascii=False), "faint")))
    lines += [Text.assemble("       ", (line, "error")) for line in failures(run)]
    for line in lines:
        console.print(Text.assemble("  ", line))
    console.print()


def _show_broken(console: Console, path: Path) -> None:
    repaired = path.parents[1] / f"{path.stem}.py"
    workflow = read(str(path), [str(repaired)] if repaired.is_file() else None, say=_silent)
    console.print(Text.assemble(("And one that is broken", "bold"), (f"  {workflow.name}", "faint")))
    console.print()
    show_report(console, workflow.name, workflow.text, report_of(workflow, BUDGET))
    console.print()


def _show_next(console: Console, folder: Path) -> None:
    console.print("Go on with:", style="bold")
    for line in (
        f"penstock run {folder}/mediathread.yaml",
        f"penstock simulate {folder}/viblio.yaml",
        f"penstock draw {folder}/auto_tag.yaml -o auto_tag.svg",
        "penstock --help",
    ):
        console.print(f"  {line}")
