"""Times in the rows."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from penstock.store.sqlite.session import micros, moment

FIRST, LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (FIRST, FIRST),
        (LAST, LAST),
        (datetime.fromisoformat("0001-01-01T00:00:00+12:00"), FIRST),
        (datetime.fromisoformat("9999-12-31T23:59:59-12:00"), LAST),
    ],
)
def test_a_time_beyond_the_calendar_is_read_as_its_edge(written: datetime, read: datetime) -> None:
    assert moment(micros(written)) == read
