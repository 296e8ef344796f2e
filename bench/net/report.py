"""One measurement: who took part, on what, and what came out; as JSON and as a table."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median
from typing import Any

import msgspec

from bench.net.checking import CheckFigure
from bench.net.figures import Figure

MISSING = "not installed: run `make bench-setup`"
TITLES = {
    "kernel": "Firing a step in the bare kernel, µs a step (best/median)",
    "run": "A whole run in memory with Python tasks, data, tags and history, µs a step (best/median)",
    "growth": "A step of 500 beside a step of 5, µs a step (best/median)",
}


class Report(msgspec.Struct, frozen=True):
    """What one measurement found. `versions`: None for a contender that is not installed."""

    python: str
    machine: str
    versions: dict[str, str | None]
    figures: list[Figure]
    checks: list[CheckFigure]

    @property
    def met(self) -> bool:
        """Whether every promise that could be measured was kept."""
        missed = [figure for figure in self.figures if figure.met is False]
        return not missed and all(check.met for check in self.checks)


def plain(report: Report) -> dict[str, Any]:
    """The report as JSON."""
    made: dict[str, Any] = msgspec.to_builtins(report)
    for row, figure in zip(made["figures"], report.figures, strict=True):
        row["met"] = figure.met
    for row, check in zip(made["checks"], report.checks, strict=True):
        row["met"] = check.met
    return {**made, "met": report.met}


def lines(report: Report) -> Iterator[str]:
    """The report for people."""
    yield f"Python {report.python} on {report.machine}"
    for name, version in report.versions.items():
        yield f"  {name:<10} {version or MISSING}"
    for group, title in TITLES.items():
        yield f"\n{title}"
        for figure in report.figures:
            if figure.group == group:
                yield _row(figure)
    yield "\nChecking a workflow, seconds (median)"
    if not report.checks:
        yield "  this build has no checks"
    for check in report.checks:
        took = f"{median(check.seconds):.3f} s, {check.verdict}"
        yield f"  {check.workflow:<34} {took:<24} at most {check.bar:g} s {word(check.met)}"
    yield "\nEvery promise that could be measured was kept." if report.met else "\nA promise was not kept."


def _row(figure: Figure) -> str:
    ours = f"{figure.ours.best:.2f}/{figure.ours.median:.2f}"
    if figure.theirs is None or figure.ratio is None:
        return f"  {figure.work:<22} {ours:>14}   {figure.beside} {MISSING}"
    theirs = f"{figure.beside} {figure.theirs.best:.2f}/{figure.theirs.median:.2f}"
    bar = "" if figure.bar is None else f"at most {figure.bar:.3f} {word(figure.met)}"
    return f"  {figure.work:<22} {ours:>14}   {theirs:<28} ratio {figure.ratio:>8.3f}   {bar}".rstrip()


def word(met: bool | None) -> str:
    return {True: "kept", False: "NOT KEPT", None: ""}[met]
