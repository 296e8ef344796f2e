"""What cannot be decided about fails, is seen, and holds nobody else."""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import Any

import pytest

from penstock import CheckFailed, Engine
from penstock.flow.decisions.advance import advance
from penstock.flow.model.problems import DefinitionError
from penstock.flow.model.run_input import Rang
from penstock.runtime.decisions import plan_to_change
from tests.durable.conftest import Place, VirtualPlace

EDGES = ["0001-01-01T00:00:00+12:00", "9999-12-31T23:59:59-12:00", "9999-12-31T23:59:59Z"]
ODD: list[Any] = [None, [1], {}, True, "soon", -1]
LITERAL: list[tuple[str, Any]] = [("until", value) for value in (*EDGES, None, [1])]
LITERAL += [("for", None), ("for", [1]), ("for", {}), ("for", 1e300)]

GOOD = "penstock: 1\nname: good\nsteps:\n  w: {task: wait, with: {for: 100ms}}\n"


async def nop() -> None:
    return None


def waiting(key: str, value: Any) -> dict[str, Any]:
    return {"penstock": 1, "name": "odd", "steps": {"w": {"task": "wait", "with": {key: value}}}}


@pytest.mark.parametrize(
    ("key", "values"), [("until", [*EDGES, *ODD]), ("for", [*ODD, 1e300])], ids=["until", "for"]
)
def test_a_time_that_is_none_fails_its_step_and_other_timers_ring(
    place: Place, key: str, values: list[Any]
) -> None:
    async def main(engine: Engine) -> None:
        await engine.publish(waiting(key, "${data.at}"))
        await engine.publish(GOOD)
        odd = [await engine.start("odd", input={"at": value}) for value in values]
        good = await engine.start("good")
        views = [await engine.wait(id, 20) for id in odd]
        assert [(view["status"], view["error"]["kind"]) for view in views] == [
            ("failed", "expression")
        ] * len(values)
        assert (await engine.wait(good, 20))["status"] == "succeeded"

    place.run(main)


@pytest.mark.parametrize(("key", "value"), LITERAL)
def test_a_time_that_is_none_is_not_published(key: str, value: Any) -> None:
    async def main() -> None:
        async with Engine() as engine:
            with pytest.raises((DefinitionError, CheckFailed), match=f"[`']{key}[`']"):
                await engine.publish(waiting(key, value))

    asyncio.run(main())


@pytest.mark.parametrize("cleanup", [False, True])
def test_a_run_that_cannot_be_decided_about_is_an_incident(
    cleanup: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a clean-up that cannot be decided about either."""

    def broken(flow: Any, snapshot: Any, events: Any, now: datetime) -> Any:
        events = list(events)
        if flow.name == "odd" and any(isinstance(event, Rang) for event in events):
            raise ZeroDivisionError("by zero")
        plan = advance(flow, snapshot, events, now)
        if flow.name == "odd" and plan.snapshot.ending and not plan.snapshot.ended:
            raise ZeroDivisionError("by zero")
        return plan

    monkeypatch.setattr(plan_to_change, "advance", broken)

    async def main(engine: Engine) -> None:
        odd = waiting("for", "1s")
        if cleanup:
            odd["steps"]["n"] = {"task": "nop", "after": "w"}
            odd["steps"]["c"] = {"task": "wait", "with": {"for": "1s"}, "after": "FAIL"}
        await engine.publish(odd)
        await engine.publish(GOOD)
        id, good = await engine.start("odd"), await engine.start("good")
        view = await engine.wait(id, 300)
        told = "the engine cannot decide about this run: ZeroDivisionError: by zero"
        assert (view["status"], view["error"]["message"]) == ("failed", told)
        found = (await engine.incidents())["items"]
        assert [(each["run"], each["kind"], each["text"]) for each in found] == [
            (id, "failed", f"The run failed: {told}")
        ]
        assert (await engine.wait(good, 20))["status"] == "succeeded"

        monkeypatch.setattr(plan_to_change, "advance", advance)
        await engine.retry(id)
        assert (await engine.wait(id, 300))["status"] == "succeeded"

    VirtualPlace().run(main, {"nop": nop})
