"""Outside events on every store: each is taken once, and none is lost."""

from __future__ import annotations

from penstock import Engine, Out
from tests.durable.conftest import Place

TWO_EVENTS = """
penstock: 1
name: w
external: [left, right]
steps:
  ask: {task: ask}
  l: {task: nop, after: left}
  r: {task: nop, after: right}
"""


async def ask() -> Out:
    return Out(correlate={"job": "7"})


async def nop() -> None:
    return None


def test_two_kept_events_of_different_names_may_have_the_same_id(place: Place) -> None:
    async def main(engine: Engine) -> None:
        await engine.publish(TWO_EVENTS)
        for event in ("left", "right", "left"):
            await engine.emit(event, key={"job": "7"}, id="1")
        view = await engine.wait(await engine.start("w"), 30)
        assert (view["status"], view["steps"]["l"]["firings"], view["steps"]["r"]["firings"]) == (
            "succeeded",
            1,
            1,
        )

    place.run(main, {"ask": ask, "nop": nop})
