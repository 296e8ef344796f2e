"""`make test` and `make test-all`: which tests they run, and that each long one has a guard."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from scripts.run_tests import limited

from tests.cli.command import ROOT, write
from tests.progress import argument
from tests.suites import unguarded

pytest_plugins = ["pytester"]

TESTS = """
import pytest

def test_short(): pass

def test_fails(): assert False

@pytest.mark.long("test_short")
def test_long(): pass
"""


HANGS = """
import threading
from pathlib import Path

def test_hangs():
    with Path("begun").open("a") as file:
        file.write("once")
    threading.Event().wait()

def test_after(): pass
"""


def tried(folder: Path, *command: str | Path) -> tuple[int, str]:
    """How Python ends in a folder with tests, and what it says."""
    write(folder, "pyproject.toml", '[tool.pytest.ini_options]\nmarkers = ["long"]\n')
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PYTEST_ADDOPTS": "-p xdist",
    }
    done = subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
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
    write(tmp_path, "test_some.py", TESTS)

    ended, said = tried(tmp_path, ROOT / "scripts/run_tests.py", *arguments)

    assert (ended, counts in said) == (int("failed" in counts), True), said
    if ended:
        assert said.count("FAILED test_some.py::test_fails\n  alone: make test ARGS=") == 1


def test_a_test_that_hangs_is_shown_and_ended_once_and_those_after_it_are_run(tmp_path: Path) -> None:
    (tmp_path / "all").mkdir()
    write(tmp_path / "all", "test_fuzz.py", HANGS)  # one process for both, by the name of the file
    plugins = ("-p", "tests.conftest", "-p", "tests.progress")

    ended, said = tried(tmp_path, "-m", "pytest", "-n", "1", *plugins, *limited(2))

    assert (ended, "1 passed, 1 error" in said) == (1, True), said
    assert "Timeout (0:00:02)!" in said and "in test_hangs" in said
    assert "alone: make test ARGS=all/test_fuzz.py::test_hangs" in said
    assert (tmp_path / "begun").read_text() == "once"


@pytest.mark.parametrize(
    "name",
    [
        "test_y",
        "test_y[sqlite-None]",
        "test_y[only Python]",
        "test_y[it's $HOME]",
        'test_y[a;b|`c` "d" \\e !f #g]',
    ],
)
def test_a_test_of_any_name_reaches_pytest_as_the_command_has_it(tmp_path: Path, name: str) -> None:
    test = f"tests/test_x.py::{name}"
    write(tmp_path, "Makefile", "test:\n\t@printf '%s\\n' $(ARGS)\n")

    outer = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    done = subprocess.run(
        ["sh", "-c", f"make test ARGS={argument(test)}"],
        cwd=tmp_path,
        env=outer,  # as a person calls it, also where `make test` itself runs this
        capture_output=True,
        text=True,
    )

    assert done.stdout == f"{test}\n"


def test_where_nothing_can_be_installed_what_is_missing_is_named_and_no_test_is_skipped() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "scripts/debian.py"], env={"PATH": "/nowhere"}, capture_output=True, text=True
    )

    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "apt-get install chromium" in done.stderr and "no apt-get here" in done.stderr


def test_a_long_test_without_a_short_guard_is_found(pytester: pytest.Pytester) -> None:
    items, _ = pytester.inline_genitems(
        pytester.makepyfile(
            """
            import pytest

            def test_short(): pass

            @pytest.mark.long("test_short")
            def test_guarded(): pass

            @pytest.mark.long("test_short", "test_guarded")
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
