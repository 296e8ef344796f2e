"""`play`: a workflow in memory, on a virtual clock, until it is at rest."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from penstock import Context, DefinitionError, Fatal, Out, task
from penstock.runtime.errors import Invalid, InvalidInput, NoTask, RunEnded, UndeclaredEvent
from penstock.testing import Endless, Play, fails, play, returns, sequence

VIDEO = """
penstock: 1
name: video
external: [approved]
steps:
  probe: {task: video.probe, fails: broken}
  encode: {task: video.encode, after: probe, fails: broken, with: {size: "${ steps.probe.output.size }"}}
  publish: {task: video.publish, after: [encode, approved], emits: OK, fails: broken}
  tell: {task: mail, after: broken, emits: FAIL}
"""
NAP = {"penstock": 1, "name": "nap", "steps": {"nap": {"task": "wait", "with": {"for": "2d"}}}}
ONE = {"penstock": 1, "name": "one", "steps": {"only": {"task": "t", "with": {"n": 3}}}}


@task("video.probe")
def probe(ctx: Context) -> dict[str, int]:
    return {"size": len(ctx.data["path"])}


@task("video.encode")
async def encode(size: int) -> Out:
    return Out({"bytes": size * 10}, set={"encoded": True})


def video(**options: Any) -> Play:
    return play(VIDEO, input={"path": "a.mp4"}, tasks=[probe, encode], **options)


def test_a_run_is_played_until_it_waits_and_goes_on_with_the_event() -> None:
    run = video()

    assert (run.status, run.waiting_for) == ("waiting", ("approved",))
    assert run.marking() == {"publish": {"encode": ["encode"]}}
    assert [(each.step, each.missing) for each in run.starving] == [("publish", ("approved",))]

    assert run.emit("approved", {"by": "ann"}) == "accepted"

    assert (run.status, run.ending, run.waiting_for) == ("succeeded", None, ())
    assert run.order == ["probe", "encode", "publish"]
    assert run.events == ["START", "probe", "encode", "approved", "OK"]
    assert run.data == run.result == {"path": "a.mp4", "encoded": True}
    assert run.steps["encode"].output == {"bytes": 50}
    assert run.steps["tell"].status == "blocked"


def test_events_are_fired_right_after_start_in_the_forms_that_tests_write() -> None:
    for event in ("approved", ("approved", 1), {"event": "approved", "id": "7", "set": {"seen": True}}):
        assert video(events=[event]).status == "succeeded"

    assert video(events=[{"event": "approved", "set": {"seen": True}}]).data["seen"] is True


def test_an_event_in_another_form_is_refused_with_the_right_form() -> None:
    with pytest.raises(Invalid, match="is no event: write"):
        video(events=[{"evnt": "approved"}])


def test_two_days_pass_at_once() -> None:
    run = play(NAP, start=datetime(2027, 5, 1, tzinfo=UTC))

    assert run.status == "succeeded"
    assert run.now == datetime(2027, 5, 3, tzinfo=UTC)


def test_until_stops_in_the_middle_and_advance_and_run_go_on() -> None:
    run = play(NAP, until="1d")
    assert (run.status, run.steps["nap"].status) == ("running", "running")

    assert run.advance("23h").status == "running"
    assert run.advance(timedelta(minutes=59)).status == "running"
    assert run.run().status == "succeeded"
    assert run.now - datetime(2026, 1, 1, tzinfo=UTC) == timedelta(days=2)


def test_a_run_that_waits_is_timed_out_only_when_time_passes() -> None:
    waits = {
        "penstock": 1,
        "name": "w",
        "timeout": "1h",
        "external": ["go"],
        "steps": {"s": {"task": "t", "after": "go"}},
    }

    run = play(waits)

    assert run.status == "waiting"
    assert run.advance("1h").status == "timed_out"


def test_a_stub_by_step_name_wins_over_one_by_task_name() -> None:
    two = {"penstock": 1, "name": "two", "steps": {"a": {"task": "t"}, "b": {"task": "t"}}}

    run = play(two, stubs={"t": "by task", "b": "by step"})

    assert {name: step.output for name, step in run.steps.items()} == {"a": "by task", "b": "by step"}


def test_a_stub_wins_over_a_real_task() -> None:
    run = video(stubs={"video.probe": {"size": 1}})

    assert run.steps["encode"].output == {"bytes": 10}


def test_a_task_that_nobody_plays_is_done_with_null_or_ends_on_its_first_port() -> None:
    source = """
        penstock: 1
        name: w
        steps:
          ask: {task: approval, emits: {approved: go, rejected: stop}}
          work: {task: unknown, after: go}
    """

    run = play(source)

    assert run.ports == [("ask", "approved"), ("work", "done")]
    assert run.steps["work"].output is None


def test_others_fail_names_every_task_that_nobody_plays_before_the_run() -> None:
    with pytest.raises(NoTask, match=r"'video\.publish'.*'mail'"):
        video(others="fail")

    assert video(others="fail", stubs={"publish": None, "mail": None}).status == "waiting"


def test_a_built_in_task_can_be_stubbed() -> None:
    source = """
        penstock: 1
        name: w
        steps:
          sleep: {task: wait, with: {for: 9d}}
          size: {task: decide, after: sleep, with: {if: data.size > 10}, emits: {then: big, else: small}}
          large: {task: t, after: big}
          little: {task: t, after: small}
    """

    run = play(source, stubs={"wait": None, "size": returns(port="then")})

    run.expect("succeeded", fired=["large"], never=["little"])
    assert run.now == datetime(2026, 1, 1, tzinfo=UTC)


def test_a_stub_may_be_a_function_of_the_context_and_the_parameters_it_takes() -> None:
    def both(ctx: Context, n: int) -> list[int]:
        return [ctx.attempt, n]

    async def later(ctx: Context) -> int:
        return ctx.attempt

    assert play(ONE, stubs={"only": both}).steps["only"].output == [1, 3]
    assert play(ONE, stubs={"only": lambda: 5}).steps["only"].output == 5
    assert play(ONE, stubs={"only": lambda **params: params}).steps["only"].output == {"n": 3}
    assert play(ONE, stubs={"only": later}).steps["only"].output == 1
    assert play(ONE, stubs={"only": lambda ctx: returns(ctx.step)}).steps["only"].output == "only"


def test_coroutines_are_played_inside_a_coroutine_too() -> None:
    async def test() -> Play:
        return video(events=["approved"])

    assert asyncio.run(test()).status == "succeeded"


def test_what_a_function_raises_is_a_failure_of_the_task() -> None:
    def broken(ctx: Context) -> None:
        raise Fatal("no such file")

    run = play(ONE, stubs={"only": broken})

    assert run.status == "failed"
    assert run.error is not None
    assert (run.error.kind, run.error.message) == ("fatal", "no such file")


def test_a_stub_for_nothing_is_refused() -> None:
    with pytest.raises(Invalid, match="'one' has no step or task 'onyl' to stub; its steps are only"):
        play(ONE, stubs={"onyl": 1})


def test_wrong_definitions_inputs_and_events_are_refused_as_the_engine_does() -> None:
    with pytest.raises(DefinitionError):
        play("penstock: 1\nname: w\nsteps: {a: {tusk: t}}")
    with pytest.raises(InvalidInput):
        play({**ONE, "params": {"type": "object", "required": ["x"]}})
    with pytest.raises(UndeclaredEvent):
        play(ONE, events=["nobody"])


def test_a_sequence_serves_one_firing_after_the_other_in_a_loop() -> None:
    source = """
        penstock: 1
        name: poll
        steps:
          look: {task: look, after: [START | again], emits: {ready: OK, not yet: again}}
    """

    run = play(
        source,
        stubs={"look": sequence(returns(port="not yet"), returns(port="not yet"), returns(port="ready"))},
    )

    assert (run.status, run.fired("look")) == ("succeeded", 3)
    assert [port for _, port in run.ports] == ["not yet", "not yet", "ready"]


def test_a_loop_without_end_is_told_instead_of_going_on_for_ever() -> None:
    source = {
        "penstock": 1,
        "name": "loop",
        "endless": True,
        "steps": {"again": {"task": "decide", "after": ["START | again.then"], "with": {"if": "true"}}},
    }

    with pytest.raises(Endless, match="a run of 'loop' went on"):
        play(source)


def test_items_of_an_each_count_their_attempts_apart() -> None:
    source = {
        "penstock": 1,
        "name": "many",
        "steps": {"do": {"task": "t", "each": "[1, 2]", "retries": 1, "with": {"n": "${ item }"}}},
    }

    run = play(source, stubs={"do": [fails("once"), lambda n: n * 10]})

    assert run.steps["do"].output == [10, 20]
    assert [(each.index, each.number, each.outcome) for each in run.attempts("do")] == [
        (0, 1, "failed"),
        (1, 1, "failed"),
        (1, 2, "returned"),
        (0, 2, "returned"),
    ]


def test_cancel_pause_resume_retry_and_disable() -> None:
    run = video(until="0s", stubs={"probe": fails("disk", fatal=True, times=1)})
    assert (run.status, run.fired("tell")) == ("failed", 1)
    assert run.retry().status == "waiting"

    assert run.pause().status == "paused"
    assert run.emit("approved") == "accepted"
    assert (run.status, run.fired("publish")) == ("paused", 0)
    run.disable("publish")
    assert run.resume().status == "succeeded"
    assert run.steps["publish"].status == "disabled"

    with pytest.raises(RunEnded):
        run.cancel()
    assert video().cancel(force=True).status == "canceled"


def test_a_paused_run_is_at_rest_though_its_time_out_is_to_come() -> None:
    run = play(
        {**NAP, "timeout": "9d", "steps": {"a": {"task": "t"}, "b": {"task": "t", "after": "a"}}},
        stubs={"a": returns(after="1m")},
        until="10s",
    )

    run.pause()

    assert (run.status, run.now) == ("paused", datetime(2026, 1, 1, 0, 1, tzinfo=UTC))


def test_disabling_to_an_unknown_port_or_step_is_refused() -> None:
    run = video()

    with pytest.raises(Invalid, match="step 'publish' cannot be disabled to port 'nope'"):
        run.disable("publish", "nope")
    with pytest.raises(Invalid, match="'video' has no step 'publsh'"):
        run.disable("publsh")


def test_tags_and_subject_reach_the_run() -> None:
    run = play(
        ONE,
        subject="film",
        tags={"mime": "video/mp4"},
        stubs={"only": lambda ctx: returns(ctx.run["subject"], tags={"seen": True})},
    )

    assert (run.steps["only"].output, run.tags) == ("film", {"mime": "video/mp4", "seen": True})


def test_expect_passes_where_all_holds() -> None:
    run = video(events=["approved"])

    assert (
        run.expect("succeeded", fired=["probe", "encode"], never=["tell"], events=["OK"], result=run.data)
        is run
    )
    run.expect(fired={"probe": 1, "tell": 0})


def test_expect_tells_all_that_is_wrong_and_the_run_as_text() -> None:
    run = video(stubs={"encode": fails("no space")})

    with pytest.raises(AssertionError) as caught:
        run.expect("succeeded", fired=["probe", "probe", "publish"], never=["tell"], events=["OK"], result=1)

    assert str(caught.value) == (
        "expected the run to be succeeded, it is failed\n"
        "expected 'probe' to fire at least 2x, it fired 1x\n"
        "expected 'publish' to fire at least 1x, it fired 0x\n"
        "expected 'tell' never to fire, it fired 1x\n"
        "expected event 'OK' to be fired\n"
        "expected the result 1, it is None\n"
        "\n"
        "run of 'video': failed after 0s (error: no space)\n"
        "           +0s  event START\n"
        "           +0s  probe begins\n"
        '           +0s  probe ends on done: {"size": 5}\n'
        "           +0s  event probe by probe\n"
        "           +0s  encode begins\n"
        "           +0s  encode ends on failed: error: no space\n"
        "           +0s  event broken by encode\n"
        "           +0s  tell begins\n"
        "           +0s  tell ends on done\n"
        "           +0s  event FAIL by tell\n"
        "           +0s  the run ends: failed"
    )


def test_explain_says_what_a_run_waits_for_and_what_is_under_way() -> None:
    assert video().explain().splitlines()[-2:] == ["waits for approved", "publish misses approved"]
    assert play(NAP, until="1d").explain().splitlines()[-1] == "under way: nap (sleep)"
