"""What becomes of a tick while a run is under way: each policy on a virtual clock, with a tick a minute."""

from __future__ import annotations

from penstock import Engine
from tests.sources.schedules.clockwork import Work, pass_until, play, ticks, timeline, workflow


def test_skip_lets_the_tick_pass() -> None:
    async def main(engine: Engine) -> None:
        await engine.publish(workflow("every: 1m"), start=True)
        await pass_until(5.9)
        assert await timeline(engine) == [
            (1, 1.0, "succeeded"),
            (3, 3.0, "succeeded"),
            (5, 5.0, "running"),
        ]

    play(main, Work(90))


def test_start_lets_runs_overlap() -> None:
    async def main(engine: Engine) -> None:
        await engine.publish(workflow("every: 1m, overrun: start"), start=True)
        await pass_until(3.4)
        assert await timeline(engine) == [
            (1, 1.0, "succeeded"),
            (2, 2.0, "running"),
            (3, 3.0, "running"),
        ]

    play(main, Work(90))


def test_start_waits_at_max_running() -> None:
    async def main(engine: Engine) -> None:
        await engine.publish(workflow("every: 1m, overrun: start, max_running: 2"), start=True)
        await pass_until(8.9)
        # Each takes three and a half minutes: the tick of minute 3 waits for the first of them.
        assert await timeline(engine) == [
            (1, 1.0, "succeeded"),
            (2, 2.0, "succeeded"),
            (3, 4.5, "succeeded"),
            (4, 5.5, "running"),
            (5, 8.0, "running"),
        ]

    play(main, Work(210))


def test_abort_cancels_what_runs_and_starts_at_once() -> None:
    async def main(engine: Engine) -> None:
        await engine.publish(workflow("every: 1m, overrun: abort"), start=True)
        await pass_until(3.4)
        assert await timeline(engine) == [
            (1, 1.0, "canceled"),
            (2, 2.0, "canceled"),
            (3, 3.0, "running"),
        ]

    play(main, Work(90))


def test_delay_starts_when_the_run_before_has_ended() -> None:
    async def main(engine: Engine) -> None:
        await engine.publish(workflow("every: 1m, overrun: delay"), start=True)
        await pass_until(5.9)
        assert await timeline(engine) == [
            (1, 1.0, "succeeded"),
            (2, 2.5, "succeeded"),
            (3, 4.0, "succeeded"),
            (4, 5.5, "running"),
        ]

    play(main, Work(90))


def test_delay_that_makes_up_for_all_keeps_every_tick_in_order() -> None:
    async def main(engine: Engine) -> None:
        await engine.publish(workflow("every: 1m, overrun: delay, catch_up: all"), start=True)
        await pass_until(8.4)
        assert await ticks(engine) == [1, 2, 3, 4, 5]

    play(main, Work(90))


def test_delay_until_success_waits_after_a_failure_until_it_is_mended() -> None:
    async def main(engine: Engine) -> None:
        await engine.publish(workflow("every: 1m, overrun: delay_until_success"), start=True)
        await pass_until(3.5)
        assert await timeline(engine) == [(1, 1.0, "failed")]
        await engine.retry((await engine.runs())[0]["id"])
        await pass_until(3.8)
        assert await timeline(engine) == [(1, 1.0, "succeeded"), (2, 3.7, "running")]

    play(main, Work(10, failures=1))


def test_delay_goes_on_after_a_failure() -> None:
    async def main(engine: Engine) -> None:
        await engine.publish(workflow("every: 1m, overrun: delay"), start=True)
        await pass_until(2.5)
        assert await timeline(engine) == [(1, 1.0, "failed"), (2, 2.0, "succeeded")]

    play(main, Work(10, failures=1))


def test_the_workflows_own_max_running_holds_too() -> None:
    async def main(engine: Engine) -> None:
        await engine.publish(workflow("every: 1m, overrun: start", "max_running: 1"), start=True)
        await pass_until(3.4)
        assert await timeline(engine) == [(1, 1.0, "succeeded"), (2, 2.5, "running")]

    play(main, Work(90))


def test_runs_that_were_started_by_hand_are_under_way_too() -> None:
    async def main(engine: Engine) -> None:
        await engine.publish(workflow("every: 1m"), start=True)
        await pass_until(0.5)
        await engine.start("w", subject="2026-01-01T00:00:00Z")
        await pass_until(2.5)
        assert await ticks(engine) == [0, 2]

    play(main, Work(60))


def test_a_tick_that_waited_when_the_policy_became_skip_is_skipped_once() -> None:
    async def main(engine: Engine) -> None:
        await engine.publish(workflow("every: 1m, overrun: delay"), start=True)
        await pass_until(2.5)  # the tick of minute 2 waits
        await engine.publish(workflow("every: 1m, overrun: skip"))
        await pass_until(4.5)
        (shown,) = await engine.schedules.all()
        assert (await ticks(engine), shown["skipped"]) == ([1], 3)
        await pass_until(11.5)
        assert await ticks(engine) == [1, 11]

    play(main, Work(570))
