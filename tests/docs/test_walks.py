"""The walks that CONTRIBUTING.md describes: counted the same every time, and no longer than its table says."""

from __future__ import annotations

import re
from pathlib import Path

from scripts.walks import ROOT, SOURCES, TABLE, Figures, judge, recorded, walks, write

COMMITTED = recorded(TABLE.read_text(encoding="utf-8"))


def test_every_walk_is_as_long_as_the_table_says_at_most() -> None:
    found = {name: walk.figures for name, walk in walks().items()}

    assert found.keys() == COMMITTED.keys()
    assert judge(found, COMMITTED) == []
    assert {name: walk.figures for name, walk in walks().items()} == found


def test_every_file_that_the_page_names_exists() -> None:
    """A name without a folder is that of a file somewhere in the sources."""
    named = set(re.findall(r"`([\w/<>]+\.(?:py|sql))`", TABLE.read_text(encoding="utf-8")))
    files = {path.relative_to(SOURCES).as_posix() for path in Path(SOURCES).rglob("*.*")}
    known = files | {Path(name).name for name in files}

    stores = {name.replace("<database>", database) for name in named for database in ("sqlite", "postgres")}

    assert [name for name in sorted(stores) if name not in known and not (ROOT / name).exists()] == []


def test_a_longer_walk_is_found_and_a_shorter_one_is_not() -> None:
    table = {"a": Figures(3, 5), "b": Figures(3, 5), "c": Figures(3, 5)}

    wrong = judge({"a": Figures(4, 5), "b": Figures(3, 6), "c": Figures(2, 4), "d": Figures(1, 1)}, table)

    assert wrong == [
        "d has no row in CONTRIBUTING.md",
        "a visits 4 modules and changes 5 times: 3 and 5 at most",
        "b visits 3 modules and changes 6 times: 3 and 5 at most",
    ]


def test_new_figures_are_written_into_their_rows(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("| walk | modules |\n| `a`, to the end | 3 | 5 |\n| b | 7 | 9 |\n", encoding="utf-8")

    write({"`a`, to the end": Figures(30, 50)}, page)

    assert (
        page.read_text(encoding="utf-8")
        == "| walk | modules |\n| `a`, to the end | 30 | 50 |\n| b | 7 | 9 |\n"
    )
