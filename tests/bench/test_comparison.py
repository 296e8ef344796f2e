"""Who has which turn, and what is asked of whom."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from bench.comparison import QUICK, WORKS, Comparison, Plan
from bench.engine.workloads import NotDone
from bench.memory import TITLES, Found, in_memory
from bench.net.measure import Contender, Stopped
from bench.results import Figure, Growth, Results
from bench.roster import CONTESTANTS, PEERS
from bench.session import Heard, Line
from bench.table import table
from msgspec.structs import replace

from bench import comparison, memory, roster
from bench import growth as growing

Turn = tuple[str, str, dict[str, Any]]
"""Module, store and orders."""


class Server:
    """A PostgreSQL that nobody uses, and what it was asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def url(self) -> str:
        return self.create_database()

    def create_database(self) -> str:
        return "postgresql://nowhere/one"

    def query(self, sql: str) -> str:
        self.asked.append(sql)
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
    monkeypatch.setattr(comparison, "session", session)
    monkeypatch.setattr(comparison, "limits", lambda *them: {})
    monkeypatch.setattr(comparison, "fsyncs", lambda *them: 1.0)
    nothing = Found()
    nothing.missing = dict.fromkeys(TITLES, "not of interest")
    monkeypatch.setattr(comparison, "in_memory", lambda *them: nothing)
    return found


def measured(plan: Plan, tmp_path: Path, server: Server | None = None) -> Results:
    nobody: Any = server or Server()
    return Comparison(replace(plan, grow=False), tmp_path, nobody, lambda text: None).run()


def figure_of(results: Results, key: str) -> Figure:
    found = results.figure(key, "W3 median")
    assert found is not None
    return found


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
    assert figure_of(results, "penstock-sqlite").rounds == [0, 1, 2]
    assert figure_of(results, "dbos-sqlite").rounds == [1]
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

    nobody: Any = Server()
    results = Comparison(Plan(), tmp_path, nobody, lambda text: None).run()

    assert [each.name for each in results.growth] == ["Nodes"]
    assert "Growth: steps has no figure: runs are under way." in table(results)


def test_each_round_begins_with_somebody_else_and_what_the_one_before_left_is_on_the_disk(
    turns: list[Turn], tmp_path: Path
) -> None:
    server = Server()

    measured(Plan(), tmp_path, server)

    rounds = [each for each in turns if not each[2].get("wants")]
    size = len(CONTESTANTS)
    firsts = [rounds[start][:2] for start in (0, size, 2 * size)]
    assert firsts == [(each.module, each.store) for each in CONTESTANTS[:3]]
    assert server.asked.count("CHECKPOINT") == len(turns)


def test_after_its_time_nobody_has_another_turn(
    turns: list[Turn], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bench.comparison.time.monotonic", lambda: 10.0 * len(turns))

    results = measured(replace(QUICK, budget=65.0), tmp_path)

    assert len(turns) == 7
    assert "No time was left for Temporal." in results.notes


def test_who_is_slow_takes_no_more_than_his_share_of_what_is_left(
    turns: list[Turn], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even where everybody takes all that he is given, some minutes are enough for all of them."""
    passed, given = 0.0, list[float]()
    quick: Any = vars(comparison)["session"]

    def slow(python: str, module: str, orders: Any, disk: Path, seconds: float, more: object) -> Any:
        nonlocal passed
        passed += seconds
        given.append(seconds)
        return quick(python, module, orders, disk, seconds, more)

    monkeypatch.setattr(comparison, "session", slow)
    monkeypatch.setattr("bench.comparison.time.monotonic", lambda: passed)

    measured(QUICK, tmp_path)

    assert passed < QUICK.budget + 30
    assert min(given) >= 8
    assert len(turns) > 10


@pytest.mark.parametrize("error", [RuntimeError("no such thing"), OSError(28, "No space left on device")])
def test_what_goes_wrong_costs_one_figure_and_none_of_the_others(
    turns: list[Turn], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    quick: Any = vars(comparison)["session"]

    def breaking(python: str, module: str, *rest: Any) -> Any:
        if "temporal" in module:
            raise error
        return quick(python, module, *rest)

    def none(*them: object) -> dict[str, float]:
        raise error

    monkeypatch.setattr(comparison, "session", breaking)
    monkeypatch.setattr(comparison, "in_memory", none)
    monkeypatch.setattr(comparison, "limits", none)

    results = measured(QUICK, tmp_path)

    assert figure_of(results, "procrastinate").rounds == [1]
    assert f"Temporal in round 2 has no figure: {error}." in results.notes
    assert {f"W5 has no figure: {error}.", f"The machine has no figure: {error}."} <= set(results.notes)
    assert "Temporal" in table(results)


def test_who_interrupts_it_has_what_was_measured_until_then(
    turns: list[Turn], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick: Any = vars(comparison)["session"]

    def interrupted(python: str, module: str, *rest: Any) -> Any:
        if "celery" in module:
            raise KeyboardInterrupt
        return quick(python, module, *rest)

    monkeypatch.setattr(comparison, "session", interrupted)

    results = measured(QUICK, tmp_path)

    assert figure_of(results, "penstock-sqlite").rounds == [0]
    assert "It was interrupted: all that would have followed is missing." in table(results)
    assert not results.met


def test_whoever_of_w5_says_nothing_is_ended_and_missing() -> None:
    began = time.monotonic()

    found = in_memory(3, 0.01, 0.0)

    assert time.monotonic() - began < 30
    assert found.micros == {}
    assert found.missing["penstock"] == "the contender 'penstock' stopped; what it wrote is above"


def test_a_neighbour_of_w5_that_stops_costs_his_own_figure_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "CONTENDERS", {"penstock": "", "plain": ""})
    measure = Contender.measure

    def stopping(contender: Contender, work: str) -> float:
        if contender.name == "plain":
            raise Stopped("plain")
        return measure(contender, work)

    monkeypatch.setattr(Contender, "measure", stopping)

    found = in_memory(3, 0.001, 60.0)

    assert found.missing == {"plain": "the contender 'plain' stopped; what it wrote is above"}
    assert [(work, set(samples)) for work, samples in found.micros.items()] == [
        (work, {"penstock"}) for work in memory.WORKS
    ]


def test_growth_that_was_measured_is_kept_when_somebody_interrupts(
    turns: list[Turn], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(lab: growing.Lab) -> Growth:
        raise KeyboardInterrupt

    def fine(lab: growing.Lab) -> Growth:
        return Growth(name="Nodes", of="nodes", unit="s", points=[])

    monkeypatch.setattr(growing, "QUESTIONS", {"nodes": fine, "steps": interrupted})
    nobody: Any = Server()

    results = Comparison(Plan(), tmp_path, nobody, lambda text: None).run()

    assert [each.name for each in results.growth] == ["Nodes"]
