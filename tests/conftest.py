"""The two suites, what tests share in one process, and figures that tests have recorded, shown once."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from tests.postgres_server import PostgresServer
from tests.suites import MARKER, unguarded

SERVERS = (
    *(
        "/test_ray",
        "/test_celery",
        "/topics/",
        "/deploy/test_package",
        "/test_fuzz",
        "/trust/test_planted",
        "/web/test_editor",
        "/web/",
    ),
    "/bench/test_engine",
)
"""What is in the names of files of tests that share what takes seconds to start, or a core for itself: a browser."""


def _heed_signals() -> None:
    """Whoever runs the tests may ignore signals (nohup, a shell's background); what they start would too."""
    if threading.current_thread() is not threading.main_thread():
        return
    for number, usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, usual)


_heed_signals()


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", MARKER)


@pytest.fixture(scope="session")
def server() -> Iterator[PostgresServer]:
    """One PostgreSQL for all tests of a process that need no more than a database of their own."""
    postgres = PostgresServer().start()
    yield postgres
    postgres.remove()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Where all tests are collected, as by `make check`, every long one has a guard."""
    if hasattr(config, "workerinput"):  # nobody would understand what a process of many says of it
        return
    if config.args == config.getini("testpaths") and (wrong := unguarded(items)):
        raise pytest.UsageError("\n".join(wrong))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """With `-n`: what needs Ray, Celery, brokers or a browser goes to one process each, all else where there is room.

    These begin first, for they are the most; what only waits runs beside them.
    """
    from xdist.scheduler import LoadScopeScheduling

    class ByServer(LoadScopeScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.split("::", 1)[0]
            return next((name for name in SERVERS if name in file), nodeid)

        def remove_node(self, node: Any) -> str | None:
            """A test that ended its process is not begun again: it would end the next one, too."""
            work = self.assigned_work[node]
            running = next(
                ((unit, test) for unit in work.values() for test, done in unit.items() if not done), None
            )
            if running is None:
                return super().remove_node(node)  # type: ignore[no-any-return]
            unit, test = running
            unit[test] = True
            for scope in [scope for scope, unit in work.items() if all(unit.values())]:
                del work[scope]  # given to another process, it would be nothing to do, and end nothing
            super().remove_node(node)
            return str(test)

    return ByServer(config, log)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The table of the simulation; also as JSON where PENSTOCK_FIGURES names a folder."""
    reports = [
        report
        for each in terminalreporter.stats.values()
        for report in each
        if isinstance(report, pytest.TestReport) and report.when == "call"
    ]
    recorded: list[tuple[str, Any, float]] = [
        (name, value, report.duration) for report in reports for name, value in report.user_properties
    ]
    if not {"figures", "planted"} & {name for name, _, _ in recorded}:
        return
    from tests.simulation.figures import planted_rows, recorded_rows
    from tests.trust.figures import table, write

    if not any(name == "figures" for name, _, _ in recorded):  # a bug that is planted elsewhere
        write("planted", planted_rows(recorded))
        return
    rows = recorded_rows(recorded)
    terminalreporter.write_sep("=", "simulation")
    terminalreporter.write_line(table(rows))
    write("simulation", rows)


@pytest.hookimpl(specname="pytest_terminal_summary", trylast=True)
def pytest_chaos_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The table of what was done to real processes; also in the folder that PENSTOCK_FIGURES names."""
    told: list[Any] = [
        value
        for each in terminalreporter.stats.values()
        for report in each
        if isinstance(report, pytest.TestReport) and report.when == "call"
        for name, value in report.user_properties
        if name == "chaos"
    ]
    if not told:
        return
    from pathlib import Path

    from tests.chaos.figures import flat, gathered, write
    from tests.trust.figures import FOLDER, table

    record = gathered(told)
    terminalreporter.write_sep("=", "chaos")
    terminalreporter.write_line(table(flat(record)))
    if path := os.environ.get(FOLDER):
        write(record, Path(path))
