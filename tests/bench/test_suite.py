"""Who has which turn, and what is asked of whom."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from bench.memory import TITLES, Found
from bench.results import Growth
from bench.roster import CONTESTANTS, PEERS
from bench.session import Heard, Line
from bench.suite import QUICK, WORKS, Plan, Suite
from bench.table import table
from msgspec.structs import replace

from bench import growth as growing
from bench import roster, suite
from penstock.bench.engine.workloads import NotDone

Turn = tuple[str, str, dict[str, Any]]
"""Module, store and orders."""


class Server:
    """A PostgreSQL that nobody uses."""

    def url(self) -> str:
        return self.create_database()

    def create_database(self) -> str:
        return "postgresql://nowhere/one"

    def query(self, sql: str) -> str:
        return ""


@pytest.fixture
def turns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Turn]:
    """All that are had, one after the other; everybody is installed, and tells one figure."""
    found: list[Turn] = []

    def session(
        python: str, module: str, orders: Mapping[str, Any], disk: Path, seconds: float, more: object
    ) -> Heard:
        found.append((module, orders["store"], dict(orders)))
        [work] = orders.get("wants", ["W3 median"])
        return Heard((Line(work=work, value=float(len(found)), unit="ms"),), {})

    for peer in PEERS:
        (tmp_path / peer / "bin").mkdir(parents=True)
        (tmp_path / peer / "bin" / "python").touch()
    monkeypatch.setattr(roster, "ENVS", tmp_path)
    monkeypatch.setattr(suite, "session", session)
    monkeypatch.setattr(suite, "limits", lambda *them: {})
    monkeypatch.setattr(suite, "fsyncs", lambda *them: 1.0)
    in_memory = Found()
    in_memory.missing = dict.fromkeys(TITLES, "not of interest")
    monkeypatch.setattr(suite, "in_memory", lambda *them: in_memory)
    return found


def measured(plan: Plan, tmp_path: Path) -> Any:
    return Suite(replace(plan, grow=False), tmp_path, Server(), lambda text: None).run()  # type: ignore[arg-type]


def test_a_short_measurement_has_penstock_three_times_and_each_neighbour_once(
    turns: list[Turn], tmp_path: Path
) -> None:
    """The narrow bars are of medians; Celery is there each time because one of them is about its W3."""
    results = measured(QUICK, tmp_path)

    whole = [(module, store) for module, store, orders in turns if orders["fans"]]
    parts = [
        (module, orders) for module, _, orders in turns if not orders["fans"] and not orders.get("wants")
    ]
    assert sorted(whole) == sorted((each.module, each.store) for each in CONTESTANTS if not each.slow)
    assert [module for module, _ in parts].count("bench.ours") == 4
    assert [module for module, _ in parts].count("bench.peers.celery.worker") == 2
    assert len(parts) == 6
    assert results.figure("penstock-sqlite", "W3 median").rounds == [0, 1, 2]
    assert results.figure("dbos-sqlite", "W3 median").rounds == [1]
    assert results.entries["prefect"].errors == [
        "only in the full measurement: its server takes up to half a minute to start"
    ]


def test_between_whole_rounds_only_what_narrow_bars_are_about_is_asked_for(
    turns: list[Turn], tmp_path: Path
) -> None:
    measured(QUICK, tmp_path)

    asked = {
        module: [bool(orders[name]) for name in ("runs", "fans", "singles", "idle")]
        for module, _, orders in turns[2:5]  # W6 of both stores came first
    }
    assert asked == {
        "bench.ours": [True, False, True, True],
        "bench.peers.celery.worker": [False, False, True, False],
    }
    assert all(set(each.always) <= set(WORKS) for each in CONTESTANTS)


def test_a_full_measurement_has_everybody_three_times(turns: list[Turn], tmp_path: Path) -> None:
    measured(Plan(), tmp_path)

    whole = [(module, store) for module, store, orders in turns if not orders.get("wants")]
    assert sorted(whole) == sorted((each.module, each.store) for each in CONTESTANTS for _ in range(3))
    wants = [orders["wants"][0] for _, _, orders in turns if orders.get("wants")]
    assert (wants.count("W6"), wants.count("W7"), wants.count("nodes")) == (2, 6, 3)


def test_who_is_not_installed_is_told_and_the_others_go_on(turns: list[Turn], tmp_path: Path) -> None:
    (tmp_path / "restate" / "bin" / "python").unlink()

    results = measured(QUICK, tmp_path)

    assert results.entries["restate"].errors == ["not installed: run `make bench-setup`"]
    assert "bench.peers.restate.worker" not in {module for module, _, _ in turns}
    assert "bench.peers.temporal.worker" in {module for module, _, _ in turns}


def test_what_is_left_out_of_growth_is_in_the_table(
    turns: list[Turn], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(lab: growing.Lab) -> Growth:
        raise NotDone("runs are under way")

    def fine(lab: growing.Lab) -> Growth:
        return Growth(name="Nodes", of="nodes", unit="s", points=[])

    monkeypatch.setattr(growing, "QUESTIONS", {"steps": broken, "nodes": fine})

    results = Suite(Plan(), tmp_path, Server(), lambda text: None).run()  # type: ignore[arg-type]

    assert [each.name for each in results.growth] == ["Nodes"]
    assert "Growth: steps has no figure: runs are under way." in table(results)
