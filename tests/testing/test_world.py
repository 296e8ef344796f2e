"""`World`: several runs share one clock, `serialize` keys and correlation."""

from __future__ import annotations

from itertools import pairwise

from penstock import Context
from penstock.testing import Play, Try, World, after, play, returns

UPLOAD = """
penstock: 1
name: upload
steps:
  prepare: {task: prepare}
  send: {task: send, after: prepare, serialize: data.user}
"""


def sends(*plays: Play) -> list[Try]:
    return sorted((tried for play in plays for tried in play.attempts("send")), key=lambda tried: tried.began)


def overlap(tries: list[Try]) -> bool:
    return any(first.ended is None or second.began < first.ended for first, second in pairwise(tries))


def test_runs_of_one_user_never_overlap_in_a_serialized_step_while_those_of_two_users_do() -> None:
    world = World(stubs={"send": returns(after="10s"), "prepare": returns(after="1s")})
    ann = [world.start(UPLOAD, input={"user": "ann"}) for _ in range(3)]
    bob = world.start(UPLOAD, input={"user": "bob"})

    world.run()

    assert [play.status for play in world.plays] == ["succeeded"] * 4
    assert not overlap(sends(*ann))
    assert overlap(sends(ann[0], bob))
    assert [(tried.began - ann[0].history[0].at).total_seconds() for tried in sends(*ann)] == [1, 11, 21]


def test_nothing_moves_until_the_world_runs() -> None:
    world = World()

    run = world.start(UPLOAD, input={"user": "ann"})

    assert (run.status, run.fired("prepare"), run.fired("send")) == ("running", 1, 0)
    world.run()
    assert run.status == "succeeded"


def test_run_stops_after_so_much_time() -> None:
    world = World(stubs={"send": returns(after="10s")})
    run = world.start(UPLOAD, input={"user": "ann"})

    world.run(until="4s")

    assert (run.status, (world.now - run.history[0].at).total_seconds()) == ("running", 4)
    world.advance("6s")
    assert run.status == "succeeded"


def test_an_outside_event_finds_its_run_by_key_also_when_it_comes_early() -> None:
    source = """
        penstock: 1
        name: encode
        external: [encoded]
        steps:
          begin: {task: begin}
          finish: {task: finish, after: [begin, encoded], emits: OK}
    """

    def correlate(ctx: Context) -> object:
        return after(ctx.data["delay"], returns(correlate={"job": ctx.data["job"]}))

    world = World(stubs={"begin": correlate})
    first = world.start(source, input={"job": "1", "delay": "1s"})
    second = world.start(source, input={"job": "2", "delay": "1h"})
    world.run(until="1m")

    assert (
        world.emit("encoded", {"ok": True}, key={"job": "1"}, id="x", set={"from": "outside"}) == "accepted"
    )
    assert world.emit("encoded", key={"job": "2"}) == "accepted"
    world.run()

    assert (first.status, second.status) == ("succeeded", "succeeded")
    assert first.data["from"] == "outside"
    assert second.keys == {"job": "2"}


def test_a_play_can_emit_by_key_too() -> None:
    source = """
        penstock: 1
        name: w
        external: [go]
        steps:
          a: {task: a}
          b: {task: b, after: [a, go]}
    """

    run = play(source, stubs={"a": returns(correlate={"k": "v"})})

    assert run.emit("go", key={"k": "v"}) == "accepted"
    assert run.status == "succeeded"


def test_tasks_of_a_world_are_offered_to_all_its_runs() -> None:
    world = World(tasks={"prepare": lambda: "ready"})
    run = world.start(UPLOAD, input={"user": "ann"}, tasks={"send": lambda: "sent"}, others="fail")

    world.run()

    assert {name: step.output for name, step in run.steps.items()} == {"prepare": "ready", "send": "sent"}
