"""The table of `make trust`: what the stages have counted is added up, and what must not be is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.chaos.figures import FAULTS
from tests.trust.figures import (
    NONE_ALLOWED,
    OFTEN,
    ROWS,
    WHOLE,
    combined,
    in_order,
    page,
    read,
    table,
    write,
    wrong,
)
from tests.trust.stages import STAGES, Stage
from tests.trust.test_planted import SELECTIONS

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


def test_figures_of_one_name_are_added_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_FIGURES", str(tmp_path))
    write("a", {"kills": 3, "rare paths hit": "2/2", "scars": "N1 N2"})
    write("b", {"kills": 4, "rare paths hit": "1/2", "scars": "N2 N3", "virtual hours": 1.5})

    assert combined(read(tmp_path)) == {
        "kills": 7,
        "rare paths hit": "3/4",
        "scars": "N1 N2 N3",
        "virtual hours": 1.5,
    }


def test_what_must_not_be_is_told() -> None:
    assert wrong({"lost": 0, "stuck": 0, "planted bugs caught": "5/5"}) == []
    assert wrong({"lost": 2, "stuck": 0, "planted bugs caught": "4/5"}) == [
        "lost is 2, and must be 0",
        "planted bugs caught is 4/5",
    ]


def test_what_nobody_counted_or_hardly_happened_is_told_where_all_was_run() -> None:
    whole = dict.fromkeys(ROWS, 9) | dict.fromkeys(NONE_ALLOWED, 0) | dict.fromkeys(WHOLE, "3/3")

    assert wrong(whole, whole=True) == []
    assert wrong(whole | {"floods": 4}, whole=True) == ["'floods' is 4, and must be 5 at least"]
    assert wrong({name: n for name, n in whole.items() if name != "power cuts"}, whole=True) == [
        "nobody has counted 'power cuts'"
    ]


def test_every_kind_of_fault_of_real_processes_must_have_struck() -> None:
    assert tuple(FAULTS) == OFTEN


def test_figures_are_read_in_one_order() -> None:
    assert list(in_order({"odd": 1, "stuck": 0, "seeds": 3})) == ["seeds", "stuck", "odd"]


def test_without_a_place_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PENSTOCK_FIGURES", raising=False)
    monkeypatch.chdir(tmp_path)
    write("a", {"kills": 3})

    assert list(tmp_path.iterdir()) == []


def test_the_table_and_the_page_have_every_figure() -> None:
    figures = {"power cuts": 1_500, "virtual hours": 2.25, "commit": "abc"}

    assert table(figures).split() == ["power", "cuts", "1,500", "virtual", "hours", "2.2", "commit", "abc"]
    assert "| power cuts | 1,500 |" in page(figures)


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.name)
def test_every_stage_has_the_tests_that_it_names(stage: Stage) -> None:
    assert all((ROOT / test.split("::")[0]).exists() for test in (*stage.tests, *stage.but))


@pytest.mark.parametrize("test", [test for tests in SELECTIONS.values() for test in tests])
def test_a_test_that_misses_a_guard_is_run_by_make_trust(test: str) -> None:
    assert any(test.startswith(stage.tests) for stage in STAGES)


def test_the_page_has_what_the_record_has() -> None:
    figures = json.loads((DOCS / "trust.json").read_text(encoding="utf-8"))

    assert (DOCS / "trust.md").read_text(encoding="utf-8") == page(figures)
    assert wrong(figures) == []
