"""What can become of a run from where it is agrees with what the proof says from the beginning."""

from __future__ import annotations

import pytest
from tests.examples.shelf import NAMES, path_of, tasks

from penstock.engine.authoring.loader import load
from penstock.kernel.firing import MutableMarking
from penstock.kernel.marking import Token
from penstock.kernel.net import START
from penstock.kernel.proof.prospect import Here, prospect
from penstock.kernel.proof.search import Budget
from penstock.kernel.proof.soundness import analyse

ALL = Budget(200_000, lambda: False)


@pytest.mark.parametrize("name", NAMES)
def test_from_the_beginning_it_says_what_the_proof_says(name: str) -> None:
    flow = load(path_of(name), tasks(name)).flow
    board = MutableMarking(flow.wiring)
    board.put(Token(1, START))
    proved = analyse(flow.net)

    told = prospect(flow.wiring, Here(marking=board.marking()), ALL, lambda token: False)

    assert proved.complete
    assert (told.outlook == "ends") == (proved.deadlock is None and proved.no_end is None)


def test_with_no_time_it_cannot_be_told() -> None:
    flow = load(path_of("mediathread"), tasks("mediathread")).flow
    board = MutableMarking(flow.wiring)
    board.put(Token(1, START))

    told = prospect(flow.wiring, Here(marking=board.marking()), Budget(1, lambda: True), lambda token: False)

    assert told.outlook == "unknown"
