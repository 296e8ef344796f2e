"""ST9 and ST10: a key belongs to the first live run that asked; what is kept for it is given to it, once."""

from __future__ import annotations

import asyncio

from penstock.store.protocol import Store
from penstock.store.rows.access import AuditRow
from penstock.store.rows.change import EventId
from penstock.store.rows.rows import PendingEventRow
from tests.store.builders import (
    LATER,
    NOON,
    A,
    B,
    C,
    change,
    end,
    given,
    mail,
    pending_event,
    run_id,
    seconds,
    start,
)
from tests.store.conftest import Clock

JOB = ("job", "7")
USER = ("user", "ann")


async def test_st9_a_key_belongs_to_the_first_run_that_asked(store: Store) -> None:
    await given(store, start(B, keys=(JOB,)), start(A, keys=(JOB, USER)))

    assert await store.find([JOB]) == B
    assert await store.find([USER]) == A
    assert await store.find([("job", "8")]) is None
    assert await store.find([("job", "8"), USER]) == A
    assert await store.find([]) is None


async def test_st9_when_the_owner_ends_the_key_goes_to_the_next(store: Store) -> None:
    await given(store, start(B, keys=(JOB,)), start(A, keys=(JOB,)), start(C, keys=(JOB,)))

    found = []
    for run in (B, A, C):
        await given(store, end(run, 1))
        found.append(await store.find([JOB]))

    assert found == [A, C, None]


async def test_st9_who_waits_for_a_key_and_ends_does_not_get_it(store: Store) -> None:
    await given(store, start(A, keys=(JOB,)), start(B, keys=(JOB,)), start(C, keys=(JOB,)))

    await given(store, end(B, 1), end(A, 1))

    assert await store.find([JOB]) == C


async def test_st9_to_ask_for_a_key_again_changes_nothing(store: Store) -> None:
    await given(store, start(A, keys=(JOB,)), start(B, keys=(JOB,)), change(A, 1, keys=(JOB,)))
    refused = await store.refused(10)

    await given(store, end(A, 2))

    assert refused == [(*JOB, B, A)]
    assert await store.find([JOB]) == B
    assert await store.refused(10) == []


async def test_st9_keys_that_another_run_has_are_shown_as_refused(store: Store) -> None:
    await given(
        store, start(A, keys=(JOB, USER)), start(B, keys=(JOB, ("x", "y"))), start(C, keys=(JOB, USER))
    )

    assert sorted(await store.refused(10)) == [(*JOB, B, A), (*JOB, C, A), (*USER, C, A)]
    assert len(await store.refused(2)) == 2


async def test_st9_two_nodes_that_ask_for_a_key_at_once_get_one_owner(store: Store, other: Store) -> None:
    for n in range(1, 11):
        key = ("job", str(n))
        one, two = run_id(2 * n), run_id(2 * n + 1)

        await asyncio.gather(store.commit([start(one, keys=(key,))]), other.commit([start(two, keys=(key,))]))

        owner = await store.find([key])
        assert {owner} | {row[2] for row in await store.refused(99) if row[:2] == key} == {one, two}


async def test_st10_an_event_kept_before_the_key_is_given_to_the_run_that_gets_it(
    store: Store, clock: Clock
) -> None:
    answer = await store.keep(pending_event(JOB, body=b"callback"))

    made = await given(store, start(A, keys=(USER,)), start(B, keys=(JOB,)))
    await clock.forward(6)

    assert (answer, made) == (None, [(B, b"callback")])
    assert await mail(store) == [(B, b"callback")]
    assert await store.undelivered(0, 10) == []


async def test_st10_an_event_is_given_once(store: Store) -> None:
    await store.keep(pending_event(JOB, USER, body=b"one"))

    made = await given(store, start(A, keys=(JOB, USER)), start(B, keys=(USER,)), end(A, 1))

    assert made == [(A, b"one")]


async def test_st10_events_are_given_in_the_order_in_which_they_came(store: Store, clock: Clock) -> None:
    for n in range(5):
        await store.keep(pending_event(JOB, body=b"%d" % n))
        await clock.forward(1)

    assert await given(store, start(A, keys=(JOB,))) == [(A, b"%d" % n) for n in range(5)]


async def test_st10_an_event_whose_key_has_a_run_is_not_kept(store: Store) -> None:
    await given(store, start(A, keys=(JOB,)))
    id = EventId("hook", "1", LATER)

    assert await store.keep(pending_event(("job", "8"), JOB, seen=id)) == A
    assert await store.undelivered(0, 10) == []
    # The change that gives the event to the run must be able to use the id.
    assert await store.seen([id]) == [False]


async def test_st10_an_event_that_came_twice_is_kept_once(store: Store) -> None:
    id = EventId("hook", "1", LATER)

    answers = [await store.keep(pending_event(JOB, body=b"%d" % n, seen=id)) for n in range(3)]

    assert answers == [None, "", ""]
    assert [row.body for row in await store.undelivered(0, 10)] == [b"0"]
    assert (await store.commit([start(A, seen=(id,))])).outcomes == ["seen"]


async def test_st10_one_event_kept_by_two_nodes_at_once_is_kept_once(store: Store, other: Store) -> None:
    for n in range(10):
        event = pending_event(JOB, seen=EventId("hook", str(n), LATER))
        answers = await asyncio.gather(store.keep(event), other.keep(event))
        assert sorted(answers, key=str) == ["", None]

    assert len(await store.undelivered(0, 100)) == 10


async def test_st10_an_event_and_its_key_that_come_at_once_find_one_another(
    store: Store, other: Store
) -> None:
    for n in range(1, 21):
        key = ("job", str(n))
        answer, committed = await asyncio.gather(
            other.keep(pending_event(key, body=b"%d" % n)), store.commit([start(run_id(n), keys=(key,))])
        )

        given_by_commit = [message.run for message in committed.messages]
        assert (answer, given_by_commit) in [(run_id(n), []), (None, [run_id(n)])]

    assert await store.undelivered(0, 100) == []


async def test_st10_an_event_whose_time_is_over_is_not_given(store: Store, clock: Clock) -> None:
    await store.keep(pending_event(JOB, until=NOON + seconds(60)))
    await clock.forward(61)

    assert await given(store, start(A, keys=(JOB,))) == []


async def test_st10_an_event_in_a_change_is_kept_for_the_next_owner_of_its_key(store: Store) -> None:
    left = await given(store, start(A, pending_events=(pending_event(JOB, body=b"left"),)))
    shown = [row.body for row in await store.undelivered(0, 10)]

    assert (left, shown) == ([], [b"left"])
    assert await given(store, start(B, keys=(JOB,))) == [(B, b"left")]
    assert await store.undelivered(0, 10) == []


async def test_st10_an_event_in_a_change_goes_to_the_owner_of_its_key_be_it_the_run_itself(
    store: Store, clock: Clock
) -> None:
    await given(store, start(A, keys=(JOB,)))

    made = await given(store, change(A, 1, pending_events=(pending_event(("job", "8"), JOB, body=b"mine"),)))
    by_the_key_that_it_asks_for = await given(
        store, start(B, keys=(USER,), pending_events=(pending_event(USER, body=b"too"),))
    )
    await clock.forward(6)

    assert (made, by_the_key_that_it_asks_for) == ([(A, b"mine")], [(B, b"too")])
    assert await mail(store) == [(A, b"mine"), (B, b"too")]
    assert await store.undelivered(0, 10) == []


async def test_st10_an_event_without_keys_is_only_shown(store: Store) -> None:
    made = await given(
        store, start(A, keys=(JOB,), pending_events=(pending_event(body=b"shown"),)), start(B, keys=(USER,))
    )
    (row,) = await store.undelivered(0, 10)

    assert (made, row.body, row.keys) == ([], b"shown", ())
    assert await store.settle(row.id, deliver=True) is False


async def test_st10_an_event_in_a_change_whose_id_came_before_is_dropped_and_the_change_applied(
    store: Store,
) -> None:
    id = EventId("hook", "1", LATER)
    await given(store, start(A, keys=(JOB,)))

    made = [
        await given(store, change(A, n, pending_events=(pending_event(JOB, body=b"%d" % n, seen=id),)))
        for n in (1, 2)
    ]
    twice_at_once = [
        pending_event(USER, body=b"%d" % n, seen=EventId("hook", "2", LATER + seconds(n))) for n in (3, 4)
    ]
    await given(store, start(B, pending_events=tuple(twice_at_once)))

    assert made == [[(A, b"1")], []]
    assert [row.body for row in await store.undelivered(0, 10)] == [b"3"]
    assert await store.seen([id, EventId("hook", "2")]) == [True, True]


async def test_st10_an_event_in_a_change_that_is_refused_does_not_use_its_id_up(store: Store) -> None:
    id = EventId("hook", "1", LATER)

    stale = await store.commit([change(A, 7, pending_events=(pending_event(JOB, seen=id),))])

    assert stale.outcomes == ["stale"]
    assert (await store.seen([id]), await store.undelivered(0, 10)) == ([False], [])


async def test_st10_an_event_that_one_run_left_is_given_to_another_that_has_its_key(store: Store) -> None:
    await given(store, start(A, keys=(JOB,)))

    assert await given(store, start(B, pending_events=(pending_event(JOB, body=b"left"),))) == [(A, b"left")]
    assert await store.undelivered(0, 10) == []


async def test_st10_what_a_run_leaves_at_its_end_is_given_to_the_next_owner(store: Store) -> None:
    await given(store, start(A, keys=(JOB,)), start(B, keys=(JOB,)))

    assert await given(store, end(A, 1, pending_events=(pending_event(JOB, body=b"left"),))) == [(B, b"left")]


async def test_st10_what_is_kept_is_listed_the_oldest_first_in_pages(store: Store, clock: Clock) -> None:
    await store.keep(pending_event(JOB, USER, body=b"\x00one", event="paid 🐙"))
    now = await clock.forward(5)
    await given(store, start(A, pending_events=(pending_event(body=b"two"),)))
    await store.keep(pending_event(("a", "b"), body=b"three"))

    rows = await store.undelivered(0, 10)
    first = rows[0]

    assert [row.body for row in rows] == [b"\x00one", b"two", b"three"]
    assert first == PendingEventRow(
        id=first.id,
        event="paid 🐙",
        keys=first.keys,
        body=b"\x00one",
        reason="no run has the key",
        at=NOON,
        until=LATER,
    )
    assert [set(row.keys) for row in rows] == [{JOB, USER}, set(), {("a", "b")}]
    assert rows[1].at == now
    assert await store.undelivered(0, 2) == rows[:2]
    assert await store.undelivered(rows[1].id, 10) == rows[2:]


async def test_st10_an_event_whose_time_was_over_is_redelivered_to_the_run_that_has_its_key(
    store: Store, clock: Clock
) -> None:
    await store.keep(pending_event(USER, JOB, body=b"again", until=NOON + seconds(60)))
    (row,) = await store.undelivered(0, 10)
    await clock.forward(61)
    await given(store, start(A, keys=(JOB,)))

    who = AuditRow(actor="amy", token_id=None, ip=None, action="redeliver", target=str(row.id))
    first, second = (
        await store.settle(row.id, deliver=True, audit=who),
        await store.settle(row.id, deliver=True, audit=who),
    )

    assert (first, second) == (True, False)
    assert [each.row for each in (await store.audits(10, after=0)).entries] == [who]
    assert await mail(store) == [(A, b"again")]
    assert await store.undelivered(0, 10) == []


async def test_st10_an_event_whose_key_nobody_has_is_not_redelivered(store: Store) -> None:
    await store.keep(pending_event(JOB))
    (row,) = await store.undelivered(0, 10)

    assert await store.settle(row.id, deliver=True) is False
    assert await store.settle(row.id + 1000, deliver=True) is False
    assert await store.undelivered(0, 10) == [row]


async def test_st10_a_change_that_is_refused_takes_no_key_and_no_event(store: Store) -> None:
    await store.keep(pending_event(JOB))
    await given(store, start(A))

    stale = await store.commit([change(A, 7, keys=(JOB,))])

    assert (stale.outcomes, stale.messages) == (["stale"], [])
    assert (await store.find([JOB]), len(await store.undelivered(0, 10))) == (None, 1)


async def test_what_is_done_with_is_kept_no_longer(store: Store) -> None:
    await store.keep(pending_event(JOB))
    [row] = await store.undelivered(0, 10)

    assert [await store.settle(row.id, deliver=False), await store.settle(row.id, deliver=False)] == [
        True,
        False,
    ]
    assert await store.undelivered(0, 10) == []
