"""Stubs: failures, time-outs and vanished workers, at the right virtual moment and within the step's budgets."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from penstock import Out
from penstock.runtime.errors import Invalid
from penstock.testing import Play, after, fails, lost, play, returns, sequence, times_out
from penstock.testing.stubs import span

START = datetime(2026, 1, 1, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def one(stub: Any, **step: Any) -> Play:
    definition = {"penstock": 1, "name": "one", "steps": {"s": {"task": "t", **step}}}
    return play(definition, stubs={"s": stub})


def spans(run: Play) -> list[timedelta | None]:
    return [tried.took for tried in run.attempts("s")]


def outcomes(run: Play) -> list[str | None]:
    return [tried.outcome for tried in run.attempts("s")]


def test_one_retry_is_exactly_two_attempts() -> None:
    run = one(fails("disk full"), retries=1)

    assert run.status == "failed"
    assert [(tried.number, tried.error) for tried in run.attempts("s")] == [
        (1, "disk full"),
        (2, "disk full"),
    ]


def test_a_failure_is_tried_again_after_its_backoff() -> None:
    run = one(fails("x", times=2), retries=2, backoff={"initial": "1m", "factor": 3, "jitter": 0})

    assert run.status == "succeeded"
    assert [tried.began - START for tried in run.attempts("s")] == [timedelta(0), MINUTE, 4 * MINUTE]


def test_a_failure_may_say_when_to_try_again() -> None:
    run = one(fails("busy", times=1, retry_after="2m"), retries=1)

    assert [tried.began - START for tried in run.attempts("s")] == [timedelta(0), 2 * MINUTE]


def test_fatal_stops_at_once() -> None:
    run = one(fails("no such video", fatal=True), retries=5)

    assert (run.status, outcomes(run)) == ("failed", ["failed"])
    assert run.steps["s"].error is not None
    assert run.steps["s"].error.kind == "fatal"


def test_time_outs_are_multiplied_as_the_step_says() -> None:
    run = one(times_out(), timeouts={"start_to_close": "10s"}, timeout_retries=[1, 2, 4])

    assert run.status == "failed"
    assert [tried.multiplier for tried in run.attempts("s")] == [1, 1, 2, 4]
    assert [tried.timeouts.start_to_close for tried in run.attempts("s")] == spans(run)
    assert spans(run) == [timedelta(seconds=seconds) for seconds in (10, 10, 20, 40)]


def test_failures_and_time_outs_have_budgets_of_their_own() -> None:
    stubs = [fails("a"), times_out(), fails("b"), times_out(), "finished"]

    run = one(stubs, retries=2, timeout_retries=[1, 2], timeouts={"start_to_close": "10s"})

    assert run.status == "succeeded"
    assert outcomes(run) == ["failed", "timed out", "failed", "timed out", "returned"]
    assert [tried.multiplier for tried in run.attempts("s")] == [1, 1, 1, 1, 2]


def test_a_stub_that_takes_longer_than_its_time_out_is_timed_out() -> None:
    limits = {"start_to_close": "10s"}

    assert outcomes(one(returns(1, after="11s"), timeouts=limits, timeout_retries=[])) == ["timed out"]
    assert outcomes(one(returns(1, after="10s"), timeouts=limits, timeout_retries=[])) == ["returned"]
    assert outcomes(one(fails("x", after="11s"), timeouts=limits, timeout_retries=[2])) == [
        "timed out",
        "failed",
    ]


def test_the_time_out_that_strikes_first_counts() -> None:
    limits = {"start_to_close": "10s", "schedule_to_close": "5s", "schedule_to_start": "1s"}
    run = one(times_out(), timeouts=limits, timeout_retries=[])

    assert [(tried.took, tried.error) for tried in run.attempts("s")] == [
        (timedelta(seconds=5), "schedule_to_close")
    ]
    waiting = one(times_out("schedule_to_start"), timeouts=limits, timeout_retries=[])
    assert [(tried.took, tried.error) for tried in waiting.attempts("s")] == [
        (timedelta(seconds=1), "schedule_to_start")
    ]


def test_a_vanished_worker_is_noticed_when_its_heartbeat_stays_away() -> None:
    run = one(lost(times=1))

    assert (run.status, outcomes(run), spans(run)) == (
        "succeeded",
        ["lost", "returned"],
        [MINUTE, timedelta(0)],
    )
    assert spans(one(after("5m", lost()), timeout_retries=[])) == [6 * MINUTE]
    assert spans(one(times_out("heartbeat"), timeouts={"heartbeat": "9s"}, timeout_retries=[])) == [
        timedelta(seconds=9)
    ]


def test_a_time_out_that_the_step_does_not_have_is_refused() -> None:
    with pytest.raises(Invalid, match="step 's' has no `start_to_close` time-out that could be outlived"):
        one(times_out())
    with pytest.raises(Invalid, match="there is no time-out 'close'"):
        times_out("close")  # type: ignore[arg-type]


def test_a_withdrawn_attempt_is_never_reported() -> None:
    source = """
        penstock: 1
        name: race
        steps:
          slow: {task: slow, emits: late}
          quick: {task: quick, emits: early}
          stop: {task: t, after: early, cancels: [slow]}
          after: {task: t, after: late}
    """

    run = play(source, stubs={"slow": returns(after="1m"), "quick": returns(after="1s")}).advance("1h")

    run.expect("succeeded", fired=["stop"], never=["after"])
    assert [(tried.outcome, tried.took) for tried in run.attempts("slow")] == [
        ("withdrawn", timedelta(seconds=1))
    ]


def test_a_task_that_is_withdrawn_in_the_moment_in_which_it_would_begin_is_never_called() -> None:
    steps = {"a": {"task": "a"}, "b": {"task": "b", "cancels": ["a"]}}
    called: list[str] = []

    run = play({"penstock": 1, "name": "w", "steps": steps}, tasks={"a": lambda: called.append("a")})

    assert (run.status, run.fired("a"), run.steps["a"].status) == ("succeeded", 1, "canceled")
    assert (run.attempts("a"), called) == ([], [])


def test_a_stub_ends_on_a_port_with_tags_data_and_keys() -> None:
    run = one(
        returns(
            {"n": 1}, port="big", tags={"kind": "film"}, set={"size": 9}, correlate={"job": "7"}, after="1s"
        ),
        emits={"big": "OK"},
    )

    assert run.ports == [("s", "big")]
    assert (run.steps["s"].output, run.tags, run.data, run.keys) == (
        {"n": 1},
        {"kind": "film"},
        {"size": 9},
        {"job": "7"},
    )
    assert one(Out(2, set={"x": 1})).data == {"x": 1}


def test_a_list_is_one_stub_an_attempt_and_the_last_repeats() -> None:
    run = one([fails("a"), fails("b", times=2), fails("c")], retries=9)

    assert [tried.error for tried in run.attempts("s")] == ["a", "b", "b", *["c"] * 7]


def test_after_delays_any_stub() -> None:
    assert spans(one(after("1m", returns(1, after="1m")))) == [2 * MINUTE]
    assert spans(one(after("1m", "plain"))) == [MINUTE]
    assert spans(one(after(60, lambda ctx: returns(ctx.attempt, after=MINUTE)))) == [2 * MINUTE]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: returns(object()), "a stub cannot return"),
        (lambda: fails(times=0), "times=0 is no number of attempts"),
        (lambda: sequence(), "a sequence of stubs needs at least one"),
        (lambda: after("1m", sequence(1)), "a sequence cannot stand inside another stub"),
        (lambda: returns(after="soon"), "'soon' is no duration; write it like"),
        (lambda: span(timedelta(seconds=-1)), "is negative"),
    ],
)
def test_a_stub_that_makes_no_sense_is_refused(make: Any, message: str) -> None:
    with pytest.raises(Invalid, match=message):
        make()
