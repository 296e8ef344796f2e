"""docs/howto/testing.md: its code is run as it stands there."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

from penstock import testing
from penstock.testing import Play

pytest_plugins = ["pytester"]

PAGE = (Path(__file__).parents[2] / "docs/howto/testing.md").read_text()
FILES = re.compile(r"^```(?:python|yaml)\n# (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
[SHOWN] = re.findall(r"^```text\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_the_examples_do_what_the_page_says(pytester: pytest.Pytester) -> None:
    for name, text in FILES.findall(PAGE):
        (pytester.path / name).write_text(text)

    result = pytester.runpytest("--strict-markers")

    result.assert_outcomes(passed=21, failed=1)
    result.stdout.fnmatch_lines(["FAILED test_wrong.py::*"])
    assert SHOWN in result.stdout.str()


def test_every_public_name_is_on_the_page() -> None:
    apart = {"Endless", "Play", "Scenario", "Scenarios", "Stub", "Summary", "Try", "Uncovered"}

    missing = [name for name in testing.__all__ if name not in apart and name not in PAGE]

    assert missing == []


def test_all_that_a_play_can_do_is_on_the_page() -> None:
    public = [name for name, _ in inspect.getmembers(Play) if not name.startswith("_")]
    apart = {"at_rest", "clock", "flow", "snapshot", "run"}

    assert [
        name for name in public if name not in apart and f"`{name}" not in PAGE and f".{name}" not in PAGE
    ] == []
