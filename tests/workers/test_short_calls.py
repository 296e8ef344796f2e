"""Short calls beside the loop: few threads, more where one is stuck, none lost."""

from __future__ import annotations

import asyncio
import threading

import pytest

from penstock.workers.execute import short_calls
from penstock.workers.execute.short_calls import ROW, ShortCalls
from tests.waiting import nothing_happens


def test_many_short_calls_are_all_answered_each_with_its_own() -> None:
    async def main() -> list[int]:
        calls = ShortCalls(4, "test")
        try:
            return await asyncio.gather(*(calls.result_of(lambda n=n: n * n) for n in range(500)))  # type: ignore[misc]
        finally:
            calls.close()

    assert asyncio.run(main()) == [n * n for n in range(500)]


def test_calls_that_take_their_time_run_side_by_side_but_no_more_than_allowed() -> None:
    async def main() -> tuple[int, int]:
        calls, meet, at_once = ShortCalls(4, "test"), threading.Barrier(4), []

        def wait() -> None:
            at_once.append(1)
            meet.wait(20)
            at_once.pop()

        try:
            await asyncio.gather(*(calls.result_of(wait) for _ in range(8)))
            return len(at_once), threading.active_count()
        finally:
            calls.close()

    assert asyncio.run(main())[0] == 0


def test_what_a_call_raises_comes_to_who_asked() -> None:
    async def main() -> int:
        calls = ShortCalls(2, "test")
        try:
            with pytest.raises(ZeroDivisionError):
                await calls.result_of(lambda: 1 // 0)
            return await calls.result_of(lambda: 7)
        finally:
            calls.close()

    assert asyncio.run(main()) == 7


def test_one_that_never_ends_is_given_up_and_holds_up_nobody() -> None:
    async def main() -> list[int]:
        calls, never = ShortCalls(1, "test"), threading.Event()
        try:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(calls.result_of(never.wait), 0.05)
            return [await calls.result_of(lambda: 1), await calls.result_of(lambda: 2)]
        finally:
            never.set()
            calls.close()

    assert asyncio.run(main()) == [1, 2]


def test_a_call_that_is_given_up_before_its_turn_is_not_begun() -> None:
    async def main() -> list[str]:
        calls, go, did = ShortCalls(1, "test"), threading.Event(), list[str]()
        try:
            first = asyncio.create_task(calls.result_of(lambda: go.wait(20)))
            second = asyncio.create_task(calls.result_of(lambda: did.append("second")))
            await nothing_happens(0.02)  # the second waits for its turn
            second.cancel()
            await asyncio.wait([second])
            go.set()
            await first
            await calls.result_of(lambda: did.append("third"))
            return did
        finally:
            calls.close()

    assert asyncio.run(main()) == ["third"]


def test_an_answer_comes_though_the_call_after_it_is_stuck() -> None:
    async def main() -> list[int]:
        calls, never = ShortCalls(1, "test"), threading.Event()
        try:
            quick = [asyncio.create_task(calls.result_of(lambda n=n: n)) for n in range(3)]  # type: ignore[misc]
            stuck = asyncio.create_task(calls.result_of(never.wait))
            found = await asyncio.wait_for(asyncio.gather(*quick), 20)
            assert not stuck.done()
            return found
        finally:
            never.set()
            calls.close()

    assert asyncio.run(main()) == [0, 1, 2]


def test_a_call_over_its_limit_is_given_up_and_the_next_is_done() -> None:
    async def main() -> int:
        calls, never = ShortCalls(1, "test"), threading.Event()
        try:
            with pytest.raises(TimeoutError):
                await calls.result_of(never.wait, 0.02)
            return await calls.result_of(lambda: 3, 20)
        finally:
            never.set()
            calls.close()

    assert asyncio.run(main()) == 3


def test_after_many_short_calls_a_long_one_holds_the_loop_for_a_moment_only() -> None:
    async def main() -> bool:
        calls, go = ShortCalls(2, "test"), threading.Event()
        try:
            for _ in range(3 * ROW):
                await calls.result_of(lambda: None)
            long = asyncio.create_task(calls.result_of(lambda: go.wait(20)))
            asyncio.get_running_loop().call_later(0.01, go.set)  # the call ends only if the loop goes on
            return await long
        finally:
            calls.close()

    assert asyncio.run(main())


def test_the_loop_waits_for_calls_only_after_short_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> bool:
        calls, ended, go = ShortCalls(1, "test"), threading.Event(), threading.Event()
        try:
            monkeypatch.setattr(short_calls, "SHORT", 20)  # they are, however busy the machine is
            while calls._row < ROW:  # a thread that is slow to leave takes several of them for one
                await calls.result_of(lambda: None)
            asked = asyncio.create_task(calls.result_of(ended.set))
            for _ in range(5):
                await asyncio.sleep(0)  # it comes to the line, and is handed over
            waited = ended.is_set()
            monkeypatch.setattr(short_calls, "SHORT", 0)
            await asked
            await calls.result_of(lambda: None)
            long = asyncio.create_task(calls.result_of(lambda: go.wait(20)))
            asyncio.get_running_loop().call_later(0.01, go.set)  # nobody would, if the loop waited
            return waited and await long
        finally:
            calls.close()

    monkeypatch.setattr(short_calls, "MOMENT", 20)
    assert asyncio.run(main())
