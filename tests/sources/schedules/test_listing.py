"""Schedules are shown with what is next, what was last and what is wrong, and before they are saved."""

from __future__ import annotations

import pytest

from penstock import Engine
from penstock.runtime.errors import Invalid
from tests.sources.schedules.clockwork import Work, pass_until, play, workflow


def test_a_schedule_is_shown_with_its_next_ticks_and_its_last_run() -> None:
    async def main(engine: Engine) -> None:
        await engine.publish(workflow("cron: '0/5 * * * *', tz: Europe/Berlin, catch_up: all"), start=True)
        await pass_until(6)
        (run,) = await engine.runs()
        (shown,) = await engine.schedules.all()
        assert shown == {
            "workflow": "w",
            "version": 1,
            "kind": "schedule",
            "schedule": "every fifth minute of every hour in Europe/Berlin",
            "cron": "0/5 * * * *",
            "every": None,
            "tz": "Europe/Berlin",
            "overrun": "skip",
            "catch_up": "all",
            "max_running": 1,
            "state": "started",
            "next": [f"2026-01-01T00:{minute}:00Z" for minute in (10, 15, 20, 25, 30)],
            "last_tick": "2026-01-01T00:05:00Z",
            "last_run": run["id"],
            "waiting": None,
            "skipped": 0,
            "progress": None,
            "error": None,
            "error_at": None,
            "backfill": None,
        }

    play(main)


def test_the_state_of_a_schedule_is_what_holds_it() -> None:
    async def main(engine: Engine) -> None:
        async def state() -> str:
            (shown,) = await engine.schedules.all()
            return str(shown["state"])

        await engine.publish(workflow("every: 1m, overrun: delay"))
        assert await state() == "stopped"
        await engine.start_source("w")
        assert await state() == "started"
        await pass_until(2.2)
        assert await state() == "waiting"
        await engine.pause_workflow("w")
        assert await state() == "paused"

    play(main, Work(600))


def test_what_is_skipped_is_counted() -> None:
    async def main(engine: Engine) -> None:
        await engine.publish(workflow("every: 1m"), start=True)
        await pass_until(4.5)
        (shown,) = await engine.schedules.all()
        assert (shown["skipped"], shown["last_tick"]) == (3, "2026-01-01T00:01:00Z")

    play(main, Work(600))


def test_a_schedule_that_makes_no_runs_is_failing_and_says_why() -> None:
    async def main(engine: Engine) -> None:
        await engine.publish(workflow("every: 1m", "params: {type: object, required: [x]}"), start=True)
        await pass_until(1.5)
        (shown,) = await engine.schedules.all()
        assert (shown["state"], shown["error_at"]) == ("failing", "2026-01-01T00:01:00Z")
        assert "made no run" in shown["error"]

    play(main)


def test_ticks_are_shown_before_anything_is_saved() -> None:
    async def main(engine: Engine) -> None:
        told = await engine.schedules.preview(cron="30 2 * * *", tz="Europe/Berlin", count=2)
        assert told == {
            "schedule": "at 02:30 every day in Europe/Berlin",
            "tz": "Europe/Berlin",
            "next": ["2026-01-01T01:30:00Z", "2026-01-02T01:30:00Z"],
        }
        assert await engine.schedules.all() == []

    play(main)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({}, "either `cron` or `every`"),
        ({"cron": "@daily", "every": "1h"}, "either `cron` or `every`"),
        ({"cron": "0 0 30 2 *"}, "never comes"),
        ({"cron": "@daily", "tz": "Mars/X"}, "no time zone `Mars/X`"),
        ({"every": "soon"}, "is no duration"),
        ({"every": "10ms"}, "1s or longer"),
        ({"every": "1h", "count": 1000}, "from 1 to 100"),
    ],
)
def test_what_is_no_schedule_is_told(said: dict[str, object], told: str) -> None:
    async def main(engine: Engine) -> None:
        with pytest.raises(Invalid, match=told):
            await engine.schedules.preview(**said)  # type: ignore[arg-type]

    play(main)
