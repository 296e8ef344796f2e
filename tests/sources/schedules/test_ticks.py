"""Which ticks there are: the tables of the days on which clocks change, and laws that hold on every day."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.flow.values.schedule import (
    ALIASES,
    Schedule,
    cron_problem,
    in_words,
    next_tick,
    next_ticks,
    tick_before,
    ticks_between,
    zone_problem,
)

BERLIN, LORD_HOWE, NEW_YORK = "Europe/Berlin", "Australia/Lord_Howe", "America/New_York"


bounded = settings(max_examples=200, deadline=None, derandomize=True)


def on(day: str, cron: str, tz: str) -> list[str]:
    """The ticks of one UTC day and the hours around it, as UTC."""
    first = datetime.fromisoformat(f"{day}T00:00:00Z")
    found = ticks_between(Schedule(cron=cron, tz=tz), first, first + timedelta(hours=23, minutes=59))
    return [f"{tick:%H:%M}" for tick in found]


# In Berlin clocks go from 02:00 to 03:00 on 29 March 2026 (01:00 UTC), and from 03:00 back to 02:00 on 25 October.
BERLIN_TABLE = [
    ("2026-03-28", "30 2 * * *", ["01:30"]),
    ("2026-03-29", "30 2 * * *", ["01:00"]),  # 02:30 is leapt over: at 03:00
    ("2026-03-30", "30 2 * * *", ["00:30"]),
    ("2026-03-29", "0,30 2 * * *", ["01:00"]),  # both are: once
    ("2026-03-29", "0 3 * * *", ["01:00"]),
    ("2026-03-29", "30 1,2,3 * * *", ["00:30", "01:00", "01:30", "23:30"]),
    ("2026-03-29", "*/30 2 * * *", []),  # by the time that passes: there is no such hour
    ("2026-10-25", "30 2 * * *", ["00:30"]),  # comes twice: the first counts
    ("2026-10-25", "0 3 * * *", ["02:00"]),
    ("2026-10-25", "*/30 2 * * *", ["00:00", "00:30", "01:00", "01:30"]),
    ("2026-10-25", "0 0 * * *", ["23:00"]),
]
# On Lord Howe Island they go from 02:00 to 02:30 on 4 October 2026 (15:30 UTC of the 3rd), and from 02:00 back to 01:30
# on 5 April (15:00 UTC of the 4th): half an hour.
LORD_HOWE_TABLE = [
    ("2026-10-02", "15 2 * * *", ["15:45"]),
    ("2026-10-03", "15 2 * * *", ["15:30"]),  # 02:15 is leapt over: at 02:30
    ("2026-10-04", "15 2 * * *", ["15:15"]),
    ("2026-10-03", "30 2 * * *", ["15:30"]),
    ("2026-10-03", "15,30,45 2 * * *", ["15:30", "15:45"]),
    ("2026-04-04", "45 1 * * *", ["14:45"]),  # comes twice: the first counts
    ("2026-04-05", "45 1 * * *", ["15:15"]),
    ("2026-04-04", "*/15 1 * * *", ["14:00", "14:15", "14:30", "14:45", "15:00", "15:15"]),
    ("2026-04-04", "0 2 * * *", ["15:30"]),
]
# In New York they go from 02:00 to 03:00 on 8 March 2026, and from 02:00 back to 01:00 on 1 November.
NEW_YORK_TABLE = [
    ("2026-03-08", "30 2 * * *", ["07:00"]),
    ("2026-11-01", "30 1 * * *", ["05:30"]),
    ("2026-11-01", "30 * * * *", [f"{hour:02}:30" for hour in range(24)]),
]


@pytest.mark.parametrize(("day", "cron", "found"), BERLIN_TABLE)
def test_the_ticks_of_berlin(day: str, cron: str, found: list[str]) -> None:
    assert on(day, cron, BERLIN) == found


@pytest.mark.parametrize(("day", "cron", "found"), LORD_HOWE_TABLE)
def test_the_ticks_of_lord_howe(day: str, cron: str, found: list[str]) -> None:
    assert on(day, cron, LORD_HOWE) == found


@pytest.mark.parametrize(("day", "cron", "found"), NEW_YORK_TABLE)
def test_the_ticks_of_new_york(day: str, cron: str, found: list[str]) -> None:
    assert on(day, cron, NEW_YORK) == found


@pytest.mark.parametrize("tz", [BERLIN, LORD_HOWE])
def test_an_interval_goes_by_the_time_that_passes(tz: str) -> None:
    first = datetime(2026, 3, 29, tzinfo=UTC)
    found = list(ticks_between(Schedule(every=timedelta(hours=6), tz=tz), first, first + timedelta(days=1)))
    assert found == [first + n * timedelta(hours=6) for n in range(5)]


schedules = st.one_of(
    st.builds(
        Schedule,
        cron=st.sampled_from(
            ["30 2 * * *", "*/15 * * * *", "0,30 1-3 * * *", "0 */2 * * *", "@weekly", "0 0 L * *"]
        ),
        tz=st.sampled_from([BERLIN, LORD_HOWE, NEW_YORK, "UTC"]),
    ),
    st.builds(Schedule, every=st.timedeltas(timedelta(seconds=1), timedelta(days=40))),
)
moments = st.datetimes(datetime(2026, 1, 1), datetime(2027, 12, 31), timezones=st.just(UTC))


@bounded
@given(schedules, moments)
def test_the_tick_before_the_next_one_is_not_later_than_now_and_nothing_lies_between(
    schedule: Schedule, now: datetime
) -> None:
    coming = next_tick(schedule, now)
    assert coming is not None and coming > now
    before = tick_before(schedule, coming)
    assert before is not None and before <= now
    assert next_tick(schedule, before) == coming


@bounded
@given(schedules, moments)
def test_ticks_only_go_forward(schedule: Schedule, now: datetime) -> None:
    found = next_ticks(schedule, now, 20)
    assert found == sorted(set(found))


@pytest.mark.parametrize("alias", ALIASES)
def test_an_alias_has_the_ticks_of_its_line(alias: str) -> None:
    assert cron_problem(alias) is None
    now = datetime(2026, 5, 5, 5, 5, tzinfo=UTC)
    assert next_ticks(Schedule(cron=alias), now, 5) == next_ticks(Schedule(cron=ALIASES[alias]), now, 5)


IMPOSSIBLE = """
x | * * * * | * * * * * * | 60 * * * * | 0 25 * * * | 0 0 0 * * | 0 0 30 2 * | 0 0 31 4,6 * | 0 0 * 13 * | 0 0 * * 8
| */0 * * * * | 9-1 * * * * | @reboot | 0 0 * * # | 0 0 1 1 5L/2
"""


@pytest.mark.parametrize("line", [*map(str.strip, IMPOSSIBLE.split("|")), "", "0" * 300])
def test_an_impossible_line_is_told_in_one_sentence(line: str) -> None:
    problem = cron_problem(line)
    assert problem is not None and problem.endswith(".") and "\n" not in problem


@bounded
@given(
    st.lists(st.text(alphabet="0123456789*/,-L#WMONAYJ", min_size=1, max_size=5), min_size=5, max_size=5).map(
        " ".join
    )
)
def test_whatever_is_written_is_a_clock_or_told(line: str) -> None:
    if cron_problem(line) is None:
        schedule = Schedule(cron=line)
        assert next_tick(schedule, datetime(2026, 1, 1, tzinfo=UTC)) is not None
        assert in_words(schedule)


@bounded
@given(st.text(max_size=80))
def test_whatever_is_written_is_a_zone_or_told(name: str) -> None:
    if zone_problem(name) is None:
        assert next_tick(Schedule(cron="0 0 * * *", tz=name), datetime(2026, 1, 1, tzinfo=UTC)) is not None


def test_a_schedule_is_said_in_words() -> None:
    assert (
        in_words(Schedule(cron="30 2 * * 1-5", tz=BERLIN))
        == "at 02:30 on Monday through Friday in Europe/Berlin"
    )
    assert in_words(Schedule(every=timedelta(minutes=15))) == "every 15m"


@pytest.mark.parametrize("name", ["localtime", "posixrules", "Factory"])
def test_a_zone_that_each_machine_sets_for_itself_is_refused(name: str) -> None:
    assert "There is no time zone" in str(zone_problem(name))


CHANGES = {
    BERLIN: ["2026-03-29", "2026-10-25"],
    LORD_HOWE: ["2026-04-05", "2026-10-04"],
    NEW_YORK: ["2026-03-08", "2026-11-01"],
    "America/Santiago": ["2026-04-05", "2026-09-06"],
    "Africa/Cairo": ["2026-04-24", "2026-10-30"],
}
PASSING = {
    "*/30 2": (range(0, 60, 30), {2}),
    "30 *": ({30}, range(24)),
    "0 */2": ({0}, range(0, 24, 2)),
    "*/20 0": (range(0, 60, 20), {0}),
    "*/30 3": (range(0, 60, 30), {3}),
    "*/30 23": (range(0, 60, 30), {23}),
    "*/7 1,2": (range(0, 60, 7), {1, 2}),
}


@pytest.mark.parametrize("line", PASSING)
@pytest.mark.parametrize(("tz", "day"), [(tz, day) for tz, days in CHANGES.items() for day in days])
def test_a_line_with_a_star_ticks_in_every_minute_that_fits_and_passes(tz: str, day: str, line: str) -> None:
    minutes, hours = PASSING[line]
    first = datetime.fromisoformat(f"{day}T00:00:00Z") - timedelta(hours=40)
    passed = [first + timedelta(minutes=number) for number in range(80 * 60)]
    walls = [(moment, moment.astimezone(ZoneInfo(tz))) for moment in passed]
    wanted = [moment for moment, wall in walls if wall.minute in minutes and wall.hour in hours]
    schedule = Schedule(cron=f"{line} * * *", tz=tz)

    assert list(ticks_between(schedule, first, passed[-1])) == wanted
    assert list(ticks_between(schedule, walls[0][1], walls[-1][1])) == wanted
    for early, late in pairwise(wanted):
        assert tick_before(schedule, late) == early
