"""R8, R10: a parked attempt is in motion without a worker, is shown as waiting, and ended by its own report alone."""

from __future__ import annotations

from datetime import timedelta

from penstock.flow.model.run import Failure
from penstock.flow.model.run_input import Canceled, Done, Failed, Parked, Reminded, Reported, TimedOut
from tests.flow.driver import Drive, flow_of

CALL = "call: {task: http, with: {url: 'https://f.example'}, retries: 1}"


def parked(text: str = CALL) -> tuple[Drive, int]:
    """A run whose step `call` has handed its work over; the number of the firing."""
    run = Drive(flow_of(text))
    firing = run.step("call").latest
    assert run.happen(Reported(firing, None, 1, Parked())) == "accepted"
    return run, firing


def test_r8_a_run_whose_only_motion_is_a_callback_is_shown_as_waiting() -> None:
    run, _ = parked()

    assert (run.status, run.step("call").status) == ("waiting", "running")


def test_r8_a_run_in_which_something_else_moves_is_running() -> None:
    run, _ = parked(f"{CALL}\nother: {{task: t}}")

    assert run.status == "running"


def test_r8_an_approval_waits_from_the_beginning() -> None:
    run = Drive(flow_of("ask: {task: approval}"))

    assert run.status == "waiting"
    assert [attempt.task for attempt in run.plans[-1].attempts] == ["approval"]


def test_a_parked_attempt_is_ended_by_its_report() -> None:
    run, firing = parked()

    assert run.happen(Reported(firing, None, 1, Done(output=7), outside=True)) == "accepted"
    assert (run.status, run.step("call").output, run.step("call").attempts) == ("succeeded", 7, 1)


def test_a_report_of_another_attempt_changes_nothing() -> None:
    run, firing = parked()
    failed = Failed(error=Failure("error", "no"), retry_after=timedelta(0))
    assert run.happen(Reported(firing, None, 1, failed, outside=True)) == "accepted"
    before = run.snapshot

    assert run.happen(Reported(firing, None, 1, Done(output="late"), outside=True)) == "superseded"
    assert run.happen(Reported(firing, None, 1, TimedOut("start_to_close"))) == "superseded"
    assert run.happen(Reported(firing, None, 1, Parked())) == "superseded"
    assert run.happen(Reminded(firing, None, 1)) == "superseded"
    assert run.snapshot is before


def test_an_attempt_is_parked_once() -> None:
    run, firing = parked()

    assert run.happen(Reported(firing, None, 1, Parked())) == "superseded"


def test_the_time_outs_of_a_parked_attempt_are_timers() -> None:
    run, firing = parked(CALL.replace("retries: 1", "timeouts: {start_to_close: 90s}"))

    [timer] = run.plans[-1].timers
    assert timer.input == Reported(firing, None, 1, TimedOut("start_to_close"))
    assert timer.due - run.now == timedelta(seconds=90)


def test_a_callback_that_is_faster_than_the_worker_voids_its_task() -> None:
    run = Drive(flow_of(CALL))
    firing = run.step("call").latest

    assert run.happen(Reported(firing, None, 1, Done(output=1), outside=True)) == "accepted"
    assert run.plans[-1].withdrawn == ((firing, None),)
    assert run.happen(Reported(firing, None, 1, Parked())) == "superseded"


def test_r10_a_cancel_closes_what_is_parked() -> None:
    run, firing = parked()

    run.happen(Canceled())

    assert (run.status, run.plans[-1].withdrawn) == ("canceled", ((firing, None),))
    assert run.happen(Reported(firing, None, 1, Done(), outside=True)) == "superseded"


def test_a_reminder_is_in_the_history_and_changes_nothing_else() -> None:
    run = Drive(flow_of("ask: {task: approval}"))
    firing = run.step("ask").latest

    assert run.happen(Reminded(firing, None, 1)) == "accepted"
    assert (run.status, run.plans[-1].history[-1].data["reminded"]) == ("waiting", True)


def test_a_service_correlates_its_key_as_it_begins() -> None:
    run = Drive(
        flow_of("s: {task: service, with: {url: 'https://s.example', key: '${ data.id }'}}"), {"id": "TA_1"}
    )

    assert run.plans[-1].correlations == (("service", "TA_1"),)
    assert dict(run.snapshot.keys) == {("service", "TA_1"): run.snapshot.keys["service", "TA_1"]}
