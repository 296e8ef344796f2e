"""Runs that are made, many at once, with nothing rare about them: as if each were written by itself."""

from __future__ import annotations

from penstock.store.protocol import Store
from penstock.store.rows.change import Change, NewRun
from penstock.store.rows.rows import Filter, StoredRun
from tests.store.builders import A, B, C, given, new_run, publish, revisions, start, task, wish


def begun(run: str, new: NewRun | None = None, **more: object) -> Change:
    return start(run, new, has_extras=False, **more)


async def test_st1_plain_runs_are_there_with_history_and_tasks(store: Store) -> None:
    committed = await store.commit(
        [begun(A, tasks=(task(1), task(2))), begun(B, page=None), begun(C, tasks=(task(1, worker="amy"),))]
    )

    assert committed.outcomes == ["applied"] * 3
    assert (committed.messages, committed.fence) == ([], 1)
    assert await store.load([A]) == [StoredRun(A, 1, b"header", b"head 1", ())]
    assert [await store.pages(run, 0, 10) for run in (A, B)] == [[b"page 1"], []]
    leased = await store.lease(wish(task_lists=("default",)))
    assert [(each.lease.run, each.lease.firing) for each in leased] == [(A, 1), (A, 2)]
    [mine] = await store.tasks(C)
    assert (mine.worker, mine.lease.fence) == ("amy", 1)


async def test_st1_a_plain_run_that_is_there_already_is_left_alone_and_the_others_are_made(
    store: Store,
) -> None:
    await given(store, start(A))
    committed = await store.commit(
        [begun(A, head=b"other", page=b"other", tasks=(task(7),)), begun(B, tasks=(task(1),))]
    )

    assert committed.outcomes == ["stale", "applied"]
    assert await store.load([A]) == [StoredRun(A, 1, b"header", b"head 1", ())]
    assert await store.pages(A, 0, 10) == [b"page 1"]
    assert (await store.tasks(A), len(await store.tasks(B))) == ([], 1)


async def test_st1_of_plain_runs_that_were_decided_on_a_pause_that_is_over_none_is_made(store: Store) -> None:
    for name in ("w", "v"):
        await publish(store, name, "{}", b"", None, True)
    await store.set_paused("w", True, b"")
    committed = await store.commit(
        [begun(A), begun(B, new_run(paused=(True, False))), begun(C, new_run(workflow="v"))]
    )

    assert committed.outcomes == ["stale", "applied", "applied"]
    assert await revisions(store, A, B, C) == [None, 1, 1]


async def test_st1_plain_runs_of_a_version_that_is_not_the_newest_any_more_are_not_made(store: Store) -> None:
    await publish(store, "w", "{}", b"", None, True)
    await publish(store, "w", "{ }", b"", None, True)
    committed = await store.commit([begun(A, new_run(latest=1)), begun(B, new_run(latest=2))])

    assert committed.outcomes == ["stale", "applied"]


async def test_st1_plain_runs_are_not_made_while_everything_is_paused(store: Store) -> None:
    await publish(store, "w", "{}", b"", None, True)
    await store.set_paused(None, True, b"")
    committed = await store.commit([begun(A), begun(B, new_run(paused=(False, True)))])

    assert committed.outcomes == ["stale", "applied"]
    assert [row.id for row in await store.runs(Filter(limit=10))] == [B]


async def test_st1_a_plain_run_that_comes_twice_in_one_batch_is_made_once(store: Store) -> None:
    committed = await store.commit([begun(A), begun(A, head=b"second")])

    assert committed.outcomes == ["applied", "stale"]
    assert await store.load([A]) == [StoredRun(A, 1, b"header", b"head 1", ())]
