"""R6 to R8: how a run begins and ends, what handles a failure, and what a run at rest is."""

from __future__ import annotations

import pytest

from penstock.flow.decisions.quiescence import Starving, starving, waiting_for
from penstock.flow.model.run import Failure
from penstock.flow.model.run_input import Begun, Canceled, Paused, Resumed
from tests.flow.driver import Drive, flow_of


def test_r6_start_carries_the_input_and_goes_to_steps_without_after() -> None:
    run = Drive(flow_of("a: {task: t}\nb: {task: t, after: []}\nc: {task: t, after: START}"), {"n": 1})

    assert run.tasks.keys() == {"a", "b", "c"}
    assert run.tasks["a"].taken.tokens()[0].load.data == {"n": 1}
    assert run.happen(Begun()) == "duplicate"


def test_r6_fail_withdraws_all_firings_and_ends_the_run() -> None:
    run = Drive(flow_of("a: {task: t, emits: FAIL}\nb: {task: t}"))

    run.done("a")

    assert (run.status, run.snapshot.ending, run.tasks) == ("failed", "failed", {})
    assert run.step("b").status == "canceled"
    assert [entry.step for entry in run.entries("withdrawn")] == ["b"]


CLEANUP = """
work: {task: t}
other: {task: t}
undo: {task: t, after: FAIL | CANCEL | TIMEOUT}
tell: {task: t, after: undo}
"""


def test_r6_clean_up_steps_run_before_the_run_ends() -> None:
    run = Drive(flow_of(CLEANUP))

    run.fail("work", "broken")
    assert (run.status, run.snapshot.ending, set(run.tasks)) == ("running", "failed", {"undo"})
    run.done("undo")
    assert (run.status, set(run.tasks)) == ("running", {"tell"})
    run.done("tell")

    assert run.status == "failed"
    assert run.snapshot.error is not None
    assert run.snapshot.error.message == "broken"


def test_r6_the_first_ending_decides_and_the_others_change_nothing() -> None:
    run = Drive(flow_of(CLEANUP))
    run.cancel()

    assert run.snapshot.ending == "canceled"
    run.fail("undo")

    assert run.status == "canceled"
    assert run.happen(Canceled()) == "refused"


def test_r6_a_failure_in_clean_up_is_recorded_and_the_rest_goes_on() -> None:
    run = Drive(flow_of(CLEANUP + "free: {task: t, after: CANCEL}"))
    run.cancel()

    run.fail("undo", "cannot undo")
    assert run.status == "running"
    run.done("free")

    assert run.status == "canceled"
    assert run.step("undo").status == "failed"


def test_r6_force_skips_the_clean_up() -> None:
    run = Drive(flow_of(CLEANUP))

    run.cancel(force=True)

    assert (run.status, run.fired("undo")) == ("canceled", 0)


def test_r6_a_run_that_outlives_its_timeout_is_timed_out_after_its_clean_up() -> None:
    run = Drive(flow_of(CLEANUP, "timeout: 2h"))

    run.ring()
    assert (run.snapshot.ending, run.waited.total_seconds()) == ("timed_out", 7200)
    run.done("undo")
    run.done("tell")

    assert run.status == "timed_out"
    assert run.snapshot.error == Failure("timeout", "the run outlived its timeout of 2h")


def test_r6_a_clean_up_is_cut_off_after_its_timeout() -> None:
    run = Drive(flow_of(CLEANUP, "cleanup_timeout: 5m"))
    run.cancel()

    run.ring()

    assert (run.status, run.waited.total_seconds()) == ("canceled", 300)
    assert run.step("undo").status == "canceled"


def test_r6_other_waiting_events_stay_and_may_be_used_by_the_clean_up() -> None:
    steps = """
a: {task: t}
b: {task: t}
bad: {task: t}
undo_a: {task: t, after: [a, FAIL]}
undo_b: {task: t, after: [b, FAIL]}
"""
    run = Drive(flow_of(steps))
    run.done("a")

    run.fail("bad")

    assert set(run.tasks) == {"undo_a"}
    run.done("undo_a")
    assert run.status == "failed"


def test_r6_a_complete_set_that_waited_does_not_begin_in_the_clean_up() -> None:
    steps = "x: {task: t, after: e}\nbad: {task: t}\nundo: {task: t, after: FAIL}"
    run = Drive(flow_of(steps, "external: [{name: e, many: true}]"))
    run.event("e")
    run.event("e")

    run.fail("bad")

    assert set(run.tasks) == {"undo"}
    assert run.fired("x") == 1


def test_r6_a_pause_does_not_hold_a_clean_up() -> None:
    run = Drive(flow_of(CLEANUP))
    run.happen(Paused())

    run.cancel()

    assert (run.status, set(run.tasks)) == ("running", {"undo"})


def test_r6_later_outside_events_are_recorded_and_not_acted_on() -> None:
    run = Drive(flow_of("a: {task: t}\nb: {task: t, after: e}", "external: [e]"))
    run.cancel()

    assert run.event("e", {"x": 1}) == "recorded"
    assert run.fired("b") == 0
    assert run.history[-1].data == {"data": {"x": 1}, "id": None, "reason": "the run has ended"}


def test_r6_a_step_may_cancel_the_run() -> None:
    run = Drive(flow_of("a: {task: t, emits: CANCEL}\nb: {task: t}"))

    run.done("a")

    assert run.status == "canceled"


@pytest.mark.parametrize("emits", ["fails: oops", "emits: {failed: [oops]}"])
def test_r7_a_failure_is_handled_by_a_step_that_waits_for_one_of_its_events(emits: str) -> None:
    run = Drive(flow_of(f"a: {{task: t, {emits}}}\nmend: {{task: t, after: oops}}"))

    run.fail("a")

    assert (run.status, set(run.tasks)) == ("running", {"mend"})
    run.done("mend")
    assert run.status == "succeeded"


def test_r7_the_event_of_the_port_handles_it_too() -> None:
    run = Drive(flow_of("a: {task: t}\nmend: {task: t, after: a.failed}"))

    run.fail("a")

    assert set(run.tasks) == {"mend"}


@pytest.mark.parametrize(
    ("event", "status"), [("OK", "succeeded"), ("FAIL", "failed"), ("CANCEL", "canceled")]
)
def test_r7_a_reserved_event_handles_it_too(event: str, status: str) -> None:
    run = Drive(flow_of(f"a: {{task: t, fails: {event}}}"))

    run.fail("a")

    assert run.status == status


def test_r7_a_failure_that_nobody_handles_fails_the_run() -> None:
    run = Drive(flow_of("a: {task: t, fails: nobody_waits}\nb: {task: t}"))

    run.fail("a", "bad")

    assert run.status == "failed"
    assert run.events() == ["START", "nobody_waits", "FAIL"]


def test_r7_with_continue_everything_else_runs_to_its_end_first() -> None:
    steps = "a: {task: t}\nb: {task: t}\nc: {task: t, after: b}\nundo: {task: t, after: FAIL}"
    run = Drive(flow_of(steps, "on_failure: continue"))

    run.fail("a", "bad")
    assert (run.status, set(run.tasks)) == ("running", {"b"})
    run.done("b")
    run.done("c")
    assert set(run.tasks) == {"undo"}
    run.done("undo")

    assert run.status == "failed"
    assert run.snapshot.error is not None
    assert run.snapshot.error.message == "bad"


def test_r8_a_put_off_failure_weighs_more_than_ok() -> None:
    run = Drive(flow_of("a: {task: t}\nb: {task: t, emits: OK}", "on_failure: continue"))

    run.done("b")
    run.fail("a")

    assert run.status == "failed"


def test_r8_ok_succeeds_when_nothing_is_in_motion() -> None:
    run = Drive(flow_of("a: {task: t, emits: OK}\nb: {task: t}"))

    run.done("a")
    assert run.status == "running"
    run.done("b")

    assert run.status == "succeeded"


def test_r8_a_run_waits_while_an_outside_event_could_begin_a_step() -> None:
    steps = "a: {task: t}\nb: {task: t, after: [a, e]}\nc: {task: t, after: [f, never]}"
    run = Drive(flow_of(steps, "external: [e, f]"))

    assert run.status == "running"
    run.done("a")

    assert run.status == "waiting"
    assert waiting_for(run.flow, run.snapshot) == ("e",)
    run.event("e")
    assert (run.status, set(run.tasks)) == ("running", {"b"})


def test_r8_an_optional_event_does_not_keep_a_run_waiting() -> None:
    run = Drive(flow_of("a: {task: t}\nb: {task: t, after: e}", "external: [{name: e, optional: true}]"))

    run.done("a")

    assert run.status == "succeeded"


def test_r8_an_event_that_came_is_not_waited_for_again() -> None:
    run = Drive(flow_of("a: {task: t, after: e}\nb: {task: t, after: [a, e]}", "external: [e]"))

    run.event("e")
    run.done("a")
    run.done("b")

    assert run.status == "succeeded"
    assert run.event("e") == "recorded"


def test_r8_without_ok_a_run_succeeds_when_every_slot_is_empty_but_for_outside_events() -> None:
    steps = "a: {task: t}\nb: {task: t, after: [e, a.failed]}"
    run = Drive(flow_of(steps, "external: [e]"))

    run.event("e")
    run.done("a")

    assert run.status == "succeeded"


def test_r8_a_stalled_run_says_which_steps_starve_for_which_events() -> None:
    steps = """
d: {task: decide, with: {if: 'true'}, emits: {then: x, else: y}}
a: {task: t, after: x}
b: {task: t, after: y}
join: {task: t, after: [a, b]}
"""
    run = Drive(flow_of(steps))

    run.done("a")

    assert run.status == "stalled"
    assert starving(run.flow, run.snapshot) == (Starving("join", ("b",)),)


def test_r8_where_ok_is_named_an_end_without_it_is_stalled() -> None:
    steps = "d: {task: decide, with: {if: 'true'}, emits: {then: x, else: OK}}"
    run = Drive(flow_of(steps))

    assert run.status == "stalled"


def test_r8_a_paused_run_at_rest_is_paused() -> None:
    run = Drive(flow_of("a: {task: t}\nb: {task: t, after: a}"))
    run.happen(Paused())

    run.done("a")

    assert (run.status, run.tasks) == ("paused", {})


def test_r8_a_clean_up_of_boxes_alone_ends_with_the_put_off_failure() -> None:
    run = Drive(
        flow_of("a: {task: t}\nundo: {task: set, after: FAIL, with: {undone: true}}", "on_failure: continue")
    )

    run.fail("a")

    assert (run.status, run.snapshot.data) == ("failed", {"undone": True})


def test_r6_a_slot_that_held_an_event_already_still_takes_the_end() -> None:
    run = Drive(flow_of("a: {task: t, fails: FAIL}\nreport: {task: t, after: a.failed | FAIL}"))

    run.fail("a")

    assert (run.status, set(run.tasks)) == ("running", {"report"})
    run.done("report")
    run.done("report")
    assert run.status == "failed"


def test_r6_resuming_during_a_clean_up_starts_no_other_steps() -> None:
    run = Drive(flow_of("a: {task: t}\nb: {task: t, after: a}\nclean: {task: t, after: CANCEL}"))
    run.happen(Paused())
    run.done("a")
    run.cancel()

    run.happen(Resumed())

    assert set(run.tasks) == {"clean"}


def test_r6_nothing_is_decided_before_the_run_has_begun() -> None:
    run = Drive(flow_of("a: {task: t, after: e}", "external: [e]"), begin=False)

    run.event("e")
    assert run.status == "running"
    run.happen(Begun())

    assert run.status == "running"
    run.done("a")
    assert run.status == "succeeded"


def test_r7_a_task_that_ends_on_failed_has_failed() -> None:
    run = Drive(flow_of("a: {task: t, fails: oops}\nmend: {task: t, after: oops}", "on_failure: continue"))

    run.done("a", {"why": "x"}, port="failed")

    data = run.tasks["mend"].taken.tokens()[0].load.data
    assert (data["step"], data["error"]["detail"], run.step("a").status) == ("a", {"why": "x"}, "failed")


def test_r7_an_unhandled_end_on_failed_is_put_off_and_fails_the_run() -> None:
    run = Drive(flow_of("a: {task: t}", "on_failure: continue"))

    run.done("a", port="failed")

    assert run.status == "failed"


def test_r7_the_put_off_failure_tells_the_clean_up_all_about_it() -> None:
    steps = "a: {task: t}\nundo: {task: t, after: FAIL, with: {who: '${ event.data.step }'}}"
    run = Drive(flow_of(steps, "on_failure: continue"))

    run.fail("a", "bad")

    assert run.tasks["undo"].params == {"who": "a"}
