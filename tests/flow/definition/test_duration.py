"""Durations read in every form and are written in the shortest exact one."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.flow.values.duration import MAX_DURATION, format_duration, parse_duration


@pytest.mark.parametrize(
    ("text", "duration", "written"),
    [
        ("500ms", timedelta(milliseconds=500), "500ms"),
        ("0.5s", timedelta(milliseconds=500), "500ms"),
        ("90s", timedelta(seconds=90), "90s"),
        ("15m", timedelta(minutes=15), "15m"),
        ("10h", timedelta(hours=10), "10h"),
        ("2d", timedelta(days=2), "2d"),
        ("48h", timedelta(days=2), "2d"),
        ("1.5h", timedelta(minutes=90), "90m"),
        ("0s", timedelta(), "0s"),
        ("0.1ms", timedelta(microseconds=100), "0.0001s"),
        (90, timedelta(seconds=90), "90s"),
        (0.1, timedelta(milliseconds=100), "100ms"),
        (1e-6, timedelta(microseconds=1), "0.000001s"),
        ("36500d", MAX_DURATION, "36500d"),
    ],
)
def test_a_duration_reads_and_is_written_shortest(
    text: str | float, duration: timedelta, written: str
) -> None:
    assert (parse_duration(text), format_duration(duration)) == (duration, written)


FORMS = "is no duration; write it like 500ms, 0.5s, 90s, 15m, 10h or 2d, or as a number of seconds"


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ("", FORMS),
        ("90", FORMS),
        ("2 days", FORMS),
        ("1h30m", FORMS),
        ("-5s", FORMS),
        ("1e3s", FORMS),
        ("٣s", FORMS),
        (True, FORMS),
        (float("nan"), FORMS),
        (float("inf"), FORMS),
        (-1, "is negative; a duration is 0 or more"),
        ("36501d", "is too long; 36500d at most"),
        (1e300, "is too long; 36500d at most"),
    ],
)
def test_a_wrong_duration_is_told_in_a_sentence(value: str | float, sentence: str) -> None:
    with pytest.raises(ValueError) as caught:
        parse_duration(value)
    assert str(caught.value) == sentence


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.timedeltas(timedelta(), MAX_DURATION))
def test_what_is_written_reads_as_exactly_the_same(duration: timedelta) -> None:
    assert parse_duration(format_duration(duration)) == duration
