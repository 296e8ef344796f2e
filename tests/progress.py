"""How far the tests are, in one line; each failure with the command that runs it alone. Loaded by `make test`."""

from __future__ import annotations

import json
import re
import shlex
import sys
import time
from pathlib import Path
from typing import Any

import pytest

SECONDS = Path(".pytest_cache/penstock-seconds.json")
"""How long each test took when it last ran here, for the time that is left."""
USUAL = {
    "web": 4.0,
    **dict.fromkeys(("trust", "fleet", "topics"), 1.3),
    **dict.fromkeys(("cli", "remote", "simulation", "objects", "release", "deploy"), 0.6),
    **dict.fromkeys(("api", "workers", "bench", "durable", "sources", "examples", "docs"), 0.3),
}
"""Seconds of a test that never ran here, by its folder."""
SHORT = 0.1
"""Those of all other folders."""
ENOUGH = 20.0
"""Seconds of tests that must be done before their pace says something."""
EVERY = 30.0
"""Seconds between two lines where they go to a file."""


def argument(test: str) -> str:
    """The name of a test as ARGS, which the shell reads, then make, then the shell of make; brackets are no matter."""
    if re.fullmatch(r"[\w/.:\[\]-]+", test):
        return shlex.quote(test)
    once = shlex.quote(test).replace("$", "$$")
    return f'"{once}"' if re.fullmatch(r"[^\"$`\\!]+", once) else shlex.quote(once)


class Progress:
    """Counts what has ended; it is only where the tests are led from, not in the processes that run them."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._usual: dict[str, float] = json.loads(SECONDS.read_text()) if SECONDS.exists() else {}
        self._took: dict[str, float] = {}
        self._left: dict[str, float] = {}
        self._passed = self._failed = self._total = 0
        self._began = self._said = time.monotonic()
        self._done = 0.0

    @property
    def _reporter(self) -> Any:
        return self._config.pluginmanager.getplugin("terminalreporter")

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: Any, ids: list[str]) -> None:
        self._begin(ids)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        if session.items:
            self._begin([item.nodeid for item in session.items])

    def _begin(self, ids: list[str]) -> None:
        if not self._total:
            self._total = len(ids)
            self._left = {
                id: self._usual.get(id) or USUAL.get(id.partition("/")[2].partition("/")[0], SHORT)
                for id in ids
            }
            self._began = time.monotonic()

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, str] | None:
        """No letter is printed for a test: what it came to is in the line, and a failure has lines of its own."""
        if report.failed:
            return ("failed" if report.when == "call" else "error", "", "")
        return ("passed", "", "") if report.passed and report.when == "call" else None

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._took[report.nodeid] = self._took.get(report.nodeid, 0.0) + report.duration
        if report.failed:
            self._failed += 1
            self._print(f"FAILED {report.nodeid}\n  alone: make test ARGS={argument(report.nodeid)}")
        if report.when == "teardown":
            self._passed += 1
            self._done += self._left.pop(report.nodeid, 0.0)
            self._show()

    def _show(self) -> None:
        now, terminal = time.monotonic(), sys.stdout.isatty()
        if now - self._said < (0.2 if terminal else EVERY):
            return
        self._said = now
        line = f"{self._passed} of {self._total} tests, {self._failed} failed, {self._time_left(now)} left"
        if terminal:
            sys.stdout.write(f"\r\x1b[K{line}")
            sys.stdout.flush()
        else:
            self._print(line)

    def _time_left(self, now: float) -> str:
        """As long as what is left took the last time, at the pace of what is done; too little of it says nothing."""
        if self._done < ENOUGH:
            return "some time"
        pace = (now - self._began) / self._done
        minutes, seconds = divmod(round(sum(self._left.values()) * pace), 60)
        return f"{minutes} min {seconds:02} s" if minutes else f"{seconds} s"

    def _print(self, line: str) -> None:
        start = "\r\x1b[K" if sys.stdout.isatty() else ""
        self._reporter.write_line(f"{start}{line}")

    def pytest_sessionfinish(self) -> None:
        if self._took:
            SECONDS.parent.mkdir(exist_ok=True)
            SECONDS.write_text(json.dumps({**self._usual, **self._took}))
        if sys.stdout.isatty():
            sys.stdout.write("\r\x1b[K")


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Progress(config), "penstock-progress")
