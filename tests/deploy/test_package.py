"""The package: built without Node, whole, typed, and at work in an environment that has only what it asks for."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from collections.abc import Iterator, Sequence
from email import message_from_string
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from pathspec import GitIgnoreSpec

import penstock
from tests.cli.command import ROOT, environment
from tests.cli.serving import serving
from tests.cli.test_demo import read, said_so_far

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def needed(names: Sequence[str]) -> Iterator[str]:
    """These distributions and what they need, each once."""
    waiting, seen = [Requirement(name) for name in names], set()
    while waiting:
        wanted = waiting.pop()
        key = (wanted.name.lower().replace("_", "-"), tuple(wanted.extras))
        if key in seen or not (wanted.marker is None or wanted.marker.evaluate({"extra": ""})):
            continue
        seen.add(key)
        yield wanted.name
        for each in map(Requirement, distribution(wanted.name).requires or ()):
            if each.marker is None or any(each.marker.evaluate({"extra": x}) for x in ("", *wanted.extras)):
                each.marker = None
                waiting.append(each)


def bare(place: Path, *names: str) -> Path:
    """A new environment with these distributions and nothing else, taken from ours: no network; its Python."""
    venv.create(place, with_pip=False)
    [packages] = place.glob("lib/python*/site-packages")
    for name in needed(names):
        found = distribution(name)
        for top in {
            file.parts[0] for file in found.files or () if file.parts[0] not in ("..", "__pycache__")
        }:
            if not (packages / top).exists():
                (packages / top).symlink_to(Path(str(found.locate_file(top))))
    return place / "bin" / "python"


def build(python: Path, folder: Path, kind: str, into: Path) -> Path:
    """Build the sdist or the wheel of a folder, with no Node to be found; where it is."""
    subprocess.run(
        [python, "-m", "hatchling", "build", "-t", kind, "-d", into],
        cwd=folder,
        env={"PATH": "/nowhere"},
        check=True,
        capture_output=True,
        timeout=120,
    )
    [made] = into.glob("*.tar.gz" if kind == "sdist" else "*.whl")
    return made


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Path]]:
    """The sdist of this tree, and the wheel that is made of that sdist alone."""
    place = tmp_path_factory.mktemp("made")
    tools = bare(place / "tools", "hatchling")
    sdist = build(tools, ROOT, "sdist", place / "dist")
    with tarfile.open(sdist) as archive:
        archive.extractall(place, filter="data")
    yield sdist, build(tools, place / f"penstock-{penstock.__version__}", "wheel", place / "dist")


def pages(names: Sequence[str]) -> set[str]:
    """The built pages among these names, as they are named in the package."""
    return {found[1] for name in names if (found := re.search(r"(penstock/web/dist/.+)", name))}


def test_sdist_and_wheel_have_the_pages_that_were_built(made: tuple[Path, Path]) -> None:
    built = ROOT / "src" / "penstock" / "web" / "dist"
    here = {f"penstock/web/dist/{path.relative_to(built)}" for path in built.rglob("*") if path.is_file()}
    with tarfile.open(made[0]) as sdist, zipfile.ZipFile(made[1]) as wheel:
        held = pages([each.name for each in sdist if each.isfile()]), pages(wheel.namelist())

    assert "penstock/web/dist/index.html" in here
    assert held == (here, here)


def test_the_sdist_leaves_out_what_is_fetched(made: tuple[Path, Path]) -> None:
    with tarfile.open(made[0]) as sdist:
        names = sdist.getnames()

    assert [name for name in names if re.search(r"/(node_modules|\.venv|\.git|build|site)(/|$)", name)] == []


@pytest.mark.parametrize(
    "name", ["penstock.db", "penstock.db-wal", "penstock.key", "media/uploads/42.mov", "pictures/alps.jpg"]
)
def test_what_was_tried_in_a_clone_gets_into_no_commit_and_no_sdist(name: str) -> None:
    ignored = GitIgnoreSpec.from_lines((ROOT / ".gitignore").read_text().splitlines())

    assert ignored.match_file(name)


def test_both_packages_are_typed_and_the_version_is_said_once(made: tuple[Path, Path]) -> None:
    with zipfile.ZipFile(made[1]) as wheel:
        names = set(wheel.namelist())
        [metadata] = [name for name in names if name.endswith(".dist-info/METADATA")]
        said = message_from_string(wheel.read(metadata).decode())

    assert {"penstock/py.typed", "penstock_release/py.typed"} <= names
    assert (said["Version"], PROJECT["dynamic"], "version" in PROJECT) == (
        penstock.__version__,
        ["version"],
        False,
    )


def test_the_newest_changes_are_those_of_this_version_or_not_released() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")

    assert re.findall(r"^## \[([^]]+)\]", text, re.M)[0] in ("Unreleased", penstock.__version__)


def test_every_extra_is_in_the_table_of_the_page_and_no_other() -> None:
    page = (ROOT / "docs" / "howto" / "installing.md").read_text(encoding="utf-8")

    shown = re.findall(r"^\| `penstock\[(\w+)\]` \|", page, re.M)
    assert sorted(shown) == sorted(PROJECT["optional-dependencies"])


@pytest.mark.long(
    "test_sdist_and_wheel_have_the_pages_that_were_built",
    "test_the_wheel_has_the_examples",
    "test_the_demo_says_what_to_open_and_to_try",
)
def test_the_demo_and_its_five_things_work_from_the_wheel_in_a_bare_environment(
    made: tuple[Path, Path], tmp_path: Path
) -> None:
    python = bare(tmp_path / "env", *PROJECT["dependencies"])
    subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "--python",
            python,
            "install",
            "--no-index",
            "--no-deps",
            "-q",
            made[1],
        ],
        check=True,
        capture_output=True,
        timeout=120,
    )
    (tmp_path / "empty").mkdir()

    command, args = python.parent / "penstock", ("demo", "--json", "--log-level", "info")
    with serving(
        *args, cwd=tmp_path / "empty", longest=200, program=command, PYTHONPATH="", PATH="/nowhere"
    ) as demo:
        told = said_so_far(demo)
        pages = [read(link) for link in told["links"]]
        variables = {"PYTHONPATH": "", "PATH": "/usr/bin:/bin", "PENSTOCK_SERVER": told["server"]}
        ends = [
            subprocess.run(
                line, shell=True, cwd=tmp_path, env=environment(**variables), capture_output=True, timeout=60
            ).returncode
            for line in told["tries"]
        ]
        ended = demo.stop()

    assert [(status, '<div id="root">' in text) for status, text in pages] == [(200, True)] * 5
    assert (ends, ended.code) == ([0] * 5, 0)
    assert str(command) in told["tries"][0]
    assert "mediathread" in [each["name"] for each in told["workflows"]]
    assert list((tmp_path / "empty").iterdir()) == []
