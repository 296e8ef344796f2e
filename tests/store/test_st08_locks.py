"""ST8: a serialize key is held by at most `limit` elements, first come, first served; who leaves frees it."""

from __future__ import annotations

import asyncio
from collections import Counter

from penstock.store.protocol import Store
from penstock.store.rows.change import Change
from tests.store.builders import A, B, C, D, change, end, given, lock, mail, run_id, start, unlock
from tests.store.conftest import Clock


def waits(run: str, key: str = "user 1", limit: int = 1, firing: int = 1) -> Change:
    return start(run, locks=(lock(key, firing, limit, b"yours " + key.encode()),))


YOURS = b"yours user 1"


async def test_st8_a_free_key_is_held_at_once(store: Store) -> None:
    assert await given(store, waits(A)) == [(A, YOURS)]


async def test_st8_a_held_key_makes_the_next_wait(store: Store) -> None:
    assert await given(store, waits(A), waits(B), waits(C)) == [(A, YOURS)]


async def test_st8_who_came_first_is_served_first(store: Store) -> None:
    await given(store, waits(C), waits(A), waits(B))

    after_c = await given(store, change(C, 1, unlocks=(unlock("user 1"),)))
    after_a = await given(store, change(A, 1, unlocks=(unlock("user 1"),)))
    after_b = await given(store, change(B, 1, unlocks=(unlock("user 1"),)))

    assert (after_c, after_a, after_b) == ([(A, YOURS)], [(B, YOURS)], [])


async def test_st8_other_keys_do_not_wait(store: Store) -> None:
    made = await given(store, waits(A, "user 1"), waits(B, "user 2"), waits(C, "User 1"), waits(D, "user 1 "))

    assert [run for run, _ in made] == [A, B, C, D]


async def test_st8_as_many_hold_a_key_as_it_allows(store: Store) -> None:
    made = await given(store, *(waits(run, limit=2) for run in (A, B, C, D)))
    freed = await given(store, change(B, 1, unlocks=(unlock("user 1"),)))

    assert (made, freed) == ([(A, YOURS), (B, YOURS)], [(C, YOURS)])


async def test_st8_elements_of_one_run_queue_like_those_of_several(store: Store) -> None:
    locks = tuple(lock("k", firing=1, limit=2, body=b"%d" % n, index=n) for n in range(4))
    made = await given(store, start(A, locks=locks), start(B, locks=(lock("k", limit=2, body=b"b"),)))

    left = await given(store, change(A, 1, unlocks=(unlock("k", index=0), unlock("k", index=1))))
    last = await given(store, change(A, 2, unlocks=(unlock("k", index=3),)))

    assert (made, left, last) == ([(A, b"0"), (A, b"1")], [(A, b"2"), (A, b"3")], [(B, b"b")])


async def test_st8_who_leaves_the_queue_is_not_served(store: Store) -> None:
    await given(store, waits(A), waits(B), waits(C))

    left = await given(store, change(B, 1, unlocks=(unlock("user 1"),)))
    freed = await given(store, change(A, 1, unlocks=(unlock("user 1"),)))

    assert (left, freed) == ([], [(C, YOURS)])


async def test_st8_to_give_back_what_one_does_not_have_frees_nothing(store: Store) -> None:
    await given(store, waits(A), waits(B))

    other_element = await given(store, change(A, 1, unlocks=(unlock("user 1", firing=2), unlock("no key"))))
    other_run = await given(store, start(C, unlocks=(unlock("user 1"),)))

    assert (other_element, other_run) == ([], [])


async def test_st8_a_run_that_ends_frees_its_keys_and_leaves_its_queues(store: Store) -> None:
    await given(store, waits(A), waits(B), waits(C), change(B, 1, locks=(lock("k2", 2),)), start(D))
    await given(store, change(D, 1, locks=(lock("k2", body=b"k2"),)))

    over_b = await given(store, end(B, 2))
    over_a = await given(store, end(A, 1))

    assert (over_b, over_a) == ([(D, b"k2")], [(C, YOURS)])


async def test_st8_a_key_goes_from_one_element_to_the_next_in_one_change(store: Store) -> None:
    await given(store, start(A, locks=(lock("k", 1, body=b"1"), lock("k", 2, body=b"2"))))

    made = await given(store, change(A, 1, unlocks=(unlock("k", 1),), locks=(lock("k", 3, body=b"3"),)))
    then = await given(store, change(A, 2, unlocks=(unlock("k", 2),)))

    assert (made, then) == ([(A, b"2")], [(A, b"3")])


async def test_st8_who_comes_again_queues_at_the_end(store: Store) -> None:
    await given(store, waits(A), waits(B))

    again = await given(store, change(A, 1, unlocks=(unlock("user 1"),), locks=(lock("user 1", 1),)))

    assert again == [(B, YOURS)]


async def test_st8_the_message_reaches_the_run_even_if_nobody_reads_the_answer(
    store: Store, clock: Clock
) -> None:
    await given(store, waits(A))
    await clock.forward(6)

    assert await mail(store) == [(A, YOURS)]


async def test_st8_a_batch_serves_in_its_order(store: Store) -> None:
    committed = await store.commit([waits(B), waits(A), waits(C)])
    freed = await given(store, change(B, 1, unlocks=(unlock("user 1"),)))

    assert [message.run for message in committed.messages] == [B]
    assert freed == [(A, YOURS)]


async def test_st8_in_one_batch_a_freed_key_is_given_to_who_waited_before(store: Store) -> None:
    await given(store, waits(A), waits(B))

    committed = await store.commit([waits(C), change(A, 1, unlocks=(unlock("user 1"),))])

    assert committed.outcomes == ["applied", "applied"]
    assert [(message.run, message.body) for message in committed.messages] == [(B, YOURS)]


async def test_st8_a_refused_change_frees_and_takes_no_key(store: Store) -> None:
    await given(store, waits(A), waits(B))

    stale = await store.commit([change(A, 7, unlocks=(unlock("user 1"),), locks=(lock("k2"),))])

    assert (stale.outcomes, stale.messages) == (["stale"], [])
    assert await given(store, waits(C, "k2")) == [(C, b"yours k2")]


async def test_st8_runs_that_come_at_once_hold_a_key_one_after_the_other(store: Store, other: Store) -> None:
    runs = [run_id(n) for n in range(1, 13)]
    nodes = [store, other]

    answers = await asyncio.gather(
        *(nodes[n % 2].commit([waits(run, limit=2)]) for n, run in enumerate(runs))
    )
    holders = [message.run for answer in answers for message in answer.messages]
    served = list(holders)
    while holders:
        leaving, holders = holders, []
        freed = await asyncio.gather(
            *(
                nodes[n % 2].commit([change(str(run), 1, unlocks=(unlock("user 1"),))])
                for n, run in enumerate(leaving)
            )
        )
        holders = [message.run for answer in freed for message in answer.messages]
        assert len(holders) <= 2
        served += holders

    assert Counter(served) == Counter(runs)
    assert len(served) == len(runs)


async def test_st8_keys_asked_for_in_opposite_orders_do_not_block_one_another(
    store: Store, other: Store
) -> None:
    keys = [f"k{n}" for n in range(20)]
    one = start(A, locks=tuple(lock(key) for key in keys))
    two = start(B, locks=tuple(lock(key) for key in reversed(keys)))

    answers = await asyncio.gather(store.commit([one]), other.commit([two]))

    assert [answer.outcomes for answer in answers] == [["applied"], ["applied"]]
    assert sum(len(answer.messages) for answer in answers) == len(keys)
