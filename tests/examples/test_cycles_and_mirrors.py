"""A workflow that turns as in Pinball, and a join that needs two of three."""

from __future__ import annotations

from datetime import timedelta
from itertools import permutations

import pytest
from tests.examples.shelf import begin, firings, played, proposed

from penstock.testing import World, after, fails, returns

MIRRORS = ("amsterdam", "boston", "chennai")


@pytest.mark.parametrize("turns", [1, 2, 1000])
def test_the_cycle_turns_as_often_as_it_is_told(turns: int) -> None:
    run = played("pinball_cycle", {"turns": turns})

    run.expect("succeeded", result={"turns": turns, "total": turns * (turns + 1) // 2})
    assert firings(run) == {"work": turns, "check": turns, "finish": 1}
    assert (run.events.count("again"), run.events.count("enough")) == (turns - 1, 1)
    assert run.marking() == {}


def test_each_turn_takes_exactly_one_event() -> None:
    run = begin(World(), "pinball_cycle")

    waiting = []
    while run.clock.step():
        waiting.append(run.marking())

    run.expect("succeeded")
    assert set(map(str, waiting)) == {"{}"}
    assert run.order == ["work", "check", "work", "check", "work", "check", "finish"]


def test_two_runs_of_one_cycle_do_not_mix() -> None:
    world = World()
    runs = [begin(world, "pinball_cycle", {"turns": turns}) for turns in (5, 9)]
    world.run()

    assert [run.result for run in runs] == [{"turns": 5, "total": 15}, {"turns": 9, "total": 45}]


def test_a_turn_that_fails_ends_the_cycle() -> None:
    run = played("pinball_cycle", stubs={"work": fails("stuck")})

    run.expect("failed", fired={"work": 1}, never=["check", "finish"])


@pytest.mark.parametrize("order", list(permutations(MIRRORS)), ids=" ".join)
def test_the_first_two_answers_are_taken_and_the_third_is_called_off(order: tuple[str, ...]) -> None:
    stubs = {
        f"ask_{mirror}": returns({"mirror": mirror, "checksum": "c0ffee"}, after=f"{minute}m")
        for minute, mirror in enumerate(order, 1)
    }

    run = played("mirrors", stubs=stubs)

    run.expect("succeeded", result={"checksum": "c0ffee", "mirrors": sorted(order[:2])})
    [compared], [late] = run.attempts("compare"), run.attempts(f"ask_{order[2]}")
    assert compared.began - late.began == timedelta(minutes=2)
    assert late.outcome == "withdrawn"


def test_two_mirrors_that_do_not_agree_fail_the_run_at_once() -> None:
    stubs = {
        f"ask_{mirror}": returns({"mirror": mirror, "checksum": mirror}, after=f"{minute}s")
        for minute, mirror in enumerate(MIRRORS, 1)
    }

    run = played("mirrors", stubs=stubs)

    run.expect("failed", fired={"compare": 1})
    assert len(run.attempts("compare")) == 1


def test_a_mirror_that_hangs_is_not_waited_for() -> None:
    run = played("mirrors", proposed("mirrors"), stubs={"ask_boston": after("9h")})

    run.expect("succeeded")
    assert run.result["mirrors"] == ["amsterdam", "chennai"]
