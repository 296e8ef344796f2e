"""`serialize` keys: first come, first served, however many wait."""

from __future__ import annotations

from time import process_time

from penstock.flow.model.run import RunId
from penstock.runtime.inmemory.locks import Holder, Locks


def holder(number: int) -> Holder:
    return RunId(f"run-{number}"), (1, None)


def test_a_key_goes_on_in_the_order_in_which_it_was_asked_for() -> None:
    locks = Locks()
    assert [locks.acquire("k", 2, holder(number)) for number in range(5)] == [True, True, False, False, False]

    assert locks.release("k", holder(3)) == []
    assert locks.release("k", holder(0)) == [holder(2)]
    assert locks.release("k", holder(1)) == [holder(4)]
    assert locks.holders("k") == {holder(2), holder(4)}


def test_leaving_a_long_queue_costs_what_leaving_a_short_one_costs() -> None:
    def cost(size: int) -> float:
        locks = Locks()
        for number in range(size):
            locks.acquire("k", 1, holder(number))
        began = process_time()
        for number in reversed(range(size)):
            locks.release("k", holder(number))
        return (process_time() - began) / size

    assert min(cost(16_000) for _ in range(3)) < 10 * min(cost(400) for _ in range(5))
