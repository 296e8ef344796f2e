"""`make check` refuses more phrases that read like a translation, and keeps what was gained."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command import ROOT

BASELINE = "scripts/phrases.json"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A repository whose baseline allows one "mends" in its documentation and nothing else."""
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    write(tmp_path, BASELINE, "{}")
    write(tmp_path, "docs/old.md", "A retry\nmends it.\n")
    assert checked(tmp_path, "--write")[0] == 0
    return tmp_path


def write(folder: Path, name: str, text: str) -> None:
    """A file with this text, in a folder that may be new."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def checked(folder: Path, *options: str) -> tuple[int, str]:
    """How the check ends where this is the repository, and what it says."""
    done = subprocess.run(
        [sys.executable, ROOT / "scripts/phrases.py", *options],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout


@pytest.mark.parametrize(
    ("place", "text"),
    [
        ("docs/new.md:2", "# New\nIt mends\n"),
        ("README.md:1", "It mends\n"),
        ("src/some.py:2", "# This\n# mends it.\n"),
        ("src/some.py:2", 'TEXT = (\n    "The run goes "\n    f"on {now}."\n)\n'),
        ("src/some.py:1", '"""What is\n    told."""\n'),
        ("src/some.sql:2", "\n-- It goes on.\n"),
        ("web/src/messages/en/home.ts:1", "export const home = { 'home.away': 'The server is away' }\n"),
    ],
)
def test_a_new_phrase_is_found_with_its_line_and_what_to_write(folder: Path, place: str, text: str) -> None:
    write(folder, place.split(":")[0], text)

    code, said = checked(folder)

    assert (code, f"\n{place}: “" in said) == (1, True)


def test_parts_of_words_and_other_files_do_not_count(folder: Path) -> None:
    write(folder, "src/some.py", "is_mends = 'amends'\n")
    write(folder, "tests/test_some.py", "# It mends.\n")
    write(folder, "web/src/messages/de/home.ts", "// It mends.\n")

    assert checked(folder)[0] == 0


def test_a_file_that_moves_within_its_area_takes_its_phrases_along(folder: Path) -> None:
    (folder / "docs/old.md").rename(folder / "docs/moved.md")

    assert checked(folder)[0] == 0


def test_a_gain_must_be_recorded_and_is_kept(folder: Path) -> None:
    write(folder, "docs/old.md", "A retry fixes it.\n")

    assert checked(folder)[0] == 1
    assert checked(folder, "--write")[0] == 0
    write(folder, "docs/old.md", "A retry mends it.\n")
    assert checked(folder)[0] == 1


def test_writing_raises_no_figure(folder: Path) -> None:
    before = (folder / BASELINE).read_text()
    write(folder, "docs/new.md", "It mends\n")

    assert checked(folder, "--write")[0] == 1
    assert (folder / BASELINE).read_text() == before


def test_a_phrase_that_is_new_in_the_list_gets_its_figures(folder: Path) -> None:
    counted = (folder / BASELINE).read_text()
    write(folder, BASELINE, "{}")

    assert checked(folder)[0] == 1
    assert checked(folder, "--write")[0] == 0
    assert (folder / BASELINE).read_text() == counted
