"""Seeded faults: the same ones for the same seed, told apart, counted, and shrunk to the few that matter."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, cast

import pytest

from penstock.runtime.dispatch.gate import Gate
from penstock.store.errors import StoreAway
from penstock.store.protocol import Store
from tests.faults import Faults, RunGroups, Strike, Watch, faulty_gate, faulty_store, shrink
from tests.simloop import Process, SimLoop, current_process, run_simulated
from tests.waiting import pass_time


def struck(seed: int, points: str, times: int = 40) -> list[Strike]:
    faults = Faults(seed)
    for _ in range(times):
        for point in points:
            faults.strikes(point)
    return faults.struck


def test_a_point_is_active_for_some_seeds_and_strikes_sometimes() -> None:
    with_strikes = [seed for seed in range(200) if struck(seed, "a")]
    often = [len(struck(seed, "a")) for seed in with_strikes]

    assert 30 < len(with_strikes) < 70
    assert 8 < sum(often) / len(often) < 12


def test_the_strikes_of_a_point_do_not_depend_on_other_points() -> None:
    for seed in range(20):
        alone = struck(seed, "b")

        assert [strike for strike in struck(seed, "abc") if strike[0] == "b"] == alone
        assert struck(seed, "b") == alone


def test_spared_and_stopped_faults_do_not_strike() -> None:
    seed = next(seed for seed in range(100) if struck(seed, "a"))
    first, *rest = struck(seed, "a")
    faults = Faults(seed, spared=[first])
    for _ in range(40):
        faults.strikes("a")

    assert faults.struck == rest
    faults.stop()
    assert not any(faults.strikes("a") for _ in range(100))
    assert faults.reached["a"] == 140


def test_a_tally_says_what_never_happened() -> None:
    tally = RunGroups()
    for seed in range(3):
        faults = Faults(seed, active=1, strikes=1)
        faults.strikes("struck")
        faults.sometimes("seen", seed == 1)
        faults.sometimes("never", False)
        tally.add(faults)

    assert (tally.seeds, dict(tally.reached), dict(tally.struck)) == (3, {"struck": 3}, {"struck": 3})
    assert tally.never(["struck", "seen", "never", "unheard of"]) == ["never", "unheard of"]


def test_strikes_are_shrunk_to_those_that_matter() -> None:
    strikes = [("p", number) for number in range(50)]
    matter = {("p", 7), ("p", 31)}

    assert shrink(strikes, lambda spared: not matter & spared) == [("p", 7), ("p", 31)]
    assert shrink(strikes, lambda spared: True) == []


class Ledger:
    """As much of a store and of a gate as the tests ask for."""

    def __init__(self) -> None:
        self.done: list[Any] = []

    async def commit(self, changes: Any) -> str:
        self.done.append((str(current_process()), changes))
        return "answer"

    async def load(self, runs: Any) -> str:
        return "loaded"

    async def report(self, reports: Any) -> str:
        self.done.append(reports)
        return f"answer {len(self.done)}"

    async def listen(self, timeout: timedelta) -> str:
        return "tasks"


class Only(Faults):
    """One point strikes always, the others never."""

    def __init__(self, point: str | None) -> None:
        super().__init__(0)
        self.point = point

    def strikes(self, point: str, chance: float | None = None) -> bool:
        return self.on and point == self.point


def through_store(point: str | None, verb: str = "commit") -> tuple[Any, list[Any]]:
    ledger = Ledger()

    async def main(loop: SimLoop) -> Any:
        store = faulty_store(cast(Store, ledger), loop.process("database"), Only(point))
        argument: Any = timedelta(seconds=30) if verb == "listen" else ["c"]
        try:
            return await getattr(store, verb)(argument)
        except StoreAway as away:
            return str(away)
        finally:
            assert loop.time() < 40

    return run_simulated(main), ledger.done


DONE = [("<process database>", ["c"])]


@pytest.mark.parametrize(
    ("point", "answer", "done"),
    [
        (None, "answer", DONE),
        ("store.commit.slow", "answer", DONE),
        ("store.commit.late", "answer", DONE),
        (
            "store.commit.refused",
            "the database does not answer (store.commit did not get through); nothing was changed: try again",
            [],
        ),
        (
            "store.cut",
            "the database does not answer (store is cut off); nothing was changed: try again",
            [],
        ),
        (
            "store.commit.lost",
            "whether it was done is not known (the answer to store.commit is lost): "
            "repeat it with the same idempotency key or event id, or look before you repeat it",
            DONE,
        ),
    ],
)
def test_a_faulty_store_says_what_it_knows(point: str | None, answer: str, done: list[Any]) -> None:
    assert through_store(point) == (answer, done)


def test_the_lost_answer_of_a_question_leaves_no_doubt() -> None:
    answer, _ = through_store("store.load.lost", "load")

    assert answer.endswith("nothing was changed: try again")


def test_a_deaf_bell_lets_the_time_pass() -> None:
    assert through_store(None, "listen")[0] == "tasks"
    assert through_store("store.bell.deaf", "listen")[0] is None


def test_a_transaction_is_done_even_where_its_node_dies() -> None:
    ledger, watched = Ledger(), list[Any]()

    async def main(loop: SimLoop) -> None:
        class Killer(Watch):
            def asked(self, verb: str, args: tuple[Any, ...]) -> None:
                watched.append((verb, args))

            def answered(self, verb: str, args: tuple[Any, ...], answer: Any) -> None:
                watched.append(answer)
                node.kill()

        store = faulty_store(cast(Store, ledger), loop.process("database"), Only(None), Killer())
        node = loop.process("node")

        async def work() -> None:
            await store.commit([])
            watched.append("never")

        node.spawn(work())
        await pass_time(10)

    run_simulated(main)

    assert watched == [("commit", ([],)), "answer"]
    assert ledger.done == [("<process database>", [])]


def through_gate(point: str | None, dead: bool = False, none: bool = False) -> tuple[str, list[Any]]:
    ledger = Ledger()

    async def main(loop: SimLoop) -> str:
        node: Process = loop.process("node")
        if dead:
            node.kill()
        gate = faulty_gate(lambda: None if none else (node, cast(Gate, ledger)), Only(point))
        try:
            return str(await gate.report([]))
        except StoreAway as away:
            return f"unsure={away.unsure}: {away}"

    return run_simulated(main), ledger.done


def test_a_faulty_gate_loses_and_repeats_reports() -> None:
    assert through_gate(None) == ("answer 1", [[]])
    assert through_gate("gate.report.twice") == ("answer 2", [[], []])
    lost, done = through_gate("gate.report.lost")
    assert (lost.split(":")[0], done) == ("unsure=True", [[]])


def test_a_gate_whose_node_is_gone_is_away() -> None:
    assert through_gate(None, none=True)[0].startswith("unsure=False: the database does not answer (no node")
    assert through_gate(None, dead=True)[0].startswith(
        "unsure=True: whether it was done is not known (node is not"
    )
