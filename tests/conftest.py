"""Tests that share a server run in one process, and figures that tests have recorded are shown once."""

from __future__ import annotations

import os
from typing import Any

import pytest

SERVERS = ("test_ray", "test_celery")
"""How files of tests begin that share a server which takes seconds to start."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """With `-n`: what needs Ray goes to one process, what needs Celery to one, all else wherever there is room."""
    from xdist.scheduler import LoadScopeScheduling

    class ByServer(LoadScopeScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.split("::", 1)[0].rpartition("/")[2]
            return next((name for name in SERVERS if file.startswith(name)), nodeid)

    return ByServer(config, log)


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
