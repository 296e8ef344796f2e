"""`penstock check`: what can go wrong in any run, without running anything."""

from __future__ import annotations

import time
from typing import Annotated, Any

import typer
from msgspec import Struct
from rich.text import Text

from penstock.cli.author.check_report import show_report
from penstock.cli.io.command_group import NO, WRONG, YES
from penstock.cli.io.console import out, plural, print_json
from penstock.cli.io.inputs import AsJson, Files, NoTasks, Read, Tasks, read, read_duration
from penstock.cli.io.problems import Wrong
from penstock.flow.checks.checks import check_flow
from penstock.flow.checks.findings import Report
from penstock.flow.errors import PenstockError
from penstock.flow.model.problems import DefinitionError
from penstock.steps.kinds import OFFERS

Strict = Annotated[bool, typer.Option("--strict", help="A warning also makes exit code 1.")]
Budget = Annotated[
    str, typer.Option("--budget", metavar="DURATION", help="How long the search may take, a file.")
]


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
        checked.append(check_file(file, tasks, no_tasks, seconds))
        if not json:
            _show(checked[-1])
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


def _show(checked: Checked) -> None:
    if checked.workflow and checked.report:
        show_report(out(), checked.file, checked.workflow.text, checked.report)


def _show_summary(checked: list[Checked], strict: bool) -> None:
    counts: dict[str, int] = {}
    for each in checked:
        verdict = each.report.verdict if each.report else "unreadable"
        counts[verdict] = counts.get(verdict, 0) + 1
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
