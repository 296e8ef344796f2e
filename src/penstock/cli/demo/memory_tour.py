"""`penstock demo --tour`: the example workflows, proved, drawn and run here, in memory."""

from __future__ import annotations

import json as json_text
from pathlib import Path
from typing import Any

from msgspec import Struct
from rich.console import Console
from rich.text import Text

from penstock.cli.author.check import report_of, show_report, verdict_words
from penstock.cli.author.draw import drawn
from penstock.cli.author.example_files import BROKEN, workflows_in
from penstock.cli.author.run import play
from penstock.cli.author.run_report import event_option, failures
from penstock.cli.demo.tour import command_name
from penstock.cli.io.console import out, plural, print_json
from penstock.cli.io.inputs import Read, read
from penstock.flow.checks.findings import Report
from penstock.flow.decisions.quiescence import waiting_for
from penstock.flow.model.run import Snapshot

BUDGET = 2.0
MAX_ROUNDS = 5
"""How often a run that waits is given what it waits for."""


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

    def view(self, keep: bool) -> dict[str, Any]:
        return {
            "file": self.workflow.name,
            "verdict": self.report.verdict,
            "drawing": str(self.drawing) if keep else None,
            "events": self.events,
            "status": self.run.status,
            "result": self.run.result,
        }


def tour(folder: Path, drawings: Path, json: bool, keep: bool = True) -> bool:
    """Prove, draw and run every example, and show what a broken one looks like; whether all were good.

    Drawings that are not `keep` are not named.
    """
    drawings.mkdir(parents=True, exist_ok=True)
    console = out()
    shown = []
    for path in workflows_in(folder):
        shown.append(show_of(path, drawings))
        if not json:
            _show(console, shown[-1], keep)
    if json:
        print_json([each.view(keep) for each in shown])
    else:
        for path in sorted((folder / BROKEN).glob("*.yaml")):
            _show_broken(console, path)
        _show_next(console, folder)
    return bool(shown) and all(each.good for each in shown)


def show_of(path: Path, drawings: Path) -> Shown:
    """Prove, draw and run one example; a run that waits is run again with what it waits for."""
    workflow = read(str(path), None, say=_silent)
    drawing = drawings / f"{path.stem}.svg"
    drawing.write_text(drawn(workflow, "svg"), encoding="utf-8")
    events: list[str] = []
    for _ in range(MAX_ROUNDS):
        played = play(workflow, None, events, fast=True, stubbed=True, quiet=True, say=_silent)
        snapshot = played.run.snapshot
        if snapshot.status != "waiting":
            break
        declared = {event.name: event for event in workflow.loaded.definition.external or ()}
        events += [event_option(declared[name]) for name in waiting_for(workflow.loaded.flow, snapshot)]
    return Shown(workflow, report_of(workflow, BUDGET), drawing, events, snapshot)


def _silent(text: str) -> None:
    """The tour says itself what it does."""


def _show(console: Console, shown: Shown, keep: bool) -> None:
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
        Text.assemble("draw:  ", str(shown.drawing) if keep else "done (--output DIR keeps it)"),
        Text.assemble("run:   ", (run.status, style), f" after {plural(firings, 'firing')}{given}"),
    ]
    if run.result not in (None, {}):
        lines.append(Text.assemble("       ", (json_text.dumps(run.result, ensure_ascii=False), "faint")))
    lines += [Text.assemble("       ", (line, "error")) for line in failures(run)]
    for line in lines:
        console.print(Text.assemble("  ", line))
    console.print()


def _show_broken(console: Console, path: Path) -> None:
    repaired = [str(found) for found in path.parents[1].glob(f"*/{path.stem}.py")]
    workflow = read(str(path), repaired or None, say=_silent)
    console.print(Text.assemble(("And one that is broken", "bold"), (f"  {workflow.name}", "faint")))
    console.print()
    show_report(console, workflow.name, workflow.text, report_of(workflow, BUDGET))
    console.print()


def _show_next(console: Console, folder: Path) -> None:
    console.print("Go on with:", style="bold")
    for line in (
        f"run {folder}/wardenclyffe/mediathread.yaml",
        f"simulate {folder}/viblio/viblio.yaml",
        f"draw {folder}/zenko/auto_tag.yaml -o auto_tag.svg",
        "--help",
    ):
        console.print(f"  {command_name()} {line}", soft_wrap=True)
