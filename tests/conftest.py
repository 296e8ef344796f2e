"""Figures that tests have recorded are shown once, when all are through."""

from __future__ import annotations

import os
from typing import Any

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The table of the simulation; also as JSON where PENSTOCK_FIGURES names a file."""
    reports = [
        report
        for each in terminalreporter.stats.values()
        for report in each
        if isinstance(report, pytest.TestReport) and report.when == "call"
    ]
    recorded: list[tuple[str, Any, float]] = [
        (name, value, report.duration) for report in reports for name, value in report.user_properties
    ]
    played = [value for name, value, _ in recorded if name == "figures"]
    if not played:
        return
    from tests.simulation.figures import table, with_planted, write_json

    planted = [value for name, value, _ in recorded if name == "planted"]
    seconds = sum(took for name, _, took in recorded if name in ("figures", "planted"))
    rows = with_planted(played[0], planted, seconds)
    terminalreporter.write_sep("=", "simulation")
    terminalreporter.write_line(table(rows))
    if path := os.environ.get("PENSTOCK_FIGURES"):
        write_json(path, rows)
