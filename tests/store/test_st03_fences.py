"""ST3 and ST5: a task is ended only by who holds its lease, and every lease has a higher fence."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import timedelta

import pytest
from msgspec.structs import replace

from penstock.store.protocol import Store
from penstock.store.rows.change import EndedTask
from penstock.store.rows.rows import Heartbeat, Lease, Renewal
from tests.store.builders import (
    BEAT,
    NOON,
    A,
    B,
    change,
    ended,
    given,
    lease,
    lease_of,
    revisions,
    run_id,
    seconds,
    start,
    task,
)
from tests.store.conftest import Clock


async def test_st3_who_holds_the_lease_ends_the_task(store: Store) -> None:
    await given(store, start(A, tasks=(task(),)))
    (got,) = await lease(store)

    await given(store, change(A, 1, ended=(ended(got.lease),)))

    assert await store.tasks(A) == []


@pytest.mark.parametrize(
    "wrong",
    [{"fence": 0}, {"fence": 2}, {"attempt": 2}, {"firing": 2}, {"index": 0}],
    ids=lambda wrong: next(iter(wrong)),
)
async def test_st3_a_stale_fence_ends_nothing(store: Store, wrong: dict[str, int]) -> None:
    await given(store, start(A, tasks=(task(),)))
    (got,) = await lease(store)

    committed = await store.commit([change(A, 1, ended=(replace(ended(got.lease), **wrong),))])

    assert committed.outcomes == ["lost"]
    assert [row.lease for row in await store.tasks(A)] == [got.lease]
    assert await revisions(store, A) == [1]


async def test_st3_one_lost_task_of_several_ends_none(store: Store) -> None:
    await given(store, start(A, tasks=(task(1), task(2))))
    first, second = (got.lease for got in await lease(store))

    committed = await store.commit([change(A, 1, ended=(ended(first), replace(ended(second), fence=9)))])

    assert committed.outcomes == ["lost"]
    assert {row.lease for row in await store.tasks(A)} == {first, second}


async def test_st3_a_task_that_nobody_has_is_ended_with_the_fence_of_its_row(store: Store) -> None:
    await given(store, start(A, tasks=(task(),)))
    (row,) = await store.tasks(A)

    await given(store, change(A, 1, ended=(ended(row.lease),)))

    assert (row.worker, row.lease.fence) == (None, 0)
    assert await store.tasks(A) == []


async def test_st3_the_fence_of_a_released_and_leased_task_is_that_of_the_new_lease(store: Store) -> None:
    await given(store, start(A, tasks=(task(),)))
    (old,) = await lease(store, worker="amy")
    await store.release([old.lease])
    (new,) = await lease(store, worker="bob")

    late = await store.commit([change(A, 1, ended=(ended(old.lease),))])
    in_time = await store.commit([change(A, 1, ended=(ended(new.lease),))])

    assert (old.lease.attempt, new.lease.attempt) == (1, 1)
    assert new.lease.fence > old.lease.fence
    assert (late.outcomes, in_time.outcomes) == (["lost"], ["applied"])


async def test_st3_the_task_of_another_run_is_not_ended(store: Store) -> None:
    await given(store, start(A, tasks=(task(),)), start(B))
    (got,) = await lease(store)

    assert (await store.commit([change(B, 1, ended=(ended(got.lease),))])).outcomes == ["lost"]
    assert [row.lease for row in await store.tasks(A)] == [got.lease]


async def test_st3_of_two_reports_of_one_lease_exactly_one_is_applied(store: Store, other: Store) -> None:
    for n in range(1, 11):
        run = run_id(n)
        await given(store, start(run, tasks=(task(worker="amy"),)))
        report = EndedTask(1, -1, 1, 1)

        both = await asyncio.gather(
            store.commit([change(run, 1, ended=(report,))]), other.commit([change(run, 1, ended=(report,))])
        )

        outcomes = Counter(outcome for one in both for outcome in one.outcomes)
        assert outcomes["applied"] == 1 and outcomes["stale"] + outcomes["lost"] == 1


async def test_st3_the_next_attempt_takes_the_place_of_the_one_that_ended(store: Store) -> None:
    await given(store, start(A, tasks=(task(),)))
    (got,) = await lease(store)

    await given(store, change(A, 1, ended=(ended(got.lease),), tasks=(task(attempt=2, worker="amy"),)))

    assert [row.lease for row in await store.tasks(A)] == [lease_of(A, attempt=2)]


async def test_st5_a_task_made_for_a_worker_is_leased_with_fence_one(store: Store, clock: Clock) -> None:
    assert (await store.commit([start(A, tasks=(task(worker="amy"),))])).fence == 1

    assert await lease(store, worker="bob") == []
    assert [(row.lease, row.worker, row.started_at) for row in await store.tasks(A)] == [
        (lease_of(A), "amy", NOON)
    ]
    assert await store.renew([Heartbeat(lease_of(A))]) == [Renewal(NOON + BEAT)]


async def test_st5_a_void_task_is_gone_whoever_has_it(store: Store) -> None:
    await given(store, start(A, tasks=(task(1), task(2, 0), task(2, 1, worker="amy"), task(3))))

    await given(store, change(A, 1, void=((2, 0), (2, 1), (9, 9))))

    assert [row.lease.firing for row in await store.tasks(A)] == [1, 3]
    assert await store.renew([Heartbeat(lease_of(A, 2, 1))]) == [Renewal(None)]


async def test_st5_a_heartbeat_prolongs_the_lease(store: Store, clock: Clock) -> None:
    await given(store, start(A, tasks=(task(start_to_close=timedelta(minutes=5)),)))
    (got,) = await lease(store)
    now = await clock.forward(20)

    renewed = await store.renew([Heartbeat(got.lease, b'{"done": 1}')])

    assert (got.expires, got.deadline) == (NOON + BEAT, NOON + timedelta(minutes=5))
    assert renewed == [Renewal(now + BEAT, NOON + timedelta(minutes=5))]
    assert [row.progress for row in await store.tasks(A)] == [b'{"done": 1}']


async def test_st5_a_heartbeat_without_progress_leaves_what_was_said(store: Store) -> None:
    await given(store, start(A, tasks=(task(),)))
    (got,) = await lease(store)

    await store.renew([Heartbeat(got.lease, b"50")])
    await store.renew([Heartbeat(got.lease)])

    assert [row.progress for row in await store.tasks(A)] == [b"50"]


async def test_st5_heartbeats_are_answered_one_by_one_in_their_order(store: Store) -> None:
    await given(store, start(A, tasks=(task(1), task(2))), start(B, tasks=(task(),)))
    one, two, three = (got.lease for got in await lease(store))
    await store.release([two])
    gone = Lease(run_id(99), 1, -1, 1, 1)

    renewed = await store.renew(
        [Heartbeat(three), Heartbeat(two), Heartbeat(gone), Heartbeat(one), Heartbeat(replace(one, fence=7))]
    )

    assert [renewal.expires for renewal in renewed] == [NOON + BEAT, None, None, NOON + BEAT, None]
    assert await store.renew([]) == []


async def test_st5_a_lease_that_was_given_on_is_not_renewed(store: Store, clock: Clock) -> None:
    await given(store, start(A, tasks=(task(),)))
    (old,) = await lease(store)
    await store.release([old.lease])
    (new,) = await lease(store, worker="bob")
    await clock.forward(10)

    assert await store.renew([Heartbeat(old.lease, b"zombie")]) == [Renewal(None)]
    assert [(row.lease, row.progress) for row in await store.tasks(A)] == [(new.lease, None)]
    assert await store.release([old.lease]) == [False]


async def test_st5_the_heartbeat_of_an_ended_task_is_lost(store: Store) -> None:
    await given(store, start(A, tasks=(task(),)))
    (got,) = await lease(store)
    await given(store, change(A, 1, ended=(ended(got.lease),)))

    assert await store.renew([Heartbeat(got.lease)]) == [Renewal(None)]
    assert await store.release([got.lease]) == [False]


async def test_st5_a_released_task_costs_no_attempt_and_is_first_again(store: Store, clock: Clock) -> None:
    await given(store, start(A, tasks=(task(),)))
    await clock.forward(1)
    await given(store, start(B, tasks=(task(),)))
    (old,) = await lease(store, 1)
    await store.renew([Heartbeat(old.lease, b"half")])

    assert await store.release([old.lease, replace(old.lease, run=B)]) == [True, False]

    (row,) = await store.tasks(A)
    assert (row.worker, row.started_at, row.lease.attempt) == (None, None, 1)
    assert [got.lease.run for got in await lease(store)] == [A, B]
    assert await store.release([]) == []


async def test_st5_a_released_task_does_not_count_as_lost(store: Store, clock: Clock) -> None:
    await given(store, start(A, tasks=(task(),)))
    (got,) = await lease(store)
    await store.release([got.lease])
    await clock.forward(600)

    assert (await store.due(10, seconds(1))).tasks == []


async def test_st5_a_lease_that_ran_out_is_not_renewed(store: Store, clock: Clock) -> None:
    await given(store, start(A, tasks=(task(1), task(2))))
    one, two = (got.lease for got in await lease(store))
    now = await clock.forward(29.999999)
    in_time = await store.renew([Heartbeat(two)])
    await clock.forward(0.000001)

    late = await store.renew([Heartbeat(one, b"late"), Heartbeat(two)])

    assert in_time == [Renewal(now + BEAT)]
    assert late == [Renewal(None), Renewal(now + seconds(0.000001) + BEAT)]
    assert [row.progress for row in await store.tasks(A)] == [None, None]


async def test_st5_a_task_handed_out_as_lost_is_ended_whatever_its_worker_says_then(
    store: Store, other: Store, clock: Clock
) -> None:
    await given(store, start(A, tasks=(task(),)))
    (got,) = await lease(store)
    await clock.forward(30)
    (due,) = (await store.due(10, seconds(10))).tasks

    assert await other.renew([Heartbeat(got.lease)]) == [Renewal(None)]
    assert await other.release([got.lease]) == [False]
    assert (await store.due(10, seconds(10))).tasks == []
    await given(store, change(A, 1, ended=(ended(due.lease),)))


async def test_st5_a_lease_that_ran_out_is_not_given_back(store: Store, clock: Clock) -> None:
    await given(store, start(A, tasks=(task(),)))
    (got,) = await lease(store)
    await clock.forward(30)

    assert await store.release([got.lease]) == [False]
    assert [(row.lease, row.worker) for row in await store.tasks(A)] == [(got.lease, "amy")]


async def test_st3_in_a_batch_of_many_each_is_judged_by_itself(store: Store) -> None:
    runs = [run_id(number) for number in range(700)]
    leased = tuple([task(worker="amy")])
    made = await store.commit([start(run, tasks=leased, has_extras=False) for run in runs])
    held, wrong = lease_of(runs[0], fence=made.fence), lease_of(runs[0], fence=made.fence + 1)

    committed = await store.commit(
        [
            change(
                run,
                7 if n == 650 else 1,
                ended=(ended(wrong if n == 3 else held),),
                tasks=(task(2),),
                has_extras=False,
            )
            for n, run in enumerate(runs)
        ]
    )

    assert Counter(made.outcomes) == {"applied": 700}
    assert {n: outcome for n, outcome in enumerate(committed.outcomes) if outcome != "applied"} == {
        3: "lost",
        650: "stale",
    }
    assert Counter(await revisions(store, *runs)) == {1: 2, 2: 698}
    firings = [[row.lease.firing for row in await store.tasks(run)] for run in (runs[0], runs[3], runs[699])]
    assert firings == [[2], [1], [2]]
