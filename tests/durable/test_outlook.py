"""A repair that is only tried tells whether the run could still end, on every store."""

from __future__ import annotations

from typing import Any

import pytest

from penstock import Context, Engine, Fatal
from tests.durable.conftest import VIRTUAL, Place

JOIN = """
penstock: 1
name: join
source: {kind: api}
steps:
  split: {task: echo, emits: [a, c]}
  late: {task: broken, after: c, emits: b, fails: other}
  note: {task: echo, after: other}
  both: {task: echo, after: [a, b], emits: OK}
"""


async def echo(ctx: Context) -> None:
    """Ends at once."""


async def broken(ctx: Context) -> None:
    raise Fatal("no")


TASKS = {"echo": echo, "broken": broken}


async def stuck(engine: Engine, text: str = JOIN) -> str:
    await engine.publish(text, override="a test")
    run = await engine.start("join")
    assert (await engine.wait(run))["status"] == "stalled"
    return run


PUT_B = {"step": "both", "slot": 1, "event": "b"}
PUT_C = {"step": "late", "slot": 0, "event": "c"}
PUT_A = {"step": "both", "slot": 0, "event": "a"}


@pytest.mark.parametrize(
    ("put", "verdict", "text"),
    [
        (PUT_B, "ends", "The run can still end, whatever ports its steps end on."),
        (
            PUT_C,
            "may_stall",
            "The run can end, but it can also get stuck: 'both' waits for b, which would not come.",
        ),
        (
            PUT_A,
            "stalls",
            "The run cannot finish after this repair: 'both' waits for b, which would not come.",
        ),
    ],
)
@VIRTUAL
def test_a_tried_repair_tells_whether_the_run_can_end(
    place: Place, put: dict[str, Any], verdict: str, text: str
) -> None:
    async def main(engine: Engine) -> None:
        run = await stuck(engine)
        told = (await engine.repair(run, put=[put], dry_run=True))["outlook"]

        assert (told["verdict"], told["text"]) == (verdict, text)
        assert (await engine.show(run))["status"] == "stalled"

    place.run(main, TASKS)


@VIRTUAL
def test_what_is_kept_apart_by_a_key_cannot_be_told(place: Place) -> None:
    async def main(engine: Engine) -> None:
        keyed = JOIN.replace("after: [a, b],", "after: [a, b], match: \"'x'\",")
        run = await stuck(engine, keyed)
        told = (await engine.repair(run, put=[PUT_A], dry_run=True))["outlook"]

        assert told["verdict"] == "unknown"

    place.run(main, TASKS)


@VIRTUAL
def test_a_tried_repair_that_ends_the_run_says_how(place: Place) -> None:
    async def main(engine: Engine) -> None:
        # `a` is all that holds the run: without it nothing is left to do.
        run = await stuck(engine, JOIN.replace(", emits: OK", ""))
        waiting = (await engine.marking(run))["slots"]
        number = next(
            slot["events"][0]["number"] for slot in waiting if slot["step"] == "both" and slot["events"]
        )
        take = {"step": "both", "slot": 0, "number": number}
        told = await engine.repair(run, take=[take], dry_run=True)

        assert (told["status"], told["outlook"]["verdict"]) == ("succeeded", "ended")
        assert told["outlook"]["text"] == "The run ends: succeeded."
        assert (await engine.show(run))["status"] == "stalled"

    place.run(main, TASKS)


@VIRTUAL
def test_a_repair_that_is_done_tells_nothing_of_the_outlook(place: Place) -> None:
    async def main(engine: Engine) -> None:
        run = await stuck(engine)
        assert "outlook" not in await engine.repair(run, put=[PUT_B])
        assert (await engine.wait(run))["status"] == "succeeded"

    place.run(main, TASKS)
