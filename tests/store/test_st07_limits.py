"""ST7: time-outs are judged by the store's time, each by its own limit."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.store.protocol import Store
from penstock.store.rows.rows import DueTask, Heartbeat
from tests.store.builders import (
    NOON,
    SHORT,
    A,
    B,
    C,
    D,
    change,
    ended,
    given,
    lease,
    lease_of,
    seconds,
    start,
    struck,
    task,
)
from tests.store.conftest import Clock


async def test_st7_a_task_that_nobody_took_in_time_struck_schedule_to_start(
    store: Store, clock: Clock
) -> None:
    await given(store, start(A, tasks=(task(schedule_to_start=seconds(60)),)))

    await clock.forward(59)
    early = await struck(store)
    await clock.forward(1)
    due = (await store.due(10, SHORT)).tasks

    assert (early, due) == ([], [DueTask(lease_of(A, fence=0), "schedule_to_start")])


async def test_st7_of_two_limits_of_a_waiting_task_the_one_that_struck_first_is_told(
    store: Store, clock: Clock
) -> None:
    await given(store, start(A, tasks=(task(schedule_to_start=seconds(60), schedule_to_close=seconds(30)),)))
    await given(store, start(B, tasks=(task(schedule_to_start=seconds(30), schedule_to_close=seconds(60)),)))
    await clock.forward(90)

    assert sorted(await struck(store)) == [(A, 1, "schedule_to_close"), (B, 1, "schedule_to_start")]


async def test_st7_a_task_that_was_taken_in_time_has_no_schedule_to_start(store: Store, clock: Clock) -> None:
    await given(store, start(A, tasks=(task(schedule_to_start=seconds(60), heartbeat=seconds(900)),)))
    await lease(store)
    await clock.forward(600)

    assert await struck(store) == []


async def test_st7_a_task_that_runs_too_long_struck_start_to_close(store: Store, clock: Clock) -> None:
    await given(store, start(A, tasks=(task(start_to_close=seconds(60), heartbeat=seconds(900)),)))
    await clock.forward(600)
    waiting = await struck(store)
    await lease(store)

    await clock.forward(59)
    early = await struck(store)
    await clock.forward(1)

    assert (waiting, early, await struck(store)) == ([], [], [(A, 1, "start_to_close")])


async def test_st7_heartbeats_do_not_prolong_start_to_close(store: Store, clock: Clock) -> None:
    await given(store, start(A, tasks=(task(start_to_close=seconds(60)),)))
    (got,) = await lease(store)
    for _ in range(3):
        await clock.forward(20)
        assert (await store.renew([Heartbeat(got.lease)]))[0].deadline == NOON + seconds(60)

    assert await struck(store) == [(A, 1, "start_to_close")]


async def test_st7_schedule_to_close_counts_from_the_queueing_leased_or_not(
    store: Store, clock: Clock
) -> None:
    limit: dict[str, Any] = {"schedule_to_close": seconds(60), "heartbeat": seconds(900)}
    await given(store, start(A, tasks=(task(**limit),)), start(B, tasks=(task(task_list="b", **limit),)))
    await clock.forward(50)
    await lease(store)

    await clock.forward(9)
    early = await struck(store)
    await clock.forward(1)

    assert early == []
    assert sorted(await struck(store)) == [(A, 1, "schedule_to_close"), (B, 1, "schedule_to_close")]


async def test_st7_a_lease_that_ran_out_is_lost(store: Store, clock: Clock) -> None:
    await given(store, start(A, tasks=(task(),)), start(B, tasks=(task(worker="amy"),)))
    await lease(store)

    await clock.forward(29)
    early = await struck(store)
    await clock.forward(1)

    assert (early, sorted(await struck(store))) == ([], [(A, 1, "lost"), (B, 1, "lost")])


async def test_st7_the_leases_of_workers_that_are_known_to_be_dead_are_lost_at_once(store: Store) -> None:
    dead, far = task(worker="here-amy"), task(worker="there-bob")
    await given(store, start(A, tasks=(dead,)), start(B, tasks=(far,)), start(C, tasks=(task(),)))

    await store.deregister("here-", dead=True)

    assert await struck(store) == [(A, 1, "lost")]


async def test_st7_a_worker_that_never_gave_a_sign_of_life_is_found_out(store: Store, clock: Clock) -> None:
    await given(store, start(A, tasks=(task(heartbeat=seconds(5), worker="amy"),)))
    await clock.forward(5)

    assert await struck(store) == [(A, 1, "lost")]


async def test_st7_a_lease_that_is_renewed_is_not_lost(store: Store, clock: Clock) -> None:
    await given(store, start(A, tasks=(task(),)))
    (got,) = await lease(store)
    for _ in range(4):
        await clock.forward(29)
        await store.renew([Heartbeat(got.lease)])

    assert await struck(store) == []


async def test_st7_a_task_without_limits_waits_for_ever(store: Store, clock: Clock) -> None:
    await given(store, start(A, tasks=(task(),)))
    await clock.forward(10 * 365 * 86400)

    assert await struck(store) == []
    assert (await store.due(10, SHORT)).next is None


async def test_st7_a_struck_task_is_left_to_one_caller_for_a_while(
    store: Store, other: Store, clock: Clock
) -> None:
    await given(store, start(A, tasks=(task(worker="amy"),)))
    await clock.forward(30)

    first = await store.due(10, seconds(10))
    await clock.forward(9)
    soon = await other.due(10, seconds(10))
    await clock.forward(1)
    again = await other.due(10, seconds(10))

    assert (first.tasks, soon.tasks, again.tasks) == ([DueTask(lease_of(A), "lost")], [], first.tasks)


async def test_st7_a_struck_task_is_still_there_until_a_change_ends_it(store: Store, clock: Clock) -> None:
    await given(store, start(A, tasks=(task(worker="amy"),)))
    await clock.forward(30)
    (due,) = (await store.due(10, SHORT)).tasks

    await given(store, change(A, 1, ended=(ended(due.lease),)))
    late = await store.commit([change(A, 2, ended=(ended(lease_of(A)),))])
    await clock.forward(60)

    assert late.outcomes == ["lost"]
    assert await struck(store) == []


async def test_st7_tasks_come_the_one_that_struck_first_and_no_more_than_asked_for(
    store: Store, clock: Clock
) -> None:
    for run, limit in ((A, 30), (B, 10), (C, 20), (D, 90)):
        await given(store, start(run, tasks=(task(schedule_to_start=seconds(limit)),)))
    await clock.forward(60)

    batches = [[one.lease.run for one in (await store.due(2, SHORT)).tasks] for _ in range(3)]

    assert batches == [[B, C], [A], []]


async def test_st7_due_tells_when_the_next_task_can_strike(store: Store, clock: Clock) -> None:
    await given(store, start(A, tasks=(task(schedule_to_start=seconds(60)),)))
    waiting = (await store.due(10, SHORT)).next
    await lease(store)
    leased = (await store.due(10, SHORT)).next

    assert (waiting, leased) == (NOON + seconds(60), NOON + seconds(30))


async def test_st7_no_time_out_of_a_held_task_runs(store: Store, clock: Clock) -> None:
    limits: dict[str, Any] = {"schedule_to_start": seconds(60), "schedule_to_close": seconds(90)}
    await given(store, start(A, tasks=(task(1, held=True, **limits), task(2, **limits))))
    await given(store, change(A, 1, hold=True))
    await clock.forward(3600)

    assert await struck(store) == []


async def test_st7_a_task_that_was_held_counts_from_its_release(store: Store, clock: Clock) -> None:
    limits: dict[str, Any] = {"schedule_to_start": seconds(60), "schedule_to_close": seconds(90)}
    await given(store, start(A, tasks=(task(1, **limits), task(2, held=True, **limits))))
    await given(store, change(A, 1, hold=True))
    await clock.forward(3600)

    await given(store, change(A, 2, hold=False))
    await clock.forward(59)
    early = await struck(store)
    await clock.forward(1)

    assert early == []
    assert sorted(await struck(store)) == [(A, 1, "schedule_to_start"), (A, 2, "schedule_to_start")]


async def test_st7_the_clock_of_a_leased_task_is_not_stopped_by_a_pause(store: Store, clock: Clock) -> None:
    await given(store, start(A, tasks=(task(worker="amy", schedule_to_close=seconds(60)),)))

    await given(store, change(A, 1, hold=True))
    await clock.forward(30)
    lost = await struck(store)

    assert lost == [(A, 1, "lost")]


async def test_st7_a_resume_does_not_start_the_clocks_of_tasks_that_were_not_held(
    store: Store, clock: Clock
) -> None:
    await given(store, start(A, tasks=(task(schedule_to_start=seconds(60)),)))
    await clock.forward(50)

    await given(store, change(A, 1, hold=False))
    await clock.forward(10)

    assert await struck(store) == [(A, 1, "schedule_to_start")]


async def test_st7_a_task_given_back_has_its_whole_time_to_start_again(store: Store, clock: Clock) -> None:
    await given(store, start(A, tasks=(task(schedule_to_start=seconds(40)),)))
    await clock.forward(39)
    (got,) = await lease(store)
    await clock.forward(20)

    await store.release([got.lease])
    await clock.forward(39)
    early = await struck(store)
    await clock.forward(1)

    assert (early, await struck(store)) == ([], [(A, 1, "schedule_to_start")])


async def test_st7_giving_a_task_back_does_not_prolong_schedule_to_close(store: Store, clock: Clock) -> None:
    await given(store, start(A, tasks=(task(schedule_to_start=seconds(50), schedule_to_close=seconds(60)),)))
    (got,) = await lease(store)
    await clock.forward(20)

    await store.release([got.lease])
    await clock.forward(40)

    assert await struck(store) == [(A, 1, "schedule_to_close")]


@pytest.mark.parametrize(
    ("beat", "run_for", "whole", "first"),
    [
        (30, 60, 90, "lost"),
        (60, 30, 90, "start_to_close"),
        (60, 90, 30, "schedule_to_close"),
        (90, 60, 30, "schedule_to_close"),
        (90, 30, 60, "start_to_close"),
        (30, 90, 60, "lost"),
        (30, 30, 30, "lost"),
        (60, 30, 30, "start_to_close"),
    ],
)
async def test_st7_the_limit_whose_time_came_first_is_told_however_late_one_looks(
    store: Store, clock: Clock, beat: int, run_for: int, whole: int, first: str
) -> None:
    limits: dict[str, Any] = {"start_to_close": seconds(run_for), "schedule_to_close": seconds(whole)}
    await given(store, start(A, tasks=(task(heartbeat=seconds(beat), **limits),)))
    await lease(store)

    await clock.forward(3600)

    assert await struck(store) == [(A, 1, first)]
