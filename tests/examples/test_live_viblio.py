"""Viblio on a server: people name the faces, one video of a user at a time."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.examples.live import Live, until, upped
from tests.examples.shelf import FOLDER

SYSTEM = FOLDER / "viblio"


@pytest.fixture(scope="module")
def media(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("viblio") / "media"
    shutil.copytree(SYSTEM / "data", folder)
    return folder


@pytest.fixture(scope="module")
def live(media: Path) -> Iterator[Live]:
    with upped(SYSTEM, media.parent, MEDIA=str(media)) as live:
        yield live


def video(live: Live, user: str, number: int) -> str:
    input = {"media_uuid": f"{user}-{number}", "user_uuid": user, "filename": "birthday.mov"}
    return live.start("viblio", input)


def asked(live: Live, *runs: str) -> dict[str, Any]:
    """The open questions of the runs that some runs have started, by those."""
    found = live.good("GET", "/api/approvals?limit=200")["items"]
    parents = {each["run"]: live.good("GET", f"/api/runs/{each['run']}")["parent"] for each in found}
    return {parents[each["run"]]: each for each in found if parents[each["run"]] in runs}


def reason(live: Live, run: str) -> str | None:
    """Why the recognition of a run does not go on; None where it has begun."""
    steps = live.good("GET", f"/api/runs/{run}/why")["steps"]
    return next((each["reason"] for each in steps if each["step"] == "FaceRecognize"), None)


def test_one_video_of_a_user_at_a_time_is_recognized_and_named(live: Live) -> None:
    first = video(live, "ada", 1)
    until(lambda: asked(live, first), bool)
    second, other = video(live, "ada", 2), video(live, "bob", 1)
    until(lambda: asked(live, other), bool)
    until(lambda: reason(live, second), lambda why: why == "serialized")

    before, begun = asked(live, first, second, other), live.runs("viblio_faces", subject="ada-2")
    live.good(
        "POST",
        f"/api/approvals/{before[first]['id']}",
        {"decision": "approved", "fields": {"names": ["Ada"]}},
    )
    after = until(lambda: asked(live, second), bool)

    ended = live.until(first, "succeeded")
    assert (set(before), begun) == ({first, other}, [])
    assert after.keys() == {second}
    assert ended["steps"]["NotifyComplete"]["output"]["names"] == ["Ada"]


def test_the_video_can_be_watched_while_people_are_asked(live: Live, media: Path) -> None:
    run = video(live, "eve", 1)
    until(lambda: asked(live, run), bool)

    assert live.good("GET", f"/api/runs/{run}")["data"]["status"] == "visible"
    assert (media / "eve-1.mp4").stat().st_size > 0


def test_an_answer_that_does_not_fit_is_refused_and_the_question_stays_open(live: Live) -> None:
    run = video(live, "joe", 1)
    [question] = until(lambda: asked(live, run), bool).values()

    status, _ = live.ask(
        "POST", f"/api/approvals/{question['id']}", {"decision": "approved", "fields": {"names": 7}}
    )

    assert (status, list(asked(live, run))) == (422, [run])


def test_a_file_that_is_no_video_fails_and_the_team_is_told(live: Live) -> None:
    run = live.start("viblio", {"media_uuid": "x", "user_uuid": "x", "filename": "notes.txt"})

    ended = live.until(run, "failed")

    assert (ended["steps"]["Transcode"]["attempts"], ended["steps"]["NotifyFailure"]["firings"]) == (1, 1)
