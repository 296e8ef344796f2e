"""Rules K1 to K10 of docs/spec/kernel.md."""

from __future__ import annotations

import pytest

from penstock.kernel.errors import NotEnabled
from penstock.kernel.firing import MutableMarking, begin, enabled, fire
from penstock.kernel.marking import EMPTY, Token
from tests.kernel.nets import board_with, numbers, put, waiting, wired


def test_k1_an_event_goes_to_every_slot_that_takes_it() -> None:
    wiring = wired("one: a ->", "two: a b ->", "twice: a a ->")

    board = board_with(wiring, "a")

    assert waiting(board) == {"one.0": ["a"], "two.0": ["a"], "twice.0": ["a"], "twice.1": ["a"]}


def test_k1_an_event_that_nobody_waits_for_changes_nothing() -> None:
    wiring = wired("one: a ->")

    assert board_with(wiring, "z").marking() == EMPTY


def test_k2_a_join_is_enabled_only_when_every_slot_is_filled() -> None:
    wiring = wired("split: START -> a b", "join: a b -> end")
    split = fire(wiring, begin(wiring), "split", "done", 1)

    assert enabled(wiring, begin(wiring)) == ["split"]
    assert enabled(wiring, split) == ["join"]
    assert enabled(wiring, board_with(wiring, "a", "a").marking()) == []


def test_k2_a_join_stays_enabled_while_complete_sets_wait() -> None:
    wiring = wired("join: a b ->")
    board = board_with(wiring, "a", "b", "a", "b", "a")
    join = wiring.by_name["join"]

    assert board.enabled(join)
    board.take(join)
    assert board.enabled(join)
    board.take(join)
    assert not board.enabled(join)
    assert waiting(board) == {"join.0": ["a"]}


def test_k2_the_board_names_what_it_woke_once_and_in_order() -> None:
    wiring = wired("one: a ->", "both: a b ->")
    board = MutableMarking(wiring)

    put(board, "b", 1)
    put(board, "a", 2)
    put(board, "a", 3)

    assert board.woken == [0, 1]


def test_k3_a_firing_takes_the_oldest_from_each_slot() -> None:
    wiring = wired("join: a b ->")
    board = board_with(wiring, "a", "a", "b")

    assert numbers(board.take(wiring.by_name["join"])) == [[1], [3]]
    assert waiting(board) == {"join.0": ["a"]}


def test_k3_a_step_that_is_not_enabled_does_not_fire() -> None:
    wiring = wired("join: a b ->")
    board = board_with(wiring, "a")

    with pytest.raises(NotEnabled, match="step 'join' cannot fire"):
        board.take(wiring.by_name["join"])
    assert waiting(board) == {"join.0": ["a"]}


def test_k4_an_either_or_slot_takes_whichever_comes() -> None:
    wiring = wired("any: a|b ->")
    board = board_with(wiring, "b", "a")
    step = wiring.by_name["any"]

    assert numbers(board.take(step)) == [[1]]
    assert numbers(board.take(step)) == [[2]]
    assert not board.enabled(step)


def test_k5_need_takes_the_first_different_ones() -> None:
    wiring = wired("two: 2(a,b,c) ->")
    board = board_with(wiring, "a", "a", "c")

    assert numbers(board.take(wiring.by_name["two"])) == [[1, 3]]
    assert waiting(board) == {"two.0": ["a"]}


def test_k5_what_the_round_did_not_take_is_swallowed_when_it_comes() -> None:
    wiring = wired("two: 2(a,b,c) ->")
    board = board_with(wiring, "a", "b")
    step = wiring.by_name["two"]

    board.take(step)
    put(board, "c", 3)

    assert [token.number for _, token in board.dropped] == [3]
    assert board.marking() == EMPTY


def test_k5_what_waits_already_is_dropped_with_the_round() -> None:
    wiring = wired("two: 2(a,b,c) go ->")
    board = board_with(wiring, "a", "b", "c", "go")

    taken = board.take(wiring.by_name["two"])

    assert numbers(taken) == [[1, 2], [4]]
    assert [token.number for _, token in taken.dropped] == [3]
    assert board.marking() == EMPTY


def test_k5_the_next_round_begins_after_the_debt_is_paid() -> None:
    wiring = wired("one: 1(a,b) ->")
    board = board_with(wiring, "a")
    step = wiring.by_name["one"]
    board.take(step)

    put(board, "b", 2)
    assert not board.enabled(step)
    put(board, "b", 3)

    assert numbers(board.take(step)) == [[3]]


def test_k6_keep_leaves_the_rest_for_the_next_round() -> None:
    wiring = wired("two: 2(a,b,c)+ ->")
    board = board_with(wiring, "a", "b", "c", "a")
    step = wiring.by_name["two"]

    assert numbers(board.take(step)) == [[1, 2]]
    assert numbers(board.take(step)) == [[3, 4]]
    assert board.marking() == EMPTY


def test_k7_only_events_of_one_key_are_taken_together() -> None:
    wiring = wired("join: a b ->", keyed=("join",))
    board = board_with(wiring, "a:x", "b:y")
    step = wiring.by_name["join"]
    assert not board.enabled(step)

    put(board, "b:x", 3)
    taken = board.take(step)

    assert (taken.key, numbers(taken)) == ("x", [[1], [3]])
    assert waiting(board) == {"join.1": ["b"]}


def test_k7_the_key_completed_first_fires_first() -> None:
    wiring = wired("join: a b ->", keyed=("join",))
    board = board_with(wiring, "a:x", "a:y", "b:y", "b:x")
    step = wiring.by_name["join"]

    assert [board.take(step).key, board.take(step).key] == ["y", "x"]


def test_k7_a_second_round_of_a_key_waits_its_turn() -> None:
    wiring = wired("join: a b ->", keyed=("join",))
    board = board_with(wiring, "a:x", "b:x", "a:y", "b:y", "a:x", "b:x")
    step = wiring.by_name["join"]

    assert [board.take(step).key for _ in range(3)] == ["x", "y", "x"]
    assert board.marking() == EMPTY


def test_k7_a_second_round_that_began_early_waits_its_turn_too() -> None:
    wiring = wired("join: a b ->", keyed=("join",))
    board = board_with(wiring, "a:x", "a:x", "b:x", "a:y", "b:y", "b:x")
    step = wiring.by_name["join"]

    assert [board.take(step).key for _ in range(3)] == ["x", "y", "x"]


def test_k7_an_event_without_a_key_is_set_aside() -> None:
    wiring = wired("join: a b ->", keyed=("join",))
    board = board_with(wiring, "a")

    assert [token.name for _, token in board.aside] == ["a"]
    assert board.marking() == EMPTY


def test_k8_firing_withdraws_what_waits_at_the_steps_it_cancels() -> None:
    wiring = wired("stop: s -> out", "join: a b ->", "other: a ->", cancels={"stop": ("join",)})
    marking = board_with(wiring, "a", "s").marking()

    after = fire(wiring, marking, "stop", "done", 10)

    assert waiting(MutableMarking(wiring, after)) == {"other.0": ["a"]}
    assert after == board_without(marking, wiring, "join", "stop")


def board_without(marking: object, wiring: object, *steps: str) -> object:
    board = MutableMarking(wiring, marking)  # type: ignore[arg-type]
    for step in steps:
        board.clear(board.wiring.by_name[step])
    return board.marking()


def test_k8_clearing_forgets_debts_and_keys() -> None:
    wiring = wired("one: 1(a,b) ->", "pair: c d ->", keyed=("pair",))
    board = board_with(wiring, "a", "c:k", "d:k")
    board.take(wiring.by_name["one"])

    board.clear(wiring.by_name["one"])
    board.clear(wiring.by_name["pair"])

    assert board.marking() == EMPTY


def test_k9_put_back_undoes_a_take() -> None:
    wiring = wired("join: a 2(b,c,d) ->", "pair: e f ->", keyed=("pair",))
    names = ("a", "b", "c", "d", "a", "e:k", "f:k", "e:k")
    before = board_with(wiring, *names).marking()

    board = MutableMarking(wiring, before)
    taken = [(wiring.by_name[name], board.take(wiring.by_name[name])) for name in ("join", "pair")]
    for step, what in taken:
        board.put_back(step, what)

    restored = board.marking()
    dropped = taken[0][1].dropped[0][1]
    assert restored.tokens[wiring.by_name["join"].slots[0].index] == before.tokens[0]
    assert [token.name for token in restored.tokens[1]] == ["b", "c"]
    assert (dropped.name, dict(restored.owed)) == ("d", {(1, "d"): -1})
    assert restored.complete == before.complete


def test_k9_a_round_that_was_put_back_does_not_swallow_twice() -> None:
    wiring = wired("one: 1(a,b) ->")
    board = board_with(wiring, "a", "b")
    step = wiring.by_name["one"]
    taken = board.take(step)

    board.put_back(step, taken)
    board.take(step)
    put(board, "b", 9)

    assert numbers(board.take(step)) == [[9]]


def test_k10_a_marking_is_a_value() -> None:
    wiring = wired("join: a b ->")
    first = board_with(wiring, "a", "b").marking()
    kept = dict(first.tokens)

    board = MutableMarking(wiring, first)
    board.take(wiring.by_name["join"])
    board.put(Token(9, "a"))

    assert dict(first.tokens) == kept
    assert first == board_with(wiring, "a", "b").marking()
    assert board.marking() != first


def test_a_token_can_be_taken_out_by_its_number() -> None:
    wiring = wired("join: a b ->")
    board = board_with(wiring, "a", "b", "a")
    slot = wiring.by_name["join"].slots[0]

    assert board.remove(slot, 1) == Token(1, "a", "")
    assert board.remove(slot, 77) is None
    assert numbers(board.take(wiring.by_name["join"])) == [[3], [2]]
