"""Banzai's Mediathread workflow: the scenarios of its design document."""

from __future__ import annotations

from datetime import timedelta
from itertools import permutations

import pytest
from tests.examples.shelf import begin, firings, functions, played, states

from penstock.testing import Play, World, after, fails, sequence

FINISHED = ("et_job_finished", {"s3_key": "x"})
PREREQUISITES = {
    "extract_metadata": "metadata_extracted",
    "pull_thumbnails": "poster_created",
    "copy_to_cunix": "uploaded",
}
HAPPY = {
    "extract_metadata": 1,
    "create_et_job": 1,
    "pull_thumbnails": 1,
    "copy_to_cunix": 1,
    "submit": 1,
    "email_ok": 1,
}


def mails(run: Play) -> list[str]:
    """The subjects of all mails, tries that failed included."""
    sent = [*run.attempts("email_ok"), *run.attempts("email_failure")]
    return [mail.params["subject"] for mail in sent]


def test_right_after_the_start_exactly_two_steps_run() -> None:
    run = begin(World(), "mediathread")

    assert states(run) == {
        "extract_metadata": "running",
        "create_et_job": "running",
        "pull_thumbnails": "blocked",
        "copy_to_cunix": "blocked",
        "submit": "blocked",
        "email_ok": "blocked",
        "email_failure": "blocked",
    }


@pytest.mark.parametrize("order", list(permutations(PREREQUISITES)), ids=" ".join)
def test_submit_fires_once_and_on_the_last_in_every_order(order: tuple[str, ...]) -> None:
    tasks = functions("mediathread")
    stubs = {step: after(f"{minute}m", getattr(tasks, step)) for minute, step in enumerate(order, 1)}

    run = played("mediathread", stubs=stubs, events=[FINISHED])

    run.expect("succeeded", fired=HAPPY)
    came = [event for event in run.events if event in PREREQUISITES.values()]
    [submit] = run.attempts("submit")
    assert came == [PREREQUISITES[step] for step in order]
    assert submit.began - run.attempts("extract_metadata")[0].began == timedelta(minutes=3)


def test_nobody_waits_for_et_job_created_and_the_run_waits_for_outside() -> None:
    run = played("mediathread")

    run.expect("waiting", fired={"extract_metadata": 1, "create_et_job": 1}, events=["et_job_created"])
    assert run.waiting_for == ("et_job_finished",)
    assert run.marking() == {"submit": {"metadata_extracted": ["metadata_extracted"]}}


def test_the_notification_finds_the_run_by_the_job_and_adds_to_its_data() -> None:
    world = World()
    run = begin(world, "mediathread")
    world.run()

    answer = world.emit(
        "et_job_finished", key={"et_job": run.data["et_job"]}, id="m-1", set={"s3_output": "encoded/42.mp4"}
    )
    running = [step for step, state in states(run).items() if state == "running"]
    world.run()

    assert answer == "accepted"
    assert running == ["pull_thumbnails", "copy_to_cunix"]
    run.expect("succeeded", fired=HAPPY)
    assert run.data["s3_output"] == "encoded/42.mp4"
    assert run.steps["submit"].output["path"] == "cunix/encoded/42.mp4"


def test_the_happy_path_ends_with_ok_and_sends_one_mail() -> None:
    run = played("mediathread", events=[FINISHED])

    run.expect("succeeded", never=["email_failure"], events=["OK"])
    assert firings(run) == HAPPY
    assert mails(run) == ["Your video is ready"]


@pytest.mark.parametrize("step", HAPPY)
def test_whatever_step_fails_the_failure_mail_runs_once_and_the_run_has_failed(step: str) -> None:
    run = played("mediathread", stubs={step: fails("disk full", fatal=True)}, events=[FINISHED])

    run.expect("failed", fired={step: 1, "email_failure": 1})
    assert run.error is not None
    assert run.error.message == "disk full"
    assert mails(run).count("Sorry: disk full") == 1


def test_a_step_is_tried_three_times_before_it_has_failed() -> None:
    run = played("mediathread", stubs={"copy_to_cunix": fails("no route")}, events=[FINISHED])

    run.expect("failed", fired={"email_failure": 1})
    assert [tried.outcome for tried in run.attempts("copy_to_cunix")] == ["failed"] * 3


def test_two_failures_at_once_send_one_mail() -> None:
    both = {"pull_thumbnails": fails("first", fatal=True), "copy_to_cunix": fails("second", fatal=True)}

    run = played("mediathread", stubs=both, events=[FINISHED])

    run.expect("failed", fired={"pull_thumbnails": 1, "copy_to_cunix": 1, "email_failure": 1})
    assert run.events.count("failed") == 2
    assert mails(run) == ["Sorry: first"]


def test_a_failure_while_the_mail_is_being_sent_sends_no_other() -> None:
    stubs = {
        "extract_metadata": fails("first", fatal=True),
        "create_et_job": fails("second", fatal=True, after="1m"),
        "email_failure": after("5m", {}),
    }

    run = played("mediathread", stubs=stubs)

    run.expect("failed", fired={"email_failure": 1})
    assert run.ports == [
        ("extract_metadata", "failed"),
        ("create_et_job", "failed"),
        ("email_failure", "done"),
    ]


def test_a_failure_mail_that_fails_fails_the_run_all_the_same() -> None:
    stubs = {"submit": fails("refused", fatal=True), "email_failure": fails("no mail server", fatal=True)}

    run = played("mediathread", stubs=stubs, events=[FINISHED])

    run.expect("failed", fired={"email_failure": 1})


def test_events_that_come_after_the_end_are_recorded_and_start_nothing() -> None:
    run = played("mediathread", stubs={"extract_metadata": fails(fatal=True)})
    before = firings(run)

    answer = run.emit(*FINISHED)

    assert answer == "recorded"
    assert firings(run) == before


def test_a_repeated_notification_changes_nothing() -> None:
    run = played("mediathread")

    answers = [run.emit(*FINISHED, id=id) for id in ("m-1", "m-1", "m-2")]

    assert answers == ["accepted", "duplicate", "recorded"]
    run.expect("succeeded", fired=HAPPY)


def test_many_runs_at_once_do_not_mix() -> None:
    world = World()
    runs = [begin(world, "mediathread") for _ in range(60)]
    world.run()

    for run in runs[::2]:
        world.emit("et_job_finished", {"s3_key": f"encoded/{run.id}"}, key={"et_job": run.data["et_job"]})
    world.run()

    assert {run.status for run in runs[1::2]} == {"waiting"}
    assert [run.steps["submit"].output["path"] for run in runs[::2]] == [
        f"cunix/encoded/{run.id}" for run in runs[::2]
    ]
    assert {tuple(firings(run).items()) for run in runs[::2]} == {tuple(HAPPY.items())}


def test_a_failed_run_goes_on_after_a_retry() -> None:
    metadata = functions("mediathread").extract_metadata
    run = played("mediathread", stubs={"extract_metadata": sequence(fails("busy", fatal=True), metadata)})
    run.expect("failed", fired={"email_failure": 1})

    run.retry()
    run.emit(*FINISHED)

    run.expect("succeeded", fired={**HAPPY, "extract_metadata": 2, "email_failure": 1})
