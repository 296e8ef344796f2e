"""Wrong variants of the proof, each caught by the comparison with every run."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import pytest
from tests.kernel.analysis.nets import net, step
from tests.kernel.analysis.test_against_brute_force import compare, compare_doubles, compare_rests

from penstock.kernel.net import Net
from penstock.kernel.proof import machine, mistakes, search
from penstock.kernel.proof.structure import ends_run


class Bug(NamedTuple):
    """A function put in the place of a right one, and a net on which it goes wrong."""

    module: Any
    name: str
    wrong: Any
    net: Net
    compare: Callable[[Net], None] = compare


def dooms_by_one_exit(one: Net) -> frozenset[int]:
    return frozenset(i for i, part in enumerate(one.steps) if any(ends_run(way) for way in part.exits))


def counts_outside_events_too(one: machine.Machine, state: machine.State) -> tuple[int, ...]:
    return tuple(number for number in range(len(one.places)) if state[number] > 0)


BUGS = {
    "the reduction overlooks cancel regions": Bug(
        search,
        "touchy_places",
        lambda machine: frozenset(),
        net(step("a", done="OK"), step("b", "e", cancels="a"), outside="e"),
    ),
    "one exit that ends the run dooms a step": Bug(
        machine,
        "doomed",
        dooms_by_one_exit,
        net(
            step("a", done="OK", failed="bad"), step("h", "bad", then="FAIL", **{"else": "p"}), step("k", "p")
        ),
    ),
    "waiting for outside is taken for a standstill": Bug(
        machine,
        "_outside_would_help",
        lambda *_: False,
        net(step("a", "e", done="OK"), outside="e"),
        compare_rests,
    ),
    "every net is taken to be bounded": Bug(
        search,
        "bounded",
        lambda machine: True,
        net(step("a", "START|again", done="again more"), step("b", "more", done="again")),
    ),
    "steps beside an endless loop are passed over": Bug(
        search,
        "_stuck",
        lambda space: False,
        net(step("f"), step("a", "f|again", done="again"), step("b"), step("c", "b")),
    ),
    "what comes late is forgotten": Bug(
        search, "arrivals_at_rest", lambda *_: [], net(step("a", done="OK"), step("b", "e"), outside="e")
    ),
    "debts are forgiven": Bug(
        machine,
        "LEAST_OWED",
        0,
        net(step("a", done="p"), step("b", "a", done="q"), step("j", "1of:p|q"), step("z", "j a", done="OK")),
    ),
    "outside events count as left over": Bug(
        machine,
        "left_over",
        counts_outside_events_too,
        net(step("d", then="", **{"else": "q"}), step("j", "e q"), outside="e"),
        compare_rests,
    ),
    "loops are not seen": Bug(
        search, "loops", lambda graph: [], net(step("a", "START|again", done="again"), step("b", "a"))
    ),
    "consumers behind a loop are always quick": Bug(
        search,
        "reach",
        lambda graph, roots: set(),
        net(step("a", "START|back", done="m x"), step("b", "x"), step("c", "m", done="back")),
    ),
    "nothing fires twice": Bug(
        mistakes,
        "most_firings",
        lambda *_: Fraction(0),
        net(step("a", done="p"), step("b", done="q"), step("j", "p|q")),
        compare_doubles,
    ),
}


@pytest.mark.parametrize("name", BUGS)
def test_s17_a_planted_bug_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    bug = BUGS[name]
    bug.compare(bug.net)

    monkeypatch.setattr(bug.module, bug.name, bug.wrong)

    with pytest.raises(AssertionError):
        bug.compare(bug.net)
