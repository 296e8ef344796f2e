"""Banzai's two other use cases: what they change, and that nothing else changes."""

from __future__ import annotations

from datetime import timedelta

import pytest
from tests.examples.shelf import begin, firings, functions, played, states

from penstock.testing import World, after, fails

FINISHED = ("et_job_finished", {"s3_key": "x"})


def test_audio_becomes_a_video_before_anything_else_begins() -> None:
    world = World()
    run = begin(world, "audio", stubs={"convert_to_video": after("1h", functions("audio").to_video)})
    at_first = {step for step, state in states(run).items() if state != "blocked"}

    world.run()

    began = {step: run.attempts(step)[0].began for step in ("extract_metadata", "create_et_job")}
    assert at_first == {"convert_to_video"}
    assert set(began.values()) == {run.attempts("convert_to_video")[0].began + timedelta(hours=1)}
    assert run.data["s3_key"] == "uploads/lecture.mp4"


def test_audio_goes_on_like_a_video() -> None:
    run = played("audio", events=[FINISHED])

    run.expect("succeeded", never=["email_failure"])
    assert run.order[0] == "convert_to_video"
    assert sorted(run.order[1:5]) == ["copy_to_cunix", "create_et_job", "extract_metadata", "pull_thumbnails"]
    assert run.order[5:] == ["submit", "email_ok"]


@pytest.mark.parametrize("name", ["audio", "mediathread", "youtube"])
def test_a_call_that_comes_before_the_job_is_made_costs_no_attempt(name: str) -> None:
    run = played(name, events=["et_job_finished"])

    run.expect("succeeded")
    assert {len(run.attempts(step)) for step in run.order} == {1}


def test_audio_that_cannot_be_converted_is_told_once() -> None:
    run = played("audio", stubs={"convert_to_video": fails("no sound in it", fatal=True)})

    run.expect("failed")
    assert firings(run) == {"convert_to_video": 1, "email_failure": 1}


def test_an_encoder_that_hangs_gets_half_as_much_time_again() -> None:
    run = played("audio", stubs={"convert_to_video": after("9h")})

    run.expect("failed", fired={"email_failure": 1})
    hours = [tried.took for tried in run.attempts("convert_to_video")]
    assert hours == [timedelta(hours=2), timedelta(hours=3)]


def test_the_upload_to_youtube_does_not_wait_for_the_encoding() -> None:
    run = begin(World(), "youtube")

    assert [step for step, state in states(run).items() if state == "running"] == [
        "upload_to_youtube",
        "create_et_job",
    ]


def test_the_user_is_told_while_the_transcoder_is_still_busy() -> None:
    run = played("youtube")

    run.expect("waiting", fired={"email_ok": 1, "pull_thumbnails": 0})
    run.emit(*FINISHED)
    run.expect("succeeded", fired={"email_ok": 1, "pull_thumbnails": 1, "plain_poster": 0})


def test_an_encoding_that_is_ready_first_does_not_hurt() -> None:
    upload = functions("youtube").upload

    run = played("youtube", stubs={"upload_to_youtube": after("2h", upload)}, events=[FINISHED])

    run.expect("succeeded")
    assert run.order == ["create_et_job", "pull_thumbnails", "upload_to_youtube", "email_ok"]


@pytest.mark.parametrize("step", ["create_et_job", "pull_thumbnails"])
def test_a_missing_poster_is_handled_and_does_not_fail_the_run(step: str) -> None:
    run = played("youtube", stubs={step: fails("no thumbnails", fatal=True)}, events=[FINISHED])

    run.expect("succeeded", fired={step: 1, "plain_poster": 1, "email_ok": 1}, never=["email_failure"])


def test_a_job_that_was_never_made_is_not_waited_for() -> None:
    run = played("youtube", stubs={"create_et_job": fails("quota", fatal=True)})

    run.expect("succeeded", fired={"plain_poster": 1})


def test_a_failed_upload_fails_the_run() -> None:
    run = played("youtube", stubs={"upload_to_youtube": fails("quota", fatal=True)})

    run.expect("failed", fired={"email_failure": 1}, never=["email_ok"])
