"""How much a run may hold, and what is told to who wants more."""

from __future__ import annotations

from typing import Any

import pytest

from penstock import Engine, Out
from penstock.runtime.commands import validation
from penstock.runtime.errors import BadPayload, Invalid, PayloadTooLarge, SlotFull
from tests.durable.conftest import Place, VirtualPlace

BIG = "x" * 250_000

EVENTS = """
penstock: 1
name: w
external: [{name: more, many: true}, {name: keyed, many: true}, go]
steps:
  a: {task: nop, after: [more, go]}
  b: {task: nop, after: [keyed, go], match: event.data}
"""


async def nop() -> None:
    return None


def test_the_data_of_a_run_is_bounded(place: Place) -> None:
    async def main(engine: Engine) -> None:
        await engine.publish(EVENTS.replace(", match: event.data", ""))
        id = await engine.start("w", input={"a": BIG})
        for name in "bcd":
            await engine.emit("more", run=id, set={name: BIG})
        with pytest.raises(PayloadTooLarge, match="1048576 at most"):
            await engine.emit("more", run=id, set={"e": BIG})
        assert await engine.emit("more", run=id, set={"d": None, "e": BIG}) == "accepted"
        assert sorted((await engine.show(id))["data"]) == ["a", "b", "c", "e"]

    place.run(main, {"nop": nop})


@pytest.mark.parametrize("task", ["fill", "set"])
def test_a_step_that_makes_the_data_too_large_fails(task: str) -> None:
    async def fill(text: str) -> Out:
        return Out(set={"e": text})

    step: dict[str, Any] = {"task": task, "with": {"text": "${ data.a }"}, "after": "c"}

    async def main(engine: Engine) -> None:
        fills = {
            name: {"task": "set", "with": {name: "${ data.a }"}, **({"after": last} if last else {})}
            for name, last in (("b", ""), ("c", "b"), ("d", "c"))
        }
        await engine.publish(
            {"penstock": 1, "name": "w", "steps": {**fills, "end": {**step, "after": "d"}}},
        )
        view = await engine.wait(await engine.start("w", input={"a": BIG}), 60)
        assert (view["status"], view["error"]["kind"]) == ("failed", "too_large")
        assert sorted(view["data"]) == ["a", "b", "c", "d"]

    VirtualPlace().run(main, {"fill": fill})


@pytest.mark.parametrize("event", ["more", "keyed"])
def test_a_slot_holds_so_many_events_and_no_more(
    place: Place, event: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(validation, "MAX_EVENTS_PER_SLOT", 3)

    async def main(engine: Engine) -> None:
        await engine.publish(EVENTS)
        id = await engine.start("w")
        for number in range(3):
            await engine.emit(event, f"key {number}", run=id, id=f"{number}")
        with pytest.raises(SlotFull, match="3 events wait at step"):
            await engine.emit(event, "key 3", run=id, id="3")
        assert await engine.emit(event, "key 2", run=id, id="2") == "duplicate"
        other = "keyed" if event == "more" else "more"
        assert await engine.emit(other, "key 0", run=id) == "accepted"

    place.run(main, {"nop": nop})


def test_an_each_has_so_many_items_and_no_more() -> None:
    async def main(engine: Engine) -> None:
        await engine.publish(
            "penstock: 1\nname: w\nsteps:\n  a: {task: wait, with: {for: 0}, each: data.items}\n"
        )
        view = await engine.wait(await engine.start("w", input={"items": [0] * 20_001}), 60)
        assert (view["status"], view["error"]["kind"]) == ("failed", "too_large")

    VirtualPlace().run(main)


def test_all_pending_tasks_of_a_run_count() -> None:
    async def main(engine: Engine) -> None:
        await engine.publish(
            "penstock: 1\nname: w\nsteps:\n"
            "  a: {task: wait, with: {for: 1h}, each: data.items}\n"
            "  b: {task: wait, with: {for: 1h}, each: data.items}\n"
        )
        view = await engine.wait(await engine.start("w", input={"items": [0] * 10_001}), 60)
        assert (view["status"], view["error"]["kind"]) == ("failed", "too_large")
        assert "10001 items beside 10001 tasks that are pending" in view["error"]["message"]

    VirtualPlace().run(main)


def deep(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


def test_what_is_no_json_is_no_input() -> None:
    async def main(engine: Engine) -> None:
        await engine.publish(EVENTS)
        keys = {f"{number}": 1 for number in range(10_001)}
        bad: list[Any] = [set(), {1: 2}, {"a": [{"b": {1}}]}, {"a": deep(64)}, {"a": keys}, {"a": object()}]
        for wrong in bad:
            with pytest.raises(BadPayload):
                await engine.start("w", input=wrong)
        keys.popitem()
        for right in ({"a": deep(63)}, {"a": keys}, {"a": (1, 2)}, {"a": [deep(1)] * 100}):
            await engine.start("w", input=right)

    VirtualPlace().run(main)


@pytest.mark.parametrize("version", ["1", True, 1.0])
def test_a_version_is_a_whole_number(version: Any) -> None:
    async def main(engine: Engine) -> None:
        await engine.publish(EVENTS)
        with pytest.raises(Invalid, match="`version` must be a whole number"):
            await engine.start("w", version=version)

    VirtualPlace().run(main)
