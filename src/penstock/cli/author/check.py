"""`penstock check`: what can go wrong in any run, without running anything."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Annotated, Any

import typer
from msgspec import Struct
from rich.console import Console
from rich.text import Text

from penstock.cli.io.command_group import NO, WRONG, YES
from penstock.cli.io.console import out, plural, print_json, printable
from penstock.cli.io.inputs import AsJson, Files, NoTasks, Read, Tasks, read, read_duration
from penstock.cli.io.parameters import option
from penstock.cli.io.problems import Wrong, find_name, show_line
from penstock.flow.checks.checks import check_flow
from penstock.flow.checks.findings import Finding, Report
from penstock.flow.errors import PenstockError
from penstock.flow.model.problems import DefinitionError
from penstock.kernel.net import START
from penstock.kernel.proof.trace import Event, Fire
from penstock.steps.kinds import OFFERS

SHORT_TRACE = 5
"""Moves up to which a trace is one line."""


def show_report(console: Console, file: str, text: str, report: Report) -> None:
    """Every finding, then the verdict."""
    show_findings(console, file, text, report.findings)
    console.print(Text.assemble((printable(file), "bold"), ": ", verdict_words(report)))
    if report.verdict != "proved" and report.covered:
        console.print(f"  covered: {printable(str(report.covered))}", style="faint")
    for each in report.assumes:
        console.print(f"  assumes: {printable(each)}", style="faint")


def show_findings(console: Console, file: str, text: str, findings: Iterable[Finding]) -> None:
    """Each with its place in the file, the path that shows it, and what to do."""
    for finding in findings:
        _show_finding(console, file, text, finding)


def _show_finding(console: Console, file: str, text: str, finding: Finding) -> None:
    head = (f"{finding.severity}[{finding.code}]", finding.severity)
    console.print(Text.assemble(head, f": {printable(finding.message)}"))
    column = finding.column if finding.path is not None else None  # else the line says enough
    place = ":".join(str(part) for part in (file, finding.line, column) if part is not None)
    console.print(Text.assemble((" --> ", "place"), place), soft_wrap=True)
    show_line(console, text, finding.line, column, finding.severity, _marked(text, finding))
    moves = trace_words(finding.trace)
    if moves and len(moves) <= SHORT_TRACE:
        _show_remark(console, "trace", " → ".join(moves))
    elif moves:
        _show_remark(console, "trace", "")
        for number, move in enumerate(moves, 1):
            console.print(Text.assemble((f"{number:>8}. ", "faint"), printable(move)))
    if finding.hint:
        _show_remark(console, "hint", finding.hint)
    console.print()


def _show_remark(console: Console, title: str, words: str) -> None:
    console.print(Text.assemble((" = ", "place"), (f"{title}: ", "bold"), printable(words)))


def _marked(text: str, finding: Finding) -> str:
    """The name to mark in the source line: the event where the line has it, else the step."""
    lines = text.splitlines()
    source = lines[finding.line - 1] if finding.line and finding.line <= len(lines) else ""
    return next(
        (name for name in (finding.event, finding.step) if name and find_name(source, name) is not None), ""
    )


def trace_words(trace: Sequence[Event | Fire]) -> list[str]:
    """Each move in words, from START on; empty where there is no trace."""
    moves = [move_words(move) for move in trace]
    return moves if not moves or moves[0] == START else [START, *moves]


def move_words(move: Event | Fire) -> str:
    """`START`, `submit (done)`."""
    if isinstance(move, Event):
        return move.name
    return move.step if move.port is None else f"{move.step} ({move.port})"


def verdict_words(report: Report) -> Text:
    """The verdict in one line, with how much was looked at and how long it took."""
    effort = f"{plural(report.states, 'state')}, {report.seconds * 1000:.0f} ms"
    found = counts_of(report.findings)
    if report.verdict == "refuted":
        return Text.assemble(("refuted", "error"), f": {found} ({effort})")
    tail = f"; {found}" if found else ""
    if report.verdict == "proved":
        return Text.assemble(("proved", "good"), f": every run can finish ({effort}){tail}")
    return Text.assemble(("undecided", "warning"), f": no error in what was searched ({effort}){tail}")


def counts_of(findings: Sequence[Finding]) -> str:
    """`2 errors, 1 warning`; empty where nothing was found."""
    counts = Counter(each.severity for each in findings)
    words = [plural(counts[severity], severity) for severity in ("error", "warning") if counts[severity]]
    return ", ".join([*words, *([f"{counts['info']} info"] if counts["info"] else [])])


Strict = Annotated[bool, typer.Option("--strict", help="A warning also makes exit code 1.")]
Budget = Annotated[str, option("--budget", "DURATION", "How long the search may take, a file.")]


class Checked(Struct, frozen=True):
    """One file: what was read and found, or why it cannot be read."""

    file: str
    workflow: Read | None = None
    report: Report | None = None
    wrong: Wrong | None = None

    def code(self, strict: bool) -> int:
        if self.report is None:
            return WRONG
        bad = ("error", "warning") if strict else ("error",)
        return NO if self.report.worst() in bad else YES

    def view(self) -> dict[str, Any]:
        if self.report is None:
            return self.wrong.view() if self.wrong else {"file": self.file, "problems": []}
        return self.report.to_plain()


def check(
    files: Files,
    tasks: Tasks = None,
    strict: Strict = False,
    budget: Budget = "2s",
    json: AsJson = False,
    no_tasks: NoTasks = False,
) -> None:
    """Prove that every run can finish, or show how one cannot.

    Nothing is run. Each step may end on any of its ports, each outside event may come at any time or never.
    Exit code 0: no error. 1: an error was found (with --strict: or a warning). 2: a file cannot be read.

    [bold]Examples[/bold]

      penstock check shop.yaml

      penstock check --strict --json workflows/*.yaml

      cat shop.yaml | penstock check -
    """
    seconds = read_duration(budget, "--budget").total_seconds()
    checked = []
    for file in files:
        each = check_file(file, tasks, no_tasks, seconds)
        checked.append(each)
        if each.workflow and each.report and not json:
            show_report(out(), each.file, each.workflow.text, each.report)
    if json:
        views = [each.view() for each in checked]
        print_json(views[0] if len(views) == 1 else views)
    elif len(checked) > 1:
        _show_summary(checked, strict)
    raise typer.Exit(max(each.code(strict) for each in checked))


def check_file(file: str, tasks: list[str] | None, no_tasks: bool, seconds: float) -> Checked:
    """Read and check one file; what is wrong with it does not keep others from being checked."""
    try:
        workflow = read(file, tasks, no_tasks)
        return Checked(workflow.name, workflow, report_of(workflow, seconds))
    except (Wrong, DefinitionError, PenstockError, OSError) as error:
        wrong = Wrong.of(error, file)
        assert wrong is not None
    wrong.show()
    return Checked(wrong.file or file, wrong=wrong)


def _show_summary(checked: list[Checked], strict: bool) -> None:
    counts = Counter(each.report.verdict if each.report else "unreadable" for each in checked)
    parts = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
    worst = max(each.code(strict) for each in checked)
    style = "good" if worst == YES else "error"
    out().print(Text.assemble(f"{plural(len(checked), 'file')}: ", (parts, style)))


def report_of(workflow: Read, seconds: float) -> Report:
    """Check a workflow that was read."""
    loaded = workflow.loaded
    return check_flow(
        loaded.flow,
        {**OFFERS, **loaded.offers},
        clock=time.perf_counter,
        places=loaded.places,
        file=workflow.name,
        budget=seconds,
    )
