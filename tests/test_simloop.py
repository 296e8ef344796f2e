"""The simulated loop: any asyncio code, on virtual time, in an order that the seed decides."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from threading import Thread
from typing import Any

import pytest

from tests.simloop import (
    Crashed,
    Deadlock,
    Gone,
    SimLoop,
    SimulationError,
    TooManySteps,
    current_process,
    run_simulated,
)
from tests.waiting import pass_time


def play(main: Coroutine[Any, Any, Any], **options: Any) -> Any:
    return run_simulated(lambda loop: main, **options)


async def order_of(many: int) -> list[int]:
    """The order in which tasks that are ready at one moment get their turn."""
    took: list[int] = []

    async def one(number: int) -> None:
        took.append(number)

    await asyncio.gather(*(one(number) for number in range(many)))
    return took


def test_time_jumps_to_the_next_timer() -> None:
    async def main(loop: SimLoop) -> list[tuple[str, float]]:
        came: list[tuple[str, float]] = []

        async def nap(name: str, seconds: float) -> None:
            await pass_time(seconds)
            came.append((name, loop.time()))

        await asyncio.gather(nap("week", 604_800), nap("second", 1), nap("day", 86_400))
        return came

    assert run_simulated(main) == [("second", 1.0), ("day", 86_400.0), ("week", 604_800.0)]


def test_the_seed_decides_the_order_of_what_is_ready() -> None:
    orders = [play(order_of(6), seed=seed) for seed in range(20)]

    assert [play(order_of(6), seed=seed) for seed in range(20)] == orders
    assert len({tuple(order) for order in orders}) > 10
    assert play(order_of(6), order="fifo") == [0, 1, 2, 3, 4, 5]


def test_timers_of_one_moment_ring_in_any_order() -> None:
    async def main(loop: SimLoop) -> tuple[int, ...]:
        rang: list[int] = []
        for number in range(4):
            loop.call_at(5.0, rang.append, number)
        await pass_time(6)
        return tuple(rang)

    orders = {run_simulated(main, seed=seed) for seed in range(20)}

    assert len(orders) > 5
    assert {tuple(sorted(order)) for order in orders} == {(0, 1, 2, 3)}


def test_a_fingerprint_tells_two_interleavings_apart() -> None:
    async def main(loop: SimLoop) -> tuple[int, float, int]:
        await order_of(6)
        return loop.fingerprint()

    prints = [run_simulated(main, seed=seed) for seed in range(10)]

    assert [run_simulated(main, seed=seed) for seed in range(10)] == prints
    assert len(set(prints)) == 10


async def everyday() -> list[Any]:
    """A bit of everything that asyncio offers."""
    queue: asyncio.Queue[int] = asyncio.Queue(2)
    event, lock = asyncio.Event(), asyncio.Lock()
    got: list[Any] = []

    async def put() -> None:
        for number in range(5):
            await queue.put(number)
        event.set()

    async def take() -> None:
        async with lock:
            for _ in range(5):
                got.append(await queue.get())

    async with asyncio.TaskGroup() as group:
        group.create_task(put())
        group.create_task(take())
    await event.wait()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(3):
            await pass_time(10)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(asyncio.Event().wait(), 2)
    got.append(await asyncio.to_thread(lambda: "inline"))
    asyncio.get_running_loop().call_soon_threadsafe(got.append, "soon")
    await pass_time(0.5)
    got.append(asyncio.get_running_loop().time())
    return got


def test_everyday_asyncio_code_runs_unchanged() -> None:
    for seed in range(20):
        assert play(everyday(), seed=seed) == [0, 1, 2, 3, 4, "inline", "soon", 5.5]


def test_a_deadlock_is_told_with_who_waits_and_where() -> None:
    async def patient() -> None:
        await asyncio.Event().wait()

    with pytest.raises(
        Deadlock, match=r"(?s)everything waits; 1 task waits:.*patient at .*test_simloop\.py:\d+"
    ):
        play(patient())


def test_what_spins_is_ended() -> None:
    async def spin() -> None:
        while True:
            await asyncio.sleep(0)

    with pytest.raises(TooManySteps, match="more than 1,000 steps"):
        play(spin(), most_steps=1_000)


def test_a_callback_that_raises_ends_the_simulation() -> None:
    async def main(loop: SimLoop) -> None:
        loop.call_later(1, lambda: 1 / 0)
        await pass_time(2)

    with pytest.raises(Crashed, match=r"seed 0, after 1.000 s: ZeroDivisionError"):
        run_simulated(main)


def test_a_failed_task_that_nobody_asks_ends_the_simulation() -> None:
    async def fail() -> None:
        raise ValueError("nobody asks")

    async def main() -> None:
        asyncio.get_running_loop().create_task(fail())
        await pass_time(1)
        await pass_time(1)

    with pytest.raises(Crashed, match="nobody asks"):
        play(main())


def test_an_executor_that_raises_fails_its_caller_only() -> None:
    def fail() -> None:
        raise ValueError("inside")

    async def main() -> str:
        try:
            await asyncio.to_thread(fail)
        except ValueError as error:
            return str(error)
        return ""

    assert play(main()) == "inside"


def test_another_thread_is_refused() -> None:
    caught: list[SimulationError] = []

    async def main(loop: SimLoop) -> None:
        def other() -> None:
            try:
                loop.call_soon_threadsafe(print)
            except SimulationError as error:
                caught.append(error)

        thread = Thread(target=other)
        thread.start()
        thread.join()

    run_simulated(main)

    assert [str(error) for error in caught] == [
        "another thread called into the simulation: it would be different at every run"
    ]


async def _ticks(loop: SimLoop, seen: list[float]) -> None:
    try:
        while True:
            await pass_time(1)
            seen.append(loop.time())
    finally:
        seen.append(-1.0)


def test_a_killed_process_runs_no_more_not_even_its_finally() -> None:
    seen: list[float] = []

    async def main(loop: SimLoop) -> list[float]:
        node = loop.process("node")

        async def parent() -> None:
            await asyncio.gather(_ticks(loop, seen))

        node.spawn(parent())
        await pass_time(3.5)
        node.kill()
        await pass_time(100)
        return list(seen)

    for seed in range(5):
        seen.clear()
        assert run_simulated(main, seed=seed) == [1.0, 2.0, 3.0]
        assert seen == [1.0, 2.0, 3.0, -1.0]  # only when all is over


def test_a_paused_process_wakes_up_late_and_goes_on() -> None:
    async def main(loop: SimLoop) -> list[float]:
        seen: list[float] = []
        worker = loop.process("worker")
        worker.spawn(_ticks(loop, seen))
        await pass_time(1.5)
        worker.pause()
        await pass_time(60)
        worker.resume()
        await pass_time(1.9)
        return list(seen)

    assert run_simulated(main) == [1.0, 61.5, 62.5]


def test_a_process_is_called_as_over_a_wire() -> None:
    async def main(loop: SimLoop) -> list[Any]:
        node = loop.process("node")
        said: list[Any] = [current_process()]

        async def answer() -> str:
            await pass_time(5)
            said.append(current_process())
            return "yes"

        said.append(await node.call(answer))
        asyncio.get_running_loop().call_later(2, node.kill)
        for _ in range(2):
            with pytest.raises(Gone) as gone:
                await node.call(answer)
            said.append(str(gone.value))
        return [str(each) for each in said]

    assert run_simulated(main) == ["None", "<process node>", "yes", "node died", "node is not there"]


def test_what_a_call_raises_reaches_its_caller() -> None:
    async def main(loop: SimLoop) -> str:
        async def refuse() -> None:
            raise ValueError("no")

        with pytest.raises(ValueError, match="no"):
            await loop.process("node").call(refuse)
        return "caught"

    assert run_simulated(main) == "caught"


def test_a_caller_that_gives_up_leaves_the_work_behind_or_withdraws_it() -> None:
    async def main(loop: SimLoop) -> list[str]:
        node, done = loop.process("node"), list[str]()

        async def work(name: str) -> None:
            await pass_time(5)
            done.append(name)

        for name, withdraw in (("left", False), ("withdrawn", True)):
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(1):
                    await node.call(lambda name=name: work(name), withdraw)  # type: ignore[misc]
        await pass_time(10)
        return done

    assert run_simulated(main) == ["left"]


def test_an_answer_to_a_dead_caller_harms_nobody() -> None:
    async def main(loop: SimLoop) -> str:
        node, worker = loop.process("node"), loop.process("worker")

        async def refuse() -> None:
            await pass_time(1)
            raise ValueError("nobody is there to hear it")

        worker.spawn(node.call(refuse))
        await pass_time(0.5)
        worker.kill()
        await pass_time(10)
        return "well"

    for seed in range(5):
        assert run_simulated(main, seed=seed) == "well"
