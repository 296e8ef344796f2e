"""Clocks: timers ring in order, never early."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from functools import partial

from penstock.runtime.node.clock import LoopClock, PacedClock, VirtualClock


def test_a_virtual_clock_rings_in_order_and_jumps() -> None:
    clock, rung = VirtualClock(), list[str]()
    began = clock.now()
    clock.at(began + timedelta(hours=2), lambda: rung.append("late"))
    clock.at(began + timedelta(hours=1), lambda: rung.append("early"))
    clock.at(began + timedelta(hours=1), lambda: rung.append("early too"))

    clock.advance(timedelta(hours=1))
    assert (rung, clock.now() - began) == (["early", "early too"], timedelta(hours=1))
    assert clock.step()
    assert not clock.step()

    assert (rung[-1], clock.now() - began) == ("late", timedelta(hours=2))


def test_a_timer_in_the_past_rings_now_and_time_never_goes_back() -> None:
    clock = VirtualClock()
    now = clock.now()
    clock.at(now - timedelta(days=1), lambda: None)

    clock.step()

    assert clock.now() == now


def test_real_timers_never_ring_early() -> None:
    async def ring(clock: LoopClock) -> tuple[datetime, datetime]:
        due = datetime.now(UTC) + timedelta(milliseconds=20)
        rang = asyncio.get_running_loop().create_future()
        clock.at(due, lambda: rang.set_result(datetime.now(UTC)))
        return due, await rang

    async def main() -> tuple[datetime, datetime]:
        return await ring(LoopClock(asyncio.get_running_loop()))

    due, rang = asyncio.run(main())
    assert rang >= due


def test_a_paced_clock_waits_for_its_timers() -> None:
    clock = PacedClock()
    due = clock.now() + timedelta(milliseconds=10)
    rang: list[datetime] = []
    clock.at(due, lambda: rang.append(clock.now()))

    clock.step()

    assert rang[0] >= due


def test_a_cancelled_timer_does_not_ring_and_is_not_kept() -> None:
    clock, rung = VirtualClock(), list[int]()
    day = clock.now() + timedelta(days=1)
    alarms = [clock.at(day + timedelta(hours=hour), partial(rung.append, hour)) for hour in range(100)]

    for alarm in alarms[:99]:
        alarm.cancel()
        alarm.cancel()

    assert (len(clock), clock.next()) == (1, day + timedelta(hours=99))
    clock.step()
    alarms[99].cancel()
    assert (rung, len(clock), clock.next(), clock.step()) == ([99], 0, None, False)


def test_a_cancelled_real_timer_does_not_ring() -> None:
    async def main() -> list[str]:
        clock, rung = LoopClock(asyncio.get_running_loop()), list[str]()
        last = asyncio.get_running_loop().create_future()
        due = clock.now() + timedelta(milliseconds=5)
        clock.at(due, lambda: rung.append("cancelled")).cancel()
        clock.at(due, lambda: last.set_result(None))
        await last
        return rung

    assert asyncio.run(main()) == []
