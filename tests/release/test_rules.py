"""The table that says what a word of a service means, in every state of its task and its release."""

from __future__ import annotations

from typing import Any

import pytest

from penstock_release.rules import STATES, TASK_ENDS, Meaning, hears_progress, meaning, progress_of

LIVE = ("waiting", "initialized", "running", "staged", "publishing")
COUNTS = {
    ("waiting", "waiting"): Meaning.SAME,
    ("waiting", "initialized"): Meaning.SAME,
    **{("waiting", word): Meaning.WRONG for word in ("running", "staged", "publishing", "published")},
    ("initialized", "waiting"): Meaning.WRONG,
    ("initialized", "initialized"): Meaning.SAME,
    ("initialized", "running"): Meaning.SAME,
    ("initialized", "staged"): Meaning.EARLY,
    **{("running", word): Meaning.WRONG for word in ("waiting", "initialized")},
    ("running", "running"): Meaning.SAME,
    ("running", "staged"): Meaning.ENDS,
    **{("staged", word): Meaning.WRONG for word in ("waiting", "initialized", "running")},
    ("staged", "staged"): Meaning.SAME,
    ("publishing", "publishing"): Meaning.SAME,
    ("publishing", "published"): Meaning.ENDS,
}


def told(release: str, task: str, word: str, asked: bool = False) -> Meaning:
    return meaning({"state": release}, {"state": task, "asked": asked}, word)


@pytest.mark.parametrize("task", LIVE)
@pytest.mark.parametrize("word", STATES)
def test_while_a_release_is_alive_a_word_counts_in_its_state_only(task: str, word: str) -> None:
    expected = Meaning.ENDS if word in ("failed", "canceled") else COUNTS.get((task, word), Meaning.LATE)

    assert told("running", task, word) is expected


def test_nobody_has_staged_before_anybody_was_asked_to_start() -> None:
    assert told("initializing", "initialized", "staged") is Meaning.WRONG


@pytest.mark.parametrize("word", ["waiting", "initialized", "running", "staged"])
def test_once_a_task_was_asked_to_publish_no_word_back_fails_it(word: str) -> None:
    """Others may be out already: it has the time that it has."""
    assert told("publishing", "publishing", word) is Meaning.LATE
    assert told("publishing", "staged", word, asked=True) is (
        Meaning.SAME if word == "staged" else Meaning.LATE
    )


@pytest.mark.parametrize("task", LIVE)
@pytest.mark.parametrize("word", STATES)
def test_while_a_release_is_canceled_no_word_ends_anything(task: str, word: str) -> None:
    expected = Meaning.SAME if word in (task, "canceled") else Meaning.LATE

    assert told("canceling", task, word) is expected


@pytest.mark.parametrize("task", sorted(TASK_ENDS))
@pytest.mark.parametrize("word", STATES)
def test_no_word_moves_a_task_out_of_its_end(task: str, word: str) -> None:
    assert told("failed", task, word) is (Meaning.SAME if word == task else Meaning.LATE)


@pytest.mark.parametrize("release", ["canceling", "failed", "canceled"])
@pytest.mark.parametrize("task", ["staged", "publishing", "canceled", "failed"])
def test_what_went_out_after_it_was_asked_for_is_shown(release: str, task: str) -> None:
    assert told(release, task, "published", asked=True) is Meaning.SHOWN
    assert told(release, task, "published", asked=False) is Meaning.LATE


def test_a_service_may_publish_before_its_answer_is_known() -> None:
    assert told("publishing", "staged", "published", asked=True) is Meaning.ENDS
    assert told("publishing", "staged", "publishing", asked=True) is Meaning.SAME


@pytest.mark.parametrize(
    ("release", "task", "hears"),
    [
        ("running", "running", True),
        ("running", "staged", False),
        ("publishing", "publishing", True),
        ("canceling", "running", False),
        ("failed", "failed", False),
    ],
)
def test_progress_counts_only_while_work_goes_on(release: str, task: str, hears: bool) -> None:
    assert hears_progress({"state": release}, {"state": task}) is hears


@pytest.mark.parametrize(
    ("said", "number"),
    [
        (40, 40),
        ("50%", 50),
        (12.5, 12),
        (250, 100),
        (-1, 0),
        ("inf", None),
        (float("nan"), None),
        (True, None),
    ],
)
def test_progress_is_a_number_from_0_to_100(said: Any, number: int | None) -> None:
    assert progress_of(said) == number
