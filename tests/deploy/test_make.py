"""What `make` installs: enough for what is asked, and nothing that was cut short is taken for whole."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from scripts.web import installed_node

from tests.cli.command import ROOT, outside_make, write

PYTHON = """\
#!/bin/sh
# In the place of Python: makes an environment of itself, says what was called, fails where pip or the build of the
# pages was cut short. Where they must meet, neither ends before the other has begun.
meet() {
  touch "$1"
  for _ in $(seq ${MEET:-0}); do test -e "$2" && return; sleep 0.1; done
  test -z "$MEET"
}
case "$*" in
  *"-m venv"*) mkdir -p .venv/bin; cp "$0" .venv/bin/python; cp "$0" .venv/bin/penstock ;;
esac
echo "$*" >> said
case "$*" in
  *"-r requirements/"*) meet installing building && exit ${CUT:-0} ;;
  *"scripts/web.py build") meet building installing && exit ${PAGES_CUT:-0} ;;
esac
"""


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A new clone, as far as the Makefile looks at it."""
    shutil.copy(ROOT / "Makefile", tmp_path)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    shutil.copytree(ROOT / "requirements", tmp_path / "requirements")
    write(tmp_path, "python", PYTHON).chmod(0o755)
    return tmp_path


def make(clone: Path, target: str, cut: int = 0, pages_cut: int = 0, **variables: str) -> list[str]:
    """What was asked of Python for a target; `cut` is how pip ends, `pages_cut` how the build of the pages ends."""
    (clone / "said").write_text("")
    done = subprocess.run(
        ["make", target, "PYTHON=./python"],
        cwd=clone,
        env={**outside_make(), "CUT": str(cut), "PAGES_CUT": str(pages_cut), **variables},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode == 0) == (cut == pages_cut == 0), done.stderr
    return (clone / "said").read_text().splitlines()


def installed(said: list[str]) -> list[str]:
    """The locks that were installed."""
    return [word for line in said for word in line.split() if word.startswith("requirements/")]


@pytest.mark.parametrize("target", ["install", "demo"])
def test_a_new_clone_gets_what_it_runs_with_and_no_tools(clone: Path, target: str) -> None:
    assert installed(make(clone, target)) == ["requirements/runtime.lock", "requirements/build.lock"]
    assert installed(make(clone, target)) == []
    assert installed(make(clone, "setup")) == ["requirements/dev.lock"]


@pytest.mark.parametrize("target", ["install", "demo"])
def test_a_clone_that_is_set_up_has_all_that_it_runs_with(clone: Path, target: str) -> None:
    make(clone, "setup")

    assert installed(make(clone, target)) == []


@pytest.mark.parametrize("target", ["setup", "demo"])
def test_an_installation_that_was_cut_short_is_begun_anew(clone: Path, target: str) -> None:
    make(clone, target)
    os.utime(clone / "pyproject.toml", (2**31, 2**31))
    later = make(clone, target, cut=1)

    again = make(clone, target)

    assert "-m venv .venv" in later
    assert "-m venv --clear .venv" in again
    assert installed(again) != []


@pytest.mark.parametrize("target", ["install", "demo"])
def test_pages_are_built_while_packages_are_installed(clone: Path, target: str) -> None:
    said = make(clone, target, MEET="300")

    assert "scripts/web.py build" in said
    assert installed(said) == ["requirements/runtime.lock", "requirements/build.lock"]


def test_a_failed_build_of_the_pages_fails_the_installation_and_is_repeated_alone(clone: Path) -> None:
    first = make(clone, "install", pages_cut=1)

    again = make(clone, "install")

    assert installed(first) == ["requirements/runtime.lock", "requirements/build.lock"]
    assert again == ["scripts/web.py build"]


def test_a_failed_installation_fails_although_the_pages_are_built(clone: Path) -> None:
    first = make(clone, "demo", cut=1)

    assert "scripts/web.py build" in first
    assert "demo" not in first


def test_setup_installs_the_packages_of_the_pages_even_if_the_pages_are_built(clone: Path) -> None:
    make(clone, "install")

    said = make(clone, "setup")

    assert said[-2:] == ["scripts/web.py install", "scripts/web.py build"]


def test_the_sources_of_the_pages_are_found_in_a_folder_of_any_name(tmp_path: Path) -> None:
    place = tmp_path / "my clone ä"
    place.mkdir()
    (place / "node_modules").symlink_to(ROOT / "web" / "node_modules")
    shutil.copy(ROOT / "web" / "vite.config.ts", place)
    asked = "import('./vite.config.ts').then((found) => console.log(found.default.resolve.alias['@']))"

    home = installed_node()
    assert home is not None

    done = subprocess.run(
        [home / "bin" / "node", "-e", asked], cwd=place, capture_output=True, text=True, timeout=60
    )

    assert done.stdout == f"{place / 'src'}\n", done.stderr


def test_what_the_demo_needs_is_locked_as_the_tools_have_it() -> None:
    locked = {
        name: {
            line.split(" ")[0]
            for line in (ROOT / "requirements" / f"{name}.lock").read_text().splitlines()
            if "==" in line
        }
        for name in ("runtime", "build", "node", "dev")
    }

    assert [each for each in locked["runtime"] | locked["build"] if each.startswith("nodejs")] == []
    assert (locked["runtime"] | locked["build"] | locked["node"]) - locked["dev"] == set(), "run `make lock`"
