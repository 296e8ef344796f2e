"""Viblio's rules: two budgets, time-outs that grow, keys that serialize."""

from __future__ import annotations

import asyncio
from datetime import datetime
from itertools import pairwise
from typing import Any

import pytest

from penstock import Context, Engine, Fatal
from tests.durable.conftest import VIRTUAL, Place


def workflow(step: str, head: str = "") -> str:
    return f"penstock: 1\nname: w\n{head}\nsteps:\n  a: {step}\n"


async def ended(engine: Engine, text: str, **start: Any) -> dict[str, Any]:
    await engine.publish(text)
    return await engine.wait(await engine.start("w", **start))


def test_failure_retries_1_gives_exactly_2_attempts(place: Place) -> None:
    tried: list[int] = []

    async def bad(ctx: Context) -> None:
        tried.append(ctx.attempt)
        raise ValueError("no")

    view = place.run(
        lambda engine: ended(engine, workflow("{task: bad, retries: 1, backoff: {initial: 10ms}}")),
        {"bad": bad},
    )

    assert (view["status"], tried, view["steps"]["a"]["attempts"]) == ("failed", [1, 2], 2)


def test_fatal_stops_at_once(place: Place) -> None:
    tried: list[int] = []

    async def bad(ctx: Context) -> None:
        tried.append(ctx.attempt)
        raise Fatal("never")

    view = place.run(lambda engine: ended(engine, workflow("{task: bad, retries: 5}")), {"bad": bad})

    assert (view["status"], tried, view["error"]["kind"]) == ("failed", [1], "fatal")


@VIRTUAL
def test_timeout_retries_multiply_the_time_outs(place: Place) -> None:
    async def stuck(ctx: Context) -> None:
        await asyncio.sleep(3600)  # it never ends by itself

    step = f"{{task: stuck, timeout_retries: [1, 2, 4], timeouts: {{start_to_close: {place.unit}s}}}}"

    async def main(engine: Engine) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        view = await ended(engine, workflow(step))
        return view, await engine.history(view["id"])

    view, history = place.run(main, {"stuck": stuck})

    turns = [entry["at"] for entry in history if entry["kind"] in ("fired", "attempt", "ended")]
    times = [datetime.fromisoformat(turn) for turn in turns]
    lasted = [(later - earlier).total_seconds() for earlier, later in pairwise(times)]
    assert (view["status"], view["error"]["kind"], len(lasted)) == ("failed", "timeout", 4)
    assert lasted == pytest.approx([multiple * place.unit for multiple in (1, 1, 2, 4)], abs=0.01)


def test_two_runs_of_one_user_never_overlap_in_a_serialized_step_while_two_users_do(place: Place) -> None:
    inside: list[str] = []
    together: set[tuple[str, ...]] = set()

    async def work(user: str) -> None:
        inside.append(user)
        together.add(tuple(sorted(inside)))
        await asyncio.sleep(place.unit / 3)  # the work of the task: others come meanwhile
        inside.remove(user)

    step = '{task: work, serialize: data.user, with: {user: "${ data.user }"}}'

    async def main(engine: Engine) -> list[str]:
        await engine.publish(workflow(step))
        users = ["ann", "bob", "ann", "bob", "ann"]
        ids = [await engine.start("w", input={"user": user}) for user in users]
        return [(await engine.wait(id))["status"] for id in ids]

    assert place.run(main, {"work": work}) == ["succeeded"] * 5
    assert ("ann", "bob") in together
    assert not any(crowd.count("ann") > 1 or crowd.count("bob") > 1 for crowd in together)


def test_a_serialized_step_is_served_in_the_order_of_coming(place: Place) -> None:
    served: list[int] = []

    async def work(n: int) -> None:
        served.append(n)

    step = '{task: work, serialize: "\'one\'", with: {n: "${ data.n }"}}'

    async def main(engine: Engine) -> None:
        await engine.publish(workflow(step))
        ids = [await engine.start("w", input={"n": n}) for n in range(8)]
        for id in ids:
            await engine.wait(id)

    place.run(main, {"work": work})

    assert served == list(range(8))
