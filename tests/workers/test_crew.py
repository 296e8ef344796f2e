"""Coroutines that are begun together: they share a task of the loop as long as nobody can tell."""

from __future__ import annotations

import asyncio
from contextvars import ContextVar

from penstock.flow.model.run_input import Done
from penstock.store.rows.change import WHOLE
from penstock.testing.scripted_gate import ScriptedGate
from tests.workers.working import reported, working

USER: ContextVar[str] = ContextVar("user", default="nobody")


async def _outcomes(gate: ScriptedGate, runs: list[str], tasks: object) -> list[object]:
    async with working(gate, tasks):
        return await reported(gate, *runs)


def test_coroutines_that_end_at_once_share_one_task() -> None:
    async def main() -> None:
        tasks: set[asyncio.Task[object] | None] = set()

        async def quick() -> None:
            tasks.add(asyncio.current_task())

        gate = ScriptedGate()
        runs = [gate.give("quick") for _ in range(20)]

        outcomes = await _outcomes(gate, runs, {"quick": quick})

        assert (outcomes, len(tasks)) == ([Done()] * 20, 1)

    asyncio.run(main())


def test_a_coroutine_finds_nothing_that_another_left_in_its_context() -> None:
    async def sign_in(user: str) -> str:
        before = USER.get()
        USER.set(user)
        return before

    async def main() -> None:
        gate = ScriptedGate()
        runs = [gate.give("sign_in", {"user": user}) for user in ("ann", "bob", "cid")]

        outcomes = await _outcomes(gate, runs, {"sign_in": sign_in})

        assert outcomes == [Done(output="nobody")] * 3

    asyncio.run(main())


def test_one_that_cancels_its_task_and_ends_all_the_same_stops_nobody_else() -> None:
    async def quit() -> str:
        current = asyncio.current_task()
        assert current is not None
        current.cancel()
        return "ended"

    async def wait() -> str:
        await asyncio.sleep(0)
        return "waited"

    async def main() -> None:
        gate = ScriptedGate()
        runs = [gate.give("quit"), gate.give("wait"), gate.give("wait")]

        outcomes = await _outcomes(gate, runs, {"quit": quit, "wait": wait})

        assert outcomes == [Done(output="ended"), Done(output="waited"), Done(output="waited")]

    asyncio.run(main())


def test_one_that_waits_does_not_hold_up_those_that_were_begun_with_it() -> None:
    async def main() -> None:
        came = asyncio.Event()

        async def wait() -> None:
            await came.wait()

        async def come() -> None:
            came.set()

        gate = ScriptedGate()
        runs = [gate.give("wait"), gate.give("wait"), gate.give("come")]

        outcomes = await _outcomes(gate, runs, {"wait": wait, "come": come})

        assert outcomes == [Done()] * 3

    asyncio.run(main())


def test_one_that_is_no_longer_wanted_when_its_turn_comes_is_not_begun() -> None:
    begun: list[str] = []

    async def main() -> None:
        gate = ScriptedGate()
        first, second, third = (gate.give("step", {"name": name}) for name in "abc")

        async def step(name: str) -> None:
            begun.append(name)
            worker.nudge(second, [(1, WHOLE)])

        async with working(gate, {"step": step}) as worker:
            await reported(gate, first, third)

        assert begun == ["a", "c"]

    asyncio.run(main())
