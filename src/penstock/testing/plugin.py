"""The pytest plug-in: the fixture `penstock_play`, generated scenarios, and runs as text where a test fails.

Nothing of Penstock is imported before a test asks for it: a pytest that does not use it pays nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from penstock.testing.played_run import Play

MARKER = (
    "penstock_scenarios(source, *, tasks=None): run the test once for each generated scenario of a workflow; "
    "the test takes the argument `scenario`"
)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", MARKER)


@pytest.fixture
def penstock_play(pytestconfig: pytest.Config) -> Callable[..., Play]:
    """`penstock.testing.play`, with paths that are relative to the root folder of the tests."""
    from penstock.testing.world import play

    def bound(source: Any, **options: Any) -> Play:
        return play(_rooted(source, pytestconfig.rootpath), **options)

    return bound


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    marker = metafunc.definition.get_closest_marker("penstock_scenarios")
    if marker is None or "scenario" not in metafunc.fixturenames:
        return
    from penstock.testing.coverage import scenarios

    source, *rest = marker.args or (marker.kwargs.get("source"),)
    if source is None or rest or set(marker.kwargs) - {"source", "tasks"}:
        raise pytest.UsageError(
            f"{metafunc.definition.nodeid}: write @pytest.mark.{MARKER.partition(':')[0]}"
        )
    found = scenarios(_rooted(source, metafunc.config.rootpath), tasks=marker.kwargs.get("tasks"))
    metafunc.parametrize("scenario", list(found), ids=[scenario.name for scenario in found])


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    world = sys.modules.get("penstock.testing.world")
    if world is not None:
        world.RECENT.clear()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    world = sys.modules.get("penstock.testing.world")
    if world is not None and report.failed:
        shown = str(call.excinfo.value) if call.excinfo else ""
        for number, play in enumerate(filter(None, (made() for made in world.RECENT)), 1):
            text = play.explain()
            # What `expect` has told already need not be told twice.
            if text not in shown:
                report.sections.append((f"Penstock run {number}", text))
    return report


def _rooted(source: Any, root: Path) -> Any:
    """A path below the root folder; a text of several lines, a map or a definition as it is."""
    if isinstance(source, Path) or (isinstance(source, str) and "\n" not in source):
        found = root / source
        return found if found.exists() or isinstance(source, Path) else source
    return source
