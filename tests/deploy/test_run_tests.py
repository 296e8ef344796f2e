"""`make test` and `make test-all`: which tests they run, and that each long one has a guard."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command import ROOT, write
from tests.suites import unguarded

pytest_plugins = ["pytester"]

TESTS = """
import pytest

def test_short(): pass

def test_fails(): assert False

@pytest.mark.long("test_short")
def test_long(): pass
"""


def tried(folder: Path, *arguments: str) -> tuple[int, str]:
    """How `scripts/run_tests.py` ends in a folder with those tests, and what it says."""
    write(folder, "test_some.py", TESTS)
    write(folder, "pyproject.toml", '[tool.pytest.ini_options]\nmarkers = ["long"]\n')
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PYTEST_ADDOPTS": "-p xdist",
    }
    done = subprocess.run(
        [sys.executable, ROOT / "scripts/run_tests.py", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return done.returncode, done.stdout


@pytest.mark.parametrize(
    ("arguments", "counts"),
    [((), "1 failed, 1 passed"), (("--all",), "1 failed, 2 passed"), (("-k", "long"), "1 passed")],
)
def test_a_suite_has_its_tests_and_a_failure_is_tried_once(
    tmp_path: Path, arguments: tuple[str, ...], counts: str
) -> None:
    ended, said = tried(tmp_path, *arguments)

    assert (ended, counts in said) == (int("failed" in counts), True), said
    if ended:
        assert said.count("FAILED test_some.py::test_fails\n  alone: make test ARGS=") == 1


def test_a_long_test_without_a_short_guard_is_found(pytester: pytest.Pytester) -> None:
    items, _ = pytester.inline_genitems(
        pytester.makepyfile(
            """
            import pytest

            def test_short(): pass

            @pytest.mark.long("test_short")
            def test_guarded(): pass

            @pytest.mark.long("test_guarded")
            def test_guarded_by_a_long_one(): pass

            @pytest.mark.long
            def test_without(): pass

            @pytest.mark.parametrize("n", [1, pytest.param(2, marks=pytest.mark.long("itself"))])
            def test_in_part(n): pass
            """
        )
    )

    found = [sentence.split("::")[1].split(" ")[0] for sentence in unguarded(items)]

    assert found == ["test_guarded_by_a_long_one", "test_without"]
