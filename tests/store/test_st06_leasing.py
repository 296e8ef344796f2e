"""ST5 and ST6: a lease is one worker's; the highest priority comes first, then what was queued first."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

from penstock.store.protocol import Store
from penstock.store.rows.rows import Leased, QueueRow, TaskRow
from tests.store.builders import (
    BEAT,
    NOON,
    A,
    B,
    C,
    D,
    change,
    ended,
    given,
    lease,
    lease_of,
    leased_runs,
    run_id,
    seconds,
    start,
    task,
)
from tests.store.conftest import Clock


async def test_st6_a_task_is_handed_out_with_all_that_a_worker_must_know(store: Store) -> None:
    new = task(3, 7, attempt=2, task="resize", task_list="gpu", start_to_close=seconds(90))
    await given(store, start(A, tasks=(new,)))

    got = await lease(store, task_lists=("gpu",))

    wanted = lease_of(A, 3, 7, attempt=2, fence=1)
    assert got == [Leased(wanted, "resize", "gpu", NOON + BEAT, NOON + seconds(90))]


async def test_st6_a_lease_without_a_time_out_has_no_deadline(store: Store) -> None:
    await given(store, start(A, tasks=(task(schedule_to_start=seconds(60)),)))

    assert [got.deadline for got in await lease(store)] == [None]


async def test_st6_the_deadline_is_the_earlier_of_the_two_ends(store: Store, clock: Clock) -> None:
    limits = [(40, 100), (100, 40), (None, 50), (50, None)]
    for n, (run_for, whole) in enumerate(limits, 1):
        close = None if whole is None else seconds(whole)
        run = None if run_for is None else seconds(run_for)
        await given(store, start(run_id(n), tasks=(task(start_to_close=run, schedule_to_close=close),)))
    await clock.forward(10)

    deadlines = {got.lease.run: got.deadline for got in await lease(store)}

    after = [50, 40, 50, 60]
    assert deadlines == {run_id(n): NOON + seconds(s) for n, s in enumerate(after, 1)}


async def test_st6_the_highest_priority_comes_first_then_the_oldest(store: Store, clock: Clock) -> None:
    for run, priority in ((A, 0), (B, 5), (C, -3), (D, 5)):
        await given(store, start(run, tasks=(task(priority=priority),)))
        await clock.forward(1)

    assert [await leased_runs(store, 1) for _ in range(2)] == [[B], [D]]
    assert await leased_runs(store) == [A, C]


async def test_st6_what_was_queued_first_comes_first_whatever_its_id(store: Store, clock: Clock) -> None:
    for run in (C, A, D, B):
        await given(store, start(run, tasks=(task(),)))
        await clock.forward(1)

    assert [await leased_runs(store, 1) for _ in range(5)] == [[C], [A], [D], [B], []]


async def test_st6_tasks_queued_at_once_come_in_the_order_of_their_changes(store: Store) -> None:
    await store.commit([start(run, tasks=(task(2), task(1))) for run in (C, A, B)])

    handed = [(got.lease.run, got.lease.firing) for got in await lease(store)]
    assert handed == [(run, firing) for run in (C, A, B) for firing in (2, 1)]


async def test_st6_what_was_given_back_is_first_though_it_was_not_queued_first(
    store: Store, clock: Clock
) -> None:
    for run in (A, B, C, D):
        await given(store, start(run, tasks=(task(),)))
        await clock.forward(1)
    got = await lease(store, 3)

    await store.release([got[1].lease])
    await store.release([got[0].lease])

    assert await leased_runs(store) == [A, B, D]


async def test_st6_a_task_given_back_by_a_paused_run_is_held(store: Store) -> None:
    await given(store, start(A, tasks=(task(worker="amy"),)), change(A, 1, status="paused", hold=True))

    await store.release([lease_of(A)])

    assert await leased_runs(store) == []
    await given(store, change(A, 2, hold=False))
    assert await leased_runs(store) == [A]


async def test_st6_a_task_whose_time_to_start_is_over_is_not_handed_out(store: Store, clock: Clock) -> None:
    await given(store, start(A, tasks=(task(schedule_to_start=seconds(60)),)))
    await given(store, start(B, tasks=(task(schedule_to_close=seconds(60)),)))
    await clock.forward(60)

    assert await leased_runs(store) == []


async def test_st6_one_order_goes_through_all_the_lists_asked_for(store: Store, clock: Clock) -> None:
    for run, name, priority in ((A, "x", 0), (B, "y", 1), (C, "x", 2), (D, "z", 3)):
        await given(store, start(run, tasks=(task(task_list=name, priority=priority),)))
        await clock.forward(1)

    assert await leased_runs(store, 2, task_lists=("x", "y")) == [C, B]
    assert await leased_runs(store, 2, task_lists=("x", "y")) == [A]
    assert await leased_runs(store, 2, task_lists=("nothing",)) == []
    assert await leased_runs(store, 2, task_lists=()) == []


async def test_st6_only_the_tasks_asked_for_are_handed_out(store: Store) -> None:
    await given(store, start(A, tasks=(task(task="a"),)), start(B, tasks=(task(task="b"),)))

    assert await leased_runs(store, tasks=("b", "c")) == [B]
    assert await leased_runs(store, tasks=()) == []
    assert await leased_runs(store, tasks=None) == [A]


async def test_st6_nobody_gets_more_than_asked_for(store: Store) -> None:
    await given(store, start(A, tasks=tuple(task(1, n) for n in range(5))))

    assert [len(await lease(store, n)) for n in (0, 2, 1, 10)] == [0, 2, 1, 2]


async def test_st5_two_workers_that_ask_at_once_get_different_tasks(store: Store, other: Store) -> None:
    await store.commit([start(run_id(n), tasks=(task(),)) for n in range(1, 101)])

    hands = await asyncio.gather(
        *(
            lease(node, 30, worker)
            for node, worker in ((store, "a"), (other, "b"), (store, "c"), (other, "d"))
        )
    )

    handed = Counter(got.lease.run for hand in hands for got in hand)
    rest = Counter(await leased_runs(store, 200))
    assert max(len(hand) for hand in hands) <= 30
    assert handed + rest == Counter(run_id(n) for n in range(1, 101))


async def test_st5_a_leased_task_is_not_handed_out_even_when_its_lease_ran_out(
    store: Store, clock: Clock
) -> None:
    await given(store, start(A, tasks=(task(),)))
    await lease(store, worker="amy")
    await clock.forward(3600)

    assert await lease(store, worker="bob") == []


async def test_st6_a_held_task_is_not_handed_out(store: Store) -> None:
    await given(store, start(A, tasks=(task(1, held=True), task(2))))

    assert [got.lease.firing for got in await lease(store)] == [2]


async def test_st6_a_pause_holds_what_no_worker_has(store: Store) -> None:
    await given(store, start(A, tasks=(task(1, worker="amy"), task(2))), start(B, tasks=(task(),)))

    await given(store, change(A, 1, hold=True))

    assert await leased_runs(store) == [B]
    assert [(row.lease.firing, row.held) for row in await store.tasks(A)] == [(1, False), (2, True)]
    assert [renewal.expires for renewal in await store.renew([])] == []


async def test_st6_a_pause_holds_tasks_of_every_kind(store: Store) -> None:
    kinds: list[dict[str, Any]] = [
        {"priority": 5},
        {"priority": -5},
        {"task": "other"},
        {"task_list": "l"},
        {"attempt": 2},
        {"index": 3},
        {"schedule_to_start": seconds(60)},
        {"start_to_close": seconds(60)},
        {"schedule_to_close": seconds(60)},
    ]
    await given(store, start(A, tasks=tuple(task(n, **kind) for n, kind in enumerate(kinds, 1))))

    await given(store, change(A, 1, status="paused", hold=True))

    assert [row.held for row in await store.tasks(A)] == [True] * len(kinds)
    assert await lease(store, task_lists=["default", "l"]) == []


async def test_st6_a_resumed_run_has_its_tasks_handed_out(store: Store) -> None:
    await given(store, start(A, tasks=(task(1), task(2, held=True))), change(A, 1, hold=True))

    await given(store, change(A, 2, hold=False))

    assert sorted(got.lease.firing for got in await lease(store)) == [1, 2]


async def test_st6_a_task_made_by_the_change_that_resumes_is_free(store: Store) -> None:
    await given(store, start(A), change(A, 1, hold=True), change(A, 2, hold=False, tasks=(task(),)))

    assert await leased_runs(store) == [A]


async def test_st6_a_task_row_shows_where_the_task_is(store: Store, clock: Clock) -> None:
    await given(store, start(A, tasks=(task(1, task_list="l"), task(2, 0, held=True))))
    now = await clock.forward(5)
    await lease(store, worker="amy", task_lists=("l",))

    common: dict[str, Any] = {"task": "t", "queued_at": NOON, "progress": None}
    assert await store.tasks(A) == [
        TaskRow(lease=lease_of(A), task_list="l", worker="amy", held=False, started_at=now, **common),
        TaskRow(
            lease=lease_of(A, 2, 0, fence=0),
            task_list="default",
            worker=None,
            held=True,
            started_at=None,
            **common,
        ),
    ]
    assert await store.tasks(B) == []


async def test_st6_queues_count_what_waits_is_held_and_is_under_way(store: Store, clock: Clock) -> None:
    await given(store, start(A, tasks=(task(1), task(2, worker="amy"), task(3, task_list="b", held=True))))
    now = await clock.forward(5)
    await given(store, start(B, tasks=(task(1), task(2), task(3, task_list="c"))))
    (first,) = await lease(store, 1)

    assert first.lease.run == A
    assert await store.queues() == [
        QueueRow(task_list="b", ready=0, held=1, leased=0, oldest=None),
        QueueRow(task_list="c", ready=1, held=0, leased=0, oldest=now),
        QueueRow(task_list="default", ready=2, held=0, leased=2, oldest=now),
    ]


async def test_st6_an_ended_task_leaves_its_queue(store: Store) -> None:
    await given(store, start(A, tasks=(task(),)))
    (got,) = await lease(store)

    await given(store, change(A, 1, ended=(ended(got.lease),)))

    assert await store.queues() == []
