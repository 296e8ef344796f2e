"""Waiting in tests ends with what was waited for, or says what never came."""

from __future__ import annotations

import asyncio

import pytest

from tests.simloop import run_simulated
from tests.waiting import until, until_sync, within


def test_what_is_true_at_last_is_returned() -> None:
    seen = iter([0, "", [], "there"])

    async def look() -> object:
        return next(seen)

    assert run_simulated(lambda _: until(look, "something")) == "there"


def test_what_is_wanted_may_be_said() -> None:
    seen = iter([3, 1, 2])

    assert until_sync(lambda: next(seen), "a two", so=lambda number: number == 2) == 2


def test_who_waits_in_vain_is_told_for_what() -> None:
    wanted = "waited 5 s for a word; at last it was ''"

    with pytest.raises(AssertionError, match=wanted):
        run_simulated(lambda _: until(lambda: "", "a word", 5))
    with pytest.raises(AssertionError, match="waited 0 s for a word"):
        until_sync(lambda: "", "a word", 0)


def test_a_look_that_never_ends_is_given_up() -> None:
    with pytest.raises(AssertionError, match="waited 5 s for an answer"):
        run_simulated(lambda _: until(asyncio.Event().wait, "an answer", 5))


def test_a_look_that_runs_out_of_time_by_itself_is_no_vain_wait() -> None:
    async def look() -> bool:
        raise TimeoutError("of its own")

    with pytest.raises(TimeoutError, match="of its own"):
        run_simulated(lambda _: until(look, "an answer", 5))


@pytest.mark.parametrize("there", [True, False])
def test_what_need_not_come_is_waited_for_as_long(there: bool) -> None:
    async def main() -> tuple[bool, bool]:
        loop = asyncio.get_running_loop()
        began = loop.time()
        found = await within(5, lambda: there)
        return found, loop.time() - began >= 5

    assert run_simulated(lambda _: main()) == (there, not there)
