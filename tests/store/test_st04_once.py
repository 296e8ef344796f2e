"""ST4: a timer, a message and an id are used up once."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from penstock.store.protocol import Store
from penstock.store.rows.change import Change, EventId, Post
from penstock.store.rows.rows import DueTimer
from tests.store.builders import (
    LATER,
    NOON,
    SHORT,
    A,
    B,
    C,
    change,
    given,
    mail,
    revisions,
    run_id,
    seconds,
    start,
)
from tests.store.conftest import Clock


async def test_st4_a_timer_rings_when_its_time_has_come_and_not_before(store: Store, clock: Clock) -> None:
    await given(store, start(A, timers=((NOON + seconds(60), b"ring"),)))

    await clock.forward(59.999)
    early = (await store.due(10, SHORT)).timers
    await clock.forward(0.001)
    (timer,) = (await store.due(10, SHORT)).timers

    assert early == []
    assert timer == DueTimer(timer.id, A, b"ring", NOON + seconds(60))


async def test_st4_timers_come_the_oldest_first_and_no_more_than_asked_for(
    store: Store, clock: Clock
) -> None:
    times = [30, 10, 20, 50, 40]
    await given(store, start(A, timers=tuple((NOON + seconds(n), b"%d" % n) for n in times)))
    await clock.forward(100)

    batches = [[timer.body for timer in (await store.due(2, SHORT)).timers] for _ in range(4)]

    assert batches == [[b"10", b"20"], [b"30", b"40"], [b"50"], []]


async def test_st4_due_tells_when_the_next_timer_falls_due(store: Store) -> None:
    nothing = await store.due(10, SHORT)
    await given(store, start(A, timers=((NOON + seconds(90), b""), (NOON + seconds(60), b""))))

    assert (nothing.next, nothing.now) == (None, NOON)
    assert (await store.due(10, SHORT)).next == NOON + seconds(60)


async def test_st4_what_was_handed_out_is_left_alone_for_a_while(
    store: Store, other: Store, clock: Clock
) -> None:
    await given(store, start(A, timers=((NOON, b"ring"),), posts=(Post(A, b"mail"),)))
    await clock.forward(6)

    first = await store.due(10, seconds(10))
    await clock.forward(9)
    soon = await other.due(10, seconds(10))
    await clock.forward(1)
    again = await other.due(10, seconds(10))

    assert (len(first.timers), len(first.messages)) == (1, 1)
    assert (soon.timers, soon.messages) == ([], [])
    assert (again.timers, again.messages) == (first.timers, first.messages)


async def test_st4_two_nodes_that_look_at_once_get_different_timers(
    store: Store, other: Store, clock: Clock
) -> None:
    await store.commit([start(run_id(n), timers=((NOON, b"%d" % n),)) for n in range(1, 61)])
    await clock.forward(1)

    looks = await asyncio.gather(*(node.due(20, seconds(60)) for node in (store, other, store, other)))

    handed = Counter(timer.body for look in looks for timer in look.timers)
    rest = Counter(timer.body for timer in (await store.due(100, seconds(60))).timers)
    assert handed + rest == Counter(b"%d" % n for n in range(1, 61))


async def test_st4_a_timer_is_used_up_once(store: Store, clock: Clock) -> None:
    await given(store, start(A, timers=((NOON, b"ring"),)))
    (timer,) = (await store.due(10, SHORT)).timers

    await given(store, change(A, 1, rung=(timer.id,)))
    again = await store.commit([change(A, 2, rung=(timer.id,))])
    await clock.forward(60)

    assert again.outcomes == ["stale"]
    assert (await store.due(10, SHORT)).timers == []


async def test_st4_one_timer_that_is_gone_uses_up_none(store: Store, clock: Clock) -> None:
    await given(store, start(A, timers=((NOON, b"one"), (NOON, b"two"))))
    one, two = (await store.due(10, SHORT)).timers
    await given(store, change(A, 1, rung=(one.id,)))

    both = await store.commit([change(A, 2, rung=(one.id, two.id))])
    await clock.forward(60)

    assert both.outcomes == ["stale"]
    assert (await store.due(10, SHORT)).timers == [two]


async def test_st4_a_message_is_given_to_who_made_it_and_to_others_later(store: Store, clock: Clock) -> None:
    committed = await store.commit([start(A, posts=(Post(A, b"one"), Post(B, b"two"), Post(None, b"three")))])
    made = [(message.run, message.body) for message in committed.messages]

    at_once = await mail(store)
    await clock.forward(6)
    later = (await store.due(10, SHORT)).messages

    assert made == [(A, b"one"), (B, b"two"), (None, b"three")]
    assert (at_once, later) == ([], committed.messages)


async def test_st4_messages_come_in_the_order_in_which_they_were_posted(store: Store, clock: Clock) -> None:
    bodies = [b"%d" % n for n in range(20)]
    await given(store, start(A))
    await given(store, *(change(A, n + 1, posts=(Post(A, body),)) for n, body in enumerate(bodies)))
    await clock.forward(6)

    assert [message.body for message in (await store.due(7, SHORT)).messages] == bodies[:7]
    assert [message.body for message in (await store.due(70, SHORT)).messages] == bodies[7:]


async def test_st4_a_message_is_read_once(store: Store, clock: Clock) -> None:
    committed = await store.commit([start(A), start(B, posts=(Post(A, b"m"),))])
    (message,) = committed.messages

    await given(store, change(A, 1, read=(message.id,)))
    again = await store.commit([change(A, 2, read=(message.id,))])
    await clock.forward(60)

    assert again.outcomes == ["stale"]
    assert await mail(store) == []


async def test_st4_a_message_to_nobody_is_read_by_one_change_of_a_batch(store: Store) -> None:
    (message,) = (await store.commit([start(A, posts=(Post(None, b"start me"),))])).messages

    committed = await store.commit([start(B, read=(message.id,)), start(C, read=(message.id,))])

    assert Counter(committed.outcomes) == {"applied": 1, "stale": 1}
    assert Counter(await revisions(store, B, C)) == {1: 1, None: 1}


async def outcomes_at_once(store: Store, other: Store, one: Change, two: Change) -> Counter[str]:
    committed = await asyncio.gather(store.commit([one]), other.commit([two]))
    return Counter(outcome for answer in committed for outcome in answer.outcomes)


@pytest.mark.parametrize("what", ["rung", "read"])
async def test_st4_of_two_nodes_that_use_up_one_thing_exactly_one_does(
    store: Store, other: Store, what: str
) -> None:
    for n in range(1, 11):
        one, two, three = (run_id(3 * n + i) for i in range(3))
        post = {"posts": (Post(None, b"m"),)} if what == "read" else {"timers": ((NOON, b"t"),)}
        made = await store.commit([start(one, **post), start(two), start(three)])
        (thing,) = made.messages if what == "read" else (await store.due(10, SHORT)).timers

        outcomes = await outcomes_at_once(
            store, other, change(two, 1, **{what: (thing.id,)}), change(three, 1, **{what: (thing.id,)})
        )

        assert outcomes == {"applied": 1, "stale": 1}


async def test_st4_an_id_comes_once_within_its_scope(store: Store) -> None:
    await given(store, start(A, seen=(EventId("hook", "1", LATER),)), start(B))

    again = await store.commit([change(B, 1, seen=(EventId("hook", "1", LATER),))])
    elsewhere = await store.commit([change(B, 1, seen=(EventId("other", "1"), EventId("hook", "2")))])

    assert (again.outcomes, elsewhere.outcomes) == (["seen"], ["applied"])
    ids = [
        EventId("hook", "1"),
        EventId("hook", "2"),
        EventId("hook", "3"),
        EventId("other", "1"),
        EventId("other", "2"),
    ]
    assert await store.seen(ids) == [True, True, False, True, False]
    assert await store.seen([]) == []


async def test_st4_an_id_whose_time_is_over_may_come_again(store: Store, clock: Clock) -> None:
    id = EventId("hook", "1", NOON + seconds(60))
    await given(store, start(A, seen=(id,)))
    await clock.forward(60)

    assert await store.seen([id]) == [False]
    await given(store, start(B, seen=(EventId("hook", "1", NOON + seconds(120)),)))
    assert await store.seen([id]) == [True]


async def test_st4_one_id_in_two_changes_of_a_batch_comes_once(store: Store) -> None:
    committed = await store.commit([start(run, seen=(EventId("hook", "1", LATER),)) for run in (A, B)])

    assert Counter(committed.outcomes) == {"applied": 1, "seen": 1}


async def test_st4_one_id_in_two_commits_at_once_comes_once(store: Store, other: Store) -> None:
    for n in range(1, 11):
        one, two = (
            start(run_id(2 * n + i), seen=(EventId("hook", f"{n}"), EventId("hook", f"{n}-{i}")))
            for i in (0, 1)
        )

        assert await outcomes_at_once(store, other, one, two) == {"applied": 1, "seen": 1}


async def test_st4_ids_in_opposite_orders_do_not_block_one_another(store: Store, other: Store) -> None:
    for n in range(10):
        ids = tuple(EventId("hook", f"{n}-{i}", LATER) for i in range(20))
        one, two = start(run_id(2 * n + 1), seen=ids), start(run_id(2 * n + 2), seen=ids[::-1])

        assert await outcomes_at_once(store, other, one, two) == {"applied": 1, "seen": 1}


async def test_st4_a_message_for_nobody_is_discarded_once_and_for_all(store: Store, clock: Clock) -> None:
    committed = await store.commit([start(A, posts=tuple(Post(B, b"%d" % n) for n in range(3)))])
    first, second, _ = (message.id for message in committed.messages)

    await clock.forward(6)
    handed_out = [await store.due(10, SHORT, gone) for gone in ([second, first, first], [first], [])]

    assert [[message.body for message in each.messages] for each in handed_out] == [[b"2"], [], []]
    assert (await store.commit([change(A, 1, read=(first,))])).outcomes == ["stale"]


async def test_st4_what_asks_for_a_run_is_taken_back_only_while_there_is_no_such_run(
    store: Store, clock: Clock
) -> None:
    posts = (Post(B, b"begin"), Post(C, b"begin"), Post(C, b"hello"))
    committed = await store.commit([start(A, posts=posts)])
    begin = {message.run: message.id for message in committed.messages if message.body == b"begin"}
    await given(store, start(C, read=(begin[C],)))

    await given(store, change(A, 1, unbegun=(B, C), posts=(Post(B, b"cancel"), Post(C, b"cancel"))))
    late = await store.commit([start(B, read=(begin[B],))])
    await clock.forward(6)

    assert late.outcomes == ["stale"]
    assert await mail(store) == [(C, b"hello"), (B, b"cancel"), (C, b"cancel")]
