"""Runs that go on by a step, with nothing rare about it: as if each were written by itself, and as if many were."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from penstock.store.postgres.commit import commit
from penstock.store.protocol import Store
from penstock.store.rows.change import Change
from penstock.store.rows.rows import Lease, StoredRun
from tests.store.builders import (
    NOON,
    SHORT,
    A,
    B,
    C,
    D,
    change,
    end,
    ended,
    given,
    lease,
    lease_of,
    lock,
    pending_event,
    revisions,
    start,
    task,
)


def step(run: str, base: int = 1, lease: Lease | None = None, **more: Any) -> Change:
    """The one task of a run ended, and the next one is made."""
    mine = lease or lease_of(run, base)
    return change(
        run, base, has_extras=False, goes_on=True, ended=(ended(mine),), tasks=(task(base + 1),), **more
    )


def last(run: str, base: int = 1, lease: Lease | None = None, **more: Any) -> Change:
    return end(run, base, has_extras=False, ended=(ended(lease or lease_of(run, base)),), **more)


def under_way(run: str, **more: Any) -> Change:
    return start(run, has_extras=False, tasks=(task(1, worker="amy"),), **more)


@pytest.fixture(params=[16, 0], ids=["at once", "by statements"], autouse=True)
def few(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways of PostgreSQL; SQLite has one."""
    monkeypatch.setattr(commit, "MAX_STEPS", request.param)


async def tasks_of(store: Store, runs: Sequence[str]) -> list[list[int]]:
    return [[row.lease.firing for row in await store.tasks(run)] for run in runs]


async def test_st1_a_step_is_written_with_its_history_and_the_next_task(store: Store) -> None:
    await given(store, under_way(A), under_way(B))
    committed = await store.commit([step(B), step(A, page=None)])

    assert committed.outcomes == ["applied"] * 2
    assert (committed.messages, committed.fence) == ([], 1)
    assert await store.load([A]) == [StoredRun(A, 2, b"header", b"head 2", ())]
    assert [await store.pages(run, 0, 10) for run in (A, B)] == [[b"page 1"], [b"page 1", b"page 2"]]
    assert await tasks_of(store, (A, B)) == [[2], [2]]
    assert sorted(each.lease.run for each in await lease(store)) == [A, B]


async def test_st1_the_next_task_is_leased_at_once_where_that_is_wanted(store: Store) -> None:
    await given(store, under_way(A))
    committed = await store.commit([replace(step(A), tasks=(task(2, worker="amy"), task(3)))])

    handed, waiting = await store.tasks(A)
    assert (handed.worker, handed.lease.fence, waiting.worker) == ("amy", committed.fence, None)
    assert [each.lease.firing for each in await lease(store)] == [3]


async def test_st2_a_step_from_another_revision_changes_nothing(store: Store) -> None:
    await given(store, under_way(A), under_way(B), step(A))
    committed = await store.commit([step(A), step(B)])

    assert committed.outcomes == ["stale", "applied"]
    assert await revisions(store, A, B) == [2, 2]
    assert await tasks_of(store, (A, B)) == [[2], [2]]
    assert await store.pages(A, 0, 10) == [b"page 1", b"page 2"]


async def test_st2_a_step_from_another_revision_changes_nothing_though_its_task_is_there(
    store: Store,
) -> None:
    await given(store, replace(under_way(A), tasks=(task(1, worker="amy"), task(7, worker="amy"))))
    await given(store, change(A, 1, ended=(ended(lease_of(A, 7)),)))
    committed = await store.commit([step(A)])

    assert committed.outcomes == ["stale"]
    assert (await revisions(store, A), await tasks_of(store, (A,))) == ([2], [[1]])


@pytest.mark.parametrize("wrong", ["fence", "attempt", "firing", "index"])
async def test_st3_a_step_whose_task_another_has_changes_nothing(store: Store, wrong: str) -> None:
    await given(store, under_way(A), under_way(B))
    mine = replace(lease_of(A), **{wrong: 7})
    committed = await store.commit([step(A, lease=mine), step(B)])

    assert committed.outcomes == ["lost", "applied"]
    assert await revisions(store, A, B) == [1, 2]
    assert await tasks_of(store, (A, B)) == [[1], [2]]
    assert await store.pages(A, 0, 10) == [b"page 1"]


async def test_st1_a_run_that_is_not_there_does_not_go_on(store: Store) -> None:
    await given(store, under_way(B))
    assert (await store.commit([step(A), step(B)])).outcomes == ["stale", "applied"]
    assert await tasks_of(store, (A,)) == [[]]


async def test_st1_what_is_left_of_a_run_goes_with_its_last_step(store: Store) -> None:
    await given(store, replace(under_way(A), has_extras=True, tasks=(task(1, worker="amy"), task(5))))
    await given(store, change(A, 1, timers=((NOON, b"tick"),)), under_way(B))
    committed = await store.commit([last(A, 2, lease_of(A, 1)), step(B)])

    assert committed.outcomes == ["applied"] * 2
    assert await tasks_of(store, (A, B)) == [[], [2]]
    [row] = [row for row in await store.load([A]) if row]
    assert row.revision == 3
    assert (await store.due(10, SHORT)).timers == []
    assert await store.check() == []


async def test_st8_who_waits_for_the_keys_of_a_run_is_told_at_its_last_step(store: Store) -> None:
    await given(store, under_way(A), under_way(B), under_way(C), under_way(D))
    await given(store, change(A, 1, locks=(lock("key"),)), change(B, 1, locks=(lock("key", body=b"mine"),)))
    await given(store, change(C, 1, keys=(("order", "1"),)))
    committed = await store.commit([last(A, 2, lease_of(A, 1)), last(C, 2, lease_of(C, 1)), last(D, at=NOON)])

    assert committed.outcomes == ["applied"] * 3
    assert [(message.run, message.body) for message in committed.messages] == [(B, b"mine")]
    assert await given(store, change(B, 2, pending_events=(pending_event(("order", "1")),))) == []
    assert await store.check() == []


async def test_st1_a_step_that_comes_twice_in_one_batch_is_done_once(store: Store) -> None:
    await given(store, under_way(A))
    committed = await store.commit([step(A), step(A, head=b"second")])

    assert committed.outcomes == ["applied", "stale"]
    assert await store.load([A]) == [StoredRun(A, 2, b"header", b"head 2", ())]
