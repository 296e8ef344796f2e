"""ST2: a change is applied only where its run is at `base`; a new run only where there is none."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from penstock.store.protocol import Store
from penstock.store.rows.change import Change
from tests.store.builders import A, B, C, D, change, given, mail, new_run, publish, revisions, run_id, start


async def test_st2_a_change_of_an_older_revision_is_stale(store: Store) -> None:
    await given(store, start(A), change(A, 1))

    committed = await store.commit([change(A, 1, head=b"late")])

    assert committed.outcomes == ["stale"]
    assert [one and one.head for one in await store.load([A])] == [b"head 2"]


async def test_st2_a_change_of_a_later_revision_is_stale(store: Store) -> None:
    await given(store, start(A))

    assert (await store.commit([change(A, 2)])).outcomes == ["stale"]


async def test_st2_a_revision_may_rise_by_more_than_one(store: Store) -> None:
    await given(store, start(A, revision=5, seq=5), change(A, 5, revision=9, seq=9))

    assert await revisions(store, A) == [9]


async def test_st2_a_change_of_a_run_that_is_not_there_is_stale(store: Store) -> None:
    assert (await store.commit([change(A, 0), change(B, 1)])).outcomes == ["stale", "stale"]
    assert await store.load([A, B]) == [None, None]


async def test_st2_a_run_is_made_once(store: Store) -> None:
    await given(store, start(A, new_run(header=b"first")))

    committed = await store.commit([start(A, new_run(header=b"second"))])

    assert committed.outcomes == ["stale"]
    assert [one and one.header for one in await store.load([A])] == [b"first"]


async def both(store: Store, other: Store, one: Change, two: Change) -> list[str]:
    """Two nodes commit at once."""
    first, second = await asyncio.gather(store.commit([one]), other.commit([two]))
    return [*first.outcomes, *second.outcomes]


async def test_st2_of_two_changes_of_one_base_exactly_one_is_applied(store: Store, other: Store) -> None:
    await given(store, start(A))

    for base in range(1, 21):
        outcomes = await both(store, other, change(A, base, head=b"one"), change(A, base, head=b"two"))
        assert Counter(outcomes) == {"applied": 1, "stale": 1}

    assert await store.pages(A, 0, 100) == [f"page {n}".encode() for n in range(1, 22)]


async def test_st2_of_two_starts_of_one_run_exactly_one_is_applied(store: Store, other: Store) -> None:
    for n in range(1, 11):
        outcomes = await both(store, other, start(run_id(n)), start(run_id(n)))
        assert Counter(outcomes) == {"applied": 1, "stale": 1}


async def test_st2_batches_that_overlap_in_other_orders_apply_each_run_once(
    store: Store, other: Store
) -> None:
    runs = [run_id(n) for n in range(1, 41)]
    await store.commit([start(run) for run in runs])

    batches = await asyncio.gather(
        store.commit([change(run, 1) for run in runs]),
        other.commit([change(run, 1) for run in reversed(runs)]),
        store.commit([change(run, 1) for run in runs[::2] + runs[1::2]]),
        other.commit([change(run, 1) for run in runs[10:]]),
    )

    applied = sum(Counter(batch.outcomes)["applied"] for batch in batches)
    assert applied == len(runs)
    assert await revisions(store, *runs) == [2] * len(runs)


async def test_st2_a_start_key_starts_one_run(store: Store) -> None:
    await given(store, start(A, new_run(start_key=("order 7", b"digest"))))

    again = await store.commit([start(B, new_run(start_key=("order 7", b"other")))])

    assert again.outcomes == ["known"]
    assert await store.start_key("w", "order 7") == (A, b"digest")
    assert await store.start_key("w", "order 8") is None
    assert await store.load([B]) == [None]


async def test_st2_a_start_key_is_one_workflows_own(store: Store) -> None:
    await given(
        store,
        start(A, new_run(workflow="w", start_key=("k", b"1"))),
        start(B, new_run(workflow="v", start_key=("k", b"2"))),
    )

    assert [await store.start_key(name, "k") for name in ("w", "v")] == [(A, b"1"), (B, b"2")]


async def test_st2_a_start_key_used_twice_in_one_batch_starts_one_run(store: Store) -> None:
    committed = await store.commit([start(run, new_run(start_key=("k", b""))) for run in (A, B)])

    assert Counter(committed.outcomes) == {"applied": 1, "known": 1}
    assert Counter(await revisions(store, A, B)) == {1: 1, None: 1}


async def test_st2_a_start_key_used_by_two_nodes_at_once_starts_one_run(store: Store, other: Store) -> None:
    for n in range(1, 11):
        key = (f"k{n}", b"")
        one, two = (start(run_id(2 * n + i), new_run(start_key=key)) for i in (0, 1))

        assert Counter(await both(store, other, one, two)) == {"applied": 1, "known": 1}


async def test_st2_a_start_that_is_sent_twice_is_known_by_its_key(store: Store) -> None:
    again = start(A, new_run(start_key=("k", b"digest")))
    await given(store, again)

    assert (await store.commit([again])).outcomes == ["known"]
    assert await store.start_key("w", "k") == (A, b"digest")


@pytest.mark.parametrize("workflow", [None, "w"])
async def test_st2_a_run_is_not_made_as_if_nothing_were_paused(store: Store, workflow: str | None) -> None:
    await publish(store, "w", "1", b"", None, True)
    await store.set_paused(workflow, True, b"pause")
    paused = (workflow == "w", workflow is None)

    outcomes = (await store.commit([start(A), start(B, new_run(paused=paused))])).outcomes
    await store.set_paused(workflow, False, b"resume")
    resumed = (await store.commit([start(C, new_run(paused=paused)), start(D)])).outcomes

    assert (outcomes, resumed) == (["stale", "applied"], ["stale", "applied"])
    assert await revisions(store, A, B, C, D) == [None, 1, None, 1]


async def test_st2_of_a_workflow_that_was_never_published_no_pause_is_compared(store: Store) -> None:
    await store.set_paused(None, True, b"pause")

    assert (await store.commit([start(A), start(B, new_run(paused=(True, False)))])).outcomes == [
        "applied"
    ] * 2


async def test_st2_a_run_is_not_made_of_a_version_that_is_not_the_newest_any_more(store: Store) -> None:
    for text in ("1", "2"):
        await publish(store, "w", text, b"", None, True)
    news = [new_run(latest=latest) for latest in (1, 2, None)]

    outcomes = (await store.commit([start(run_id(n), new) for n, new in enumerate(news, 1)])).outcomes

    assert outcomes == ["stale", "applied", "applied"]


async def test_st2_each_run_is_compared_with_its_own_workflow(store: Store) -> None:
    for name in ("v", "w"):
        await publish(store, name, "1", b"", None, True)
    await store.set_paused("v", True, b"pause")
    news = [new_run(workflow=name, paused=(said, False)) for name in ("v", "w") for said in (False, True)]

    outcomes = (await store.commit([start(run_id(n), new) for n, new in enumerate(news, 1)])).outcomes

    assert outcomes == ["stale", "applied", "applied", "stale"]


async def test_st2_a_start_that_is_stale_by_a_pause_leaves_its_start_key_to_the_next(store: Store) -> None:
    await publish(store, "w", "1", b"", None, True)
    await given(store, start(D, new_run(start_key=("old", b""))))
    await store.set_paused("w", True, b"pause")
    key = ("new", b"")
    late = start(A, new_run(start_key=key))
    right = start(B, new_run(start_key=key, paused=(True, False)))
    known = start(C, new_run(start_key=("old", b"")))

    assert (await store.commit([late, right, known])).outcomes == ["stale", "applied", "known"]


@pytest.mark.parametrize("workflow", [None, "w"])
async def test_st2_no_start_slips_through_a_pause_that_comes_at_once(
    store: Store, other: Store, workflow: str | None
) -> None:
    await publish(store, "w", "1", b"", None, True)
    for n in range(1, 21):
        pausing = other.set_paused(workflow, True, b"pause")
        committed, _ = await asyncio.gather(store.commit([start(run_id(n))]), pausing)
        told = (run_id(n), b"pause") in await mail(store)
        assert told == (committed.outcomes == ["applied"])
        await other.set_paused(workflow, False, b"resume")
