"""What a list may be asked for, and its cursors."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.runtime.errors import BadCursor, Invalid
from penstock.runtime.queries.cursors import read_cursor, write_cursor
from penstock.runtime.queries.run_lists import RunCursor, read_filter
from penstock.store.rows.rows import Filter

PLACE = RunCursor("newest", datetime(2026, 3, 1, 12, 0, 0, 5, tzinfo=UTC), "run")


@pytest.mark.parametrize(
    ("said", "wrong"),
    [
        ({"statuses": ("gone",)}, "'gone' is no status of a run"),
        ({"sort": "id; drop table run"}, "runs cannot be sorted by"),
        ({"limit": 0}, "a page has 1 to 200 runs"),
        ({"limit": 10**9}, "a page has 1 to 200 runs"),
        ({"colour": "red"}, "this filter is invalid"),
    ],
)
def test_a_list_that_cannot_be_is_refused(said: dict[str, Any], wrong: str) -> None:
    with pytest.raises(Invalid, match=wrong):
        read_filter(said)


def test_what_is_asked_for_is_the_filter() -> None:
    assert read_filter({"workflow": "w", "statuses": ("failed",)}) == Filter(
        workflow="w", statuses=("failed",)
    )


def test_a_cursor_gives_its_place_back() -> None:
    assert read_cursor(write_cursor(PLACE), RunCursor) == PLACE


@settings(derandomize=True, deadline=None, max_examples=200)
@given(st.integers(0, 200), st.characters())
def test_a_cursor_that_was_tampered_with_is_told(at: int, character: str) -> None:
    cursor = write_cursor(PLACE)
    at %= len(cursor)
    tampered = cursor[:at] + character + cursor[at + 1 :]

    if tampered != cursor:
        with pytest.raises(BadCursor):
            read_cursor(tampered, RunCursor)
