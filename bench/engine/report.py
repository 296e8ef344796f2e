"""What one measurement of the engine found, as JSON and as a table."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from typing import Any

import msgspec

from bench.engine.figures import Figure
from bench.net.report import word

HEADS = ("store", "work", "figure", "floor", "ratio", "bar")


class Report(msgspec.Struct, frozen=True):
    """All figures of one measurement, on all stores that were there."""

    python: str
    machine: str
    figures: list[Figure]

    @property
    def met(self) -> bool:
        return all(figure.met is not False for figure in self.figures)


def report_on(figures: list[Figure]) -> Report:
    return Report(platform.python_version(), platform.platform(), figures)


def plain(report: Report) -> dict[str, Any]:
    """The report as JSON."""
    made: dict[str, Any] = msgspec.to_builtins(report)
    for row, figure in zip(made["figures"], report.figures, strict=True):
        row["met"] = figure.met
    return {**made, "met": report.met}


def lines(report: Report) -> Iterator[str]:
    """The report for people."""
    yield f"Python {report.python} on {report.machine}\n"
    rows = [HEADS, *(_row(figure) for figure in report.figures)]
    for store, work, figure, floor, ratio, bar in rows:
        yield f"{store:<11} {work:<32} {figure:>15} {floor:>15} {ratio:>7}   {bar}".rstrip()
    yield "\nEvery promise that could be measured was kept." if report.met else "\nA promise was not kept."


def _row(figure: Figure) -> tuple[str, ...]:
    floor = "" if figure.floor is None else _number(figure.floor, figure.unit)
    ratio = "" if figure.ratio is None else f"{figure.ratio:.2f}"
    return figure.store, figure.work, _number(figure.value, figure.unit), floor, ratio, _bar(figure)


def _number(value: float, unit: str) -> str:
    return f"{value:,.0f} {unit}" if value >= 100 else f"{value:.2f} {unit}"


def _bar(figure: Figure) -> str:
    if figure.bar is None:
        return ""
    unit = f" {figure.unit}" if figure.judged == "value" else ""
    return f"{'at least' if figure.least else 'at most'} {figure.bar:g}{unit} {word(figure.met)}"
