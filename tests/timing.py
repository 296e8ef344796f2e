"""Where the time of the tests goes, folder by folder: `make test ARGS="-n 5 -m 'not long' -p tests.timing tests"`."""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Generator, Iterator
from typing import Any

import pytest

NAME = "timing"


def _now() -> tuple[float, float, float]:
    """Seconds on the wall, of this process on a core, and of the processes that it has seen end."""
    used = os.times()
    return time.monotonic(), used.user + used.system, used.children_user + used.children_system


class Timing:
    """In the processes that run tests: notes what each test took, with what was set up and taken down for it."""

    def __init__(self) -> None:
        self._began = (0.0, 0.0, 0.0)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self) -> Iterator[None]:
        self._began = _now()
        yield

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
        report = yield
        if call.when == "teardown":
            took = [round(now - began, 4) for now, began in zip(_now(), self._began, strict=True)]
            report.user_properties.append((NAME, took))
        return report


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Timing(), "penstock-timing")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    folders: dict[str, list[float]] = defaultdict(lambda: [0.0] * 4)
    for report in terminalreporter.getreports(""):
        for name, took in report.user_properties:
            if name == NAME and report.when == "teardown":
                row = folders[report.nodeid.split("::")[0].split("/")[1]]
                row[:] = [row[0] + 1, *(sum(pair) for pair in zip(row[1:], took, strict=True))]
    terminalreporter.write_sep("=", "where the time goes")
    terminalreporter.write_line(
        "| folder | tests | seconds | in its process | in processes that ended | waiting |"
    )
    terminalreporter.write_line("| --- | ---: | ---: | ---: | ---: | ---: |")
    for folder, (tests, wall, own, others) in sorted(folders.items(), key=lambda item: -item[1][1]):
        waiting = max(0.0, wall - own - others)
        terminalreporter.write_line(
            f"| {folder} | {tests:,.0f} | {wall:.0f} | {own:.0f} | {others:.0f} | {waiting:.0f} |"
        )
