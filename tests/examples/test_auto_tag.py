"""Zenko's auto-tagging: fan-out, a join where tags merge, decisions on tags."""

from __future__ import annotations

from datetime import timedelta

import pytest
from tests.examples.shelf import firings, functions, played

from penstock.testing import after, fails, returns

PEOPLE = {"bucket": "pictures", "key": "holiday/beach-people.jpg"}
LANDSCAPE = {"bucket": "pictures", "key": "holiday/alps.jpg"}
FOUND = {"mime": "image/jpeg", "camera": "X-T5", "taken": "2026-07-14"}


@pytest.mark.parametrize(("slow", "task"), [("exif_extract", "exif_extract"), ("describe", "describe")])
def test_the_two_functions_run_at_once_and_the_join_waits_for_both(slow: str, task: str) -> None:
    real = getattr(functions("auto_tag"), task)

    run = played("auto_tag", LANDSCAPE, stubs={slow: after("1h", real)})

    [exif], [content], [written] = (run.attempts(step) for step in ("exif_extract", "describe", "write_back"))
    run.expect("succeeded", fired={"shows_people": 1, "write_back": 1})
    assert exif.began == content.began
    assert written.began - exif.began == timedelta(hours=1)


def test_the_join_sees_the_tags_of_both_branches_and_of_the_object() -> None:
    run = played("auto_tag", LANDSCAPE, tags={"owner": "ada"})

    tags = {"owner": "ada", **FOUND, "gps": "40.7 -73.9", "content": "landscape", "visibility": "public"}
    assert run.tags == tags
    assert run.steps["write_back"].output == {"written": tags}


def test_people_are_kept_private_and_the_place_is_removed() -> None:
    run = played("auto_tag", PEOPLE)

    run.expect("succeeded", fired={"mark_private": 1, "mark_public": 0, "write_back": 1})
    assert run.tags == {**FOUND, "content": "people", "visibility": "private"}


def test_a_missing_tag_takes_the_other_way() -> None:
    run = played("auto_tag", PEOPLE, stubs={"describe": returns()})

    run.expect("succeeded", fired={"mark_private": 0, "mark_public": 1})


@pytest.mark.parametrize("key", ["notes.txt", "film.mp4", "no-suffix-at-all"])
def test_what_is_no_picture_is_left_alone(key: str) -> None:
    run = played("auto_tag", {"bucket": "pictures", "key": key})

    run.expect("succeeded")
    assert firings(run) == {"file_type": 1, "is_picture": 1, "skip": 1}


def test_where_both_branches_set_a_tag_the_later_one_wins_and_it_is_recorded() -> None:
    stubs = {
        "exif_extract": returns(tags={"content": "people"}, after="1m"),
        "describe": returns(tags={"content": "landscape"}, after="2m"),
    }

    run = played("auto_tag", PEOPLE, stubs=stubs)

    assert run.tags == {"mime": "image/jpeg", "content": "landscape", "visibility": "public"}
    assert [entry.step for entry in run.history if entry.kind == "conflict"] == ["shows_people"]


def test_a_function_that_fails_for_good_fails_the_run_and_nothing_is_written() -> None:
    run = played("auto_tag", PEOPLE, stubs={"describe": fails("model is down")})

    run.expect("failed", never=["write_back"])
    assert len(run.attempts("describe")) == 4
