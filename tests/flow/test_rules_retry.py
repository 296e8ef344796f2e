"""Attempts, budgets and time-outs; R13: retry of a failed run."""

from __future__ import annotations

from datetime import timedelta

import pytest
from msgspec.structs import replace

from penstock.flow.model.retry_policy import Backoff, RetryPolicy
from penstock.flow.model.run_input import Retried
from tests.flow.driver import Drive, flow_of

MINUTE = timedelta(minutes=1)


def test_retries_n_means_up_to_n_plus_1_attempts() -> None:
    run = Drive(flow_of("a: {task: t, retries: 1}"))

    run.fail("a")
    run.ring()
    run.fail("a", "still")

    assert run.status == "failed"
    assert [attempt.attempt for attempt in run.dispatched] == [1, 2]
    assert len({attempt.id for attempt in run.dispatched}) == 1
    assert run.step("a").error.message == "still"


def test_a_fatal_failure_is_not_tried_again() -> None:
    run = Drive(flow_of("a: {task: t, retries: 5}"))

    run.fail("a", retry=False)

    assert (run.status, len(run.dispatched)) == ("failed", 1)


def test_timeout_retries_multiply_all_time_outs() -> None:
    steps = "a: {task: t, timeout_retries: [1, 2, 4], timeouts: {start_to_close: 1m, heartbeat: 10s}}"
    run = Drive(flow_of(steps))

    for _ in range(4):
        run.time_out("a")

    assert run.status == "failed"
    assert [attempt.timeouts.start_to_close for attempt in run.dispatched] == [
        MINUTE,
        MINUTE,
        2 * MINUTE,
        4 * MINUTE,
    ]
    assert run.dispatched[3].timeouts.heartbeat == timedelta(seconds=40)
    assert (run.step("a").error.kind, run.waited) == ("timeout", timedelta(0))


def test_the_two_budgets_are_counted_apart_and_a_failure_keeps_the_multiplier() -> None:
    steps = "a: {task: t, retries: 2, timeout_retries: [3], timeouts: {start_to_close: 1m}}"
    run = Drive(flow_of(steps))

    run.fail("a")
    run.ring()
    run.time_out("a")
    run.fail("a")
    run.ring()
    assert [attempt.timeouts.start_to_close for attempt in run.dispatched] == [
        MINUTE,
        MINUTE,
        3 * MINUTE,
        3 * MINUTE,
    ]
    run.time_out("a")

    assert run.status == "failed"


def test_a_vanished_worker_is_a_time_out_of_kind_lost() -> None:
    run = Drive(flow_of("a: {task: t, timeout_retries: []}"))

    run.time_out("a", "lost")

    assert run.snapshot.error is not None
    assert (run.snapshot.error.kind, run.snapshot.error.message) == ("lost", "the worker vanished")


def test_a_task_that_goes_on_where_it_was_may_lose_any_number_of_workers() -> None:
    run = Drive(flow_of("a: {task: service, timeout_retries: [2], with: {url: 'http://a'}}"))

    for _ in range(50):
        run.time_out("a", "lost")
    assert run.status == "running"
    run.time_out("a")
    assert [run.dispatched[n].timeouts.heartbeat for n in (49, 50, 51)] == [MINUTE, MINUTE, 2 * MINUTE]
    run.time_out("a")

    assert run.status == "failed"  # other time-outs count as ever


def test_a_report_of_an_old_attempt_changes_nothing() -> None:
    run = Drive(flow_of("a: {task: t}"))
    old = run.tasks["a"]
    run.time_out("a")
    current = run.tasks["a"]
    before = run.snapshot

    run.tasks["a"] = old
    assert run.done("a", "late") == "superseded"
    assert run.snapshot == before

    run.tasks["a"] = current
    assert run.done("a", "right") == "accepted"
    assert run.step("a").output == "right"


def test_backoff_grows_to_its_maximum_with_jitter() -> None:
    backoff = Backoff()

    waits = [backoff.delay(failures, "seed").total_seconds() for failures in range(1, 13)]

    for failures, wait in enumerate(waits, 1):
        exact = min(2.0 ** (failures - 1), 300)
        assert exact * 0.9 <= wait <= exact * 1.1
    assert len({round(wait / min(2.0**at, 300), 6) for at, wait in enumerate(waits)}) > 1


@pytest.mark.parametrize(("asked", "wait"), [(5, 5), (-3, 0), (10**9, 300)])
def test_a_task_may_say_when_to_try_again_within_reason(asked: int, wait: int) -> None:
    delay = RetryPolicy(retries=1).after_failure(1, "seed", timedelta(seconds=asked))

    assert delay == timedelta(seconds=wait)


def test_a_huge_number_of_failures_does_not_overflow() -> None:
    assert Backoff(jitter=0).delay(10**6, "seed") == timedelta(minutes=5)
    assert Backoff(factor=1e300, jitter=0).delay(3, "seed") == timedelta(minutes=5)
    assert Backoff(initial=timedelta(0), factor=1e300).delay(3, "seed") == timedelta(0)


# -- R13 ----------------------------------------------------------------------------------------------------

STEPS = """
a: {task: t}
b: {task: t, after: a}
other: {task: t}
end: {task: t, after: [b, other], emits: OK}
"""


def test_r13_retry_puts_back_what_failed_and_what_fail_withdrew() -> None:
    run = Drive(flow_of(STEPS))
    run.done("a", {"n": 1})
    run.fail("b", "bad")
    assert (run.status, run.step("other").status) == ("failed", "canceled")

    assert run.happen(Retried()) == "accepted"

    assert (run.status, set(run.tasks)) == ("running", {"b", "other"})
    assert run.tasks["b"].taken.tokens()[0].load.data == {"n": 1}
    for step in ("b", "other", "end"):
        run.done(step)
    assert (run.status, run.fired("a"), run.snapshot.error) == ("succeeded", 1, None)


def test_r13_retry_of_one_step_puts_back_that_and_what_fail_withdrew() -> None:
    run = Drive(flow_of(STEPS))
    run.done("a")
    run.fail("b")

    run.happen(Retried("b"))

    assert set(run.tasks) == {"b", "other"}


@pytest.mark.parametrize("step", [None, "a"])
def test_r13_only_a_failed_run_with_something_to_retry_can_be_retried(step: str | None) -> None:
    run = Drive(flow_of(STEPS))

    assert run.happen(Retried(step)) == "refused"
    run.cancel()
    assert run.happen(Retried(step)) == "refused"


def test_r13_budgets_and_the_runs_timeout_start_anew() -> None:
    run = Drive(flow_of("a: {task: t, retries: 1}", "timeout: 1h"))
    run.fail("a")
    run.ring()
    run.fail("a")
    assert run.status == "failed"

    run.happen(Retried())
    assert run.tasks["a"].attempt == 1
    first, second = sorted(timer.due for timer in run.timers)
    assert second > first
    run.ring()
    assert run.status == "running"
    run.ring()
    assert run.status == "timed_out"


def test_r13_a_handled_failure_is_retried_without_going_back_to_its_handler() -> None:
    steps = """
a: {task: t, fails: failed}
b: {task: t, fails: failed}
mail: {task: t, after: failed, emits: FAIL}
"""
    run = Drive(flow_of(steps))
    run.fail("a")
    run.fail("b")
    run.done("mail")
    assert (run.status, run.fired("mail")) == ("failed", 1)

    run.happen(Retried())

    assert set(run.tasks) == {"a", "b"}
    run.done("a")
    run.done("b")
    assert (run.status, run.fired("mail")) == ("succeeded", 1)


def test_r13_finished_elements_of_an_each_are_kept() -> None:
    run = Drive(flow_of("e: {task: t, each: data.files}\nend: {task: t, after: e}"), {"files": list("abc")})
    run.done("e[0]", "A")
    run.fail("e[1]")

    run.happen(Retried())

    assert set(run.tasks) == {"e[1]", "e[2]"}
    run.done("e[1]", "B")
    run.done("e[2]", "C")
    assert run.tasks["end"].taken.tokens()[0].load.data == ["A", "B", "C"]


def test_r13_a_retried_failure_can_fail_and_be_retried_again() -> None:
    run = Drive(flow_of("a: {task: t}"))

    for turn in range(1, 4):
        run.fail("a", f"turn {turn}")
        assert run.status == "failed"
        run.happen(Retried())

    run.done("a")
    assert (run.status, run.fired("a")) == ("succeeded", 4)


def test_r13_retry_of_a_step_that_did_not_fail_is_refused() -> None:
    run = Drive(flow_of(STEPS))
    run.done("a")
    run.fail("b")

    assert run.happen(Retried("a")) == "refused"
    assert run.status == "failed"


def test_r13_the_clean_up_of_the_failure_does_not_leak_into_the_retried_run() -> None:
    steps = """
a: {task: t}
b: {task: t, after: a}
clean: {task: t, after: FAIL}
half: {task: t, after: [FAIL, a]}
"""
    run = Drive(flow_of(steps))
    run.fail("a")
    run.fail("clean", "cannot clean")
    assert run.status == "failed"

    run.happen(Retried())
    assert set(run.tasks) == {"a"}
    run.done("a")

    assert set(run.tasks) == {"b"}
    run.done("b")
    assert run.status == "stalled"


def test_r13_keys_given_back_at_the_end_are_the_runs_again() -> None:
    run = Drive(flow_of("a: {task: t}\nb: {task: t, after: a}"))
    run.done("a", correlate={"job": "1", "part": "2"})
    run.fail("b")

    run.happen(Retried())

    assert run.plans[-1].correlations == (("job", "1"), ("part", "2"))


def test_r13_elements_are_kept_only_where_their_items_are_the_same() -> None:
    steps = "s: {task: t}\ne: {task: t, after: s, each: data.files}\nend: {task: t, after: e}"
    run = Drive(flow_of(steps), {"files": ["a", "b"]})
    run.done("s")
    run.done("e[0]", "A")
    run.fail("e[1]")
    run.snapshot = replace(run.snapshot, data={"files": ["c", "b"]})

    run.happen(Retried())

    assert set(run.tasks) == {"e[0]", "e[1]"}


def test_a_time_out_that_grows_beyond_reason_is_capped() -> None:
    steps = "a: {task: t, timeout_retries: [1000000000000], timeouts: {start_to_close: 300d}}"
    run = Drive(flow_of(steps))

    run.time_out("a")

    assert run.tasks["a"].timeouts.start_to_close == timedelta(days=36500)


def test_a_plan_that_changes_the_run_raises_its_revision_and_no_other_does() -> None:
    run = Drive(flow_of("a: {task: t, serialize: '1'}\nb: {task: t, serialize: '1', serialize_scope: a}"))
    before = run.snapshot
    old = run.tasks["a"]

    run.done("a")
    assert run.snapshot.revision > before.revision
    after = run.snapshot
    run.tasks["a"] = old
    assert run.done("a") == "superseded"

    assert run.snapshot is after


def test_r13_a_put_off_failure_that_was_not_retried_still_fails_the_run() -> None:
    run = Drive(flow_of("a: {task: t}\nb: {task: t}", "on_failure: continue"))
    run.fail("a")
    run.fail("b")
    assert run.status == "failed"

    run.happen(Retried("a"))
    run.done("a")
    assert run.status == "failed"
    run.happen(Retried("b"))
    run.done("b")

    assert run.status == "succeeded"
