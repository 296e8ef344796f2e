"""A guard that is taken out of the code itself makes `make trust` fail: each patch is put into a copy of the tree."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.suites import first_short
from tests.trust.figures import FOLDER, write

ROOT = Path(__file__).parents[2]
PATCHES = sorted((ROOT / "tests/trust/planted").glob("*.patch"))
FENCES = "tests/store/test_st03_fences.py::test_st3_a_stale_fence_ends_nothing"
KEYS = "tests/store/test_st02_revisions.py::test_st2_a_start_key_starts_one_run"
SELECTIONS = {
    "no-fence": (f"{FENCES}[sqlite-fence0]", f"{FENCES}[postgres-fence0]"),
    "no-dedup": (f"{KEYS}[sqlite]", f"{KEYS}[postgres]"),
    "not-full": ("tests/store/sqlite/test_power.py::test_st1_no_acknowledged_commit_is_lost_in_a_power_cut",),
}
"""The tests that must fail, each by itself: on one database another could hide that it sleeps on the other.

Each is in a stage of `make trust`: to run all of it for each would take an hour.
"""
CASES = [(name, test) for name, tests in SELECTIONS.items() for test in tests]
"""Each patch with each of its tests: `make test` tries the first."""


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the code and the tests, which a patch may spoil."""
    place = tmp_path_factory.mktemp("tree")
    skip = shutil.ignore_patterns("__pycache__", "node_modules", "dist")
    for name in ("src", "tests"):
        shutil.copytree(ROOT / name, place / name, ignore=skip)
    shutil.copy(ROOT / "pyproject.toml", place)
    return place


def failed(tree: Path, test: str) -> int:
    """1 where the test fails in this tree."""
    asked = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", test]
    variables = {name: value for name, value in os.environ.items() if name != FOLDER}
    variables |= {"PYTHONPATH": str(tree / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        asked, cwd=tree, env=variables, capture_output=True, text=True, timeout=900, check=False
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr  # 2 and more: the test could not be run
    return done.returncode


def apply(tree: Path, patch: Path, *how: str) -> None:
    asked = ["git", "apply", "--unsafe-paths", *how, str(patch)]
    subprocess.run(
        asked, cwd=tree, check=True, env=os.environ | {"GIT_CEILING_DIRECTORIES": str(tree.parent)}
    )


def test_there_is_a_patch_for_each_selection() -> None:
    assert [patch.stem for patch in PATCHES] == sorted(SELECTIONS)


@pytest.mark.parametrize("patch", PATCHES, ids=[patch.stem for patch in PATCHES])
def test_each_patch_fits_the_code_and_its_tests_exist(patch: Path) -> None:
    """Else the bug that it plants would be tried on nothing."""
    apply(ROOT, patch, "--check")
    for test in SELECTIONS[patch.stem]:
        path, _, name = test.partition("::")
        assert f"def {name.partition('[')[0]}(" in (ROOT / path).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "case", first_short(CASES), ids=[f"{name} {at}" for at, (name, _) in enumerate(CASES)]
)
def test_a_guard_that_is_taken_out_is_missed(tree: Path, case: tuple[str, str]) -> None:
    name, test = case
    patch = ROOT / f"tests/trust/planted/{name}.patch"
    held = failed(tree, test) == 0
    apply(tree, patch)
    try:
        found = failed(tree, test)
    finally:
        apply(tree, patch, "--reverse")

    write(f"patch-{name}-{CASES.index(case)}", {"planted bugs caught": f"{found}/1"})
    assert (held, found) == (True, 1), f"{test} must hold, and fail while {patch.name} is in the code"
