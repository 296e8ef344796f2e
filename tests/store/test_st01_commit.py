"""ST1: a change is applied whole or not at all, and what it wrote can be read."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.store.protocol import Store
from penstock.store.rows.change import WHOLE, Change, EndedTask, EventId, Part, Post
from penstock.store.rows.rows import Filter, StoredRun
from tests.store.builders import (
    LATER,
    NOON,
    A,
    B,
    C,
    change,
    end,
    given,
    leased_runs,
    lock,
    new_run,
    pending_event,
    revisions,
    run_id,
    seconds,
    start,
    task,
    unlock,
)
from tests.store.conftest import Clock
from tests.store.places import Place

ODD = b"\x00\xff quotes ' \" and \x00 \xf0\x9f\x90\x99"
TEXT = "Ünïcode 🐙 'single' \"double\" \\ -- ; DROP TABLE run"


async def test_st1_a_run_is_read_as_it_was_written(store: Store) -> None:
    await given(store, start(A, head=b"first"), change(A, 1, head=b"second"))

    assert await store.load([A]) == [StoredRun(A, 2, b"header", b"second", ())]


async def test_st1_load_answers_in_the_order_asked_with_none_for_what_is_not_there(store: Store) -> None:
    await given(store, start(A), start(B))

    assert await revisions(store, B, C, A) == [1, None, 1]
    assert await store.load([]) == []


async def test_st1_bytes_and_texts_come_back_unchanged(store: Store) -> None:
    new = new_run(header=ODD, workflow=TEXT, subject=TEXT, labels={TEXT: TEXT})

    await given(
        store,
        start(
            A, new, head=ODD, page=ODD, parts=(Part("e", 1, 0, ODD),), payloads=((b"\x00", ODD), (b"", b""))
        ),
    )

    assert await store.load([A]) == [StoredRun(A, 1, ODD, ODD, (Part("e", 1, 0, ODD),))]
    assert await store.pages(A, 0, 10) == [ODD]
    assert await store.payloads([(A, b"\x00"), (A, b"")]) == {(A, b"\x00"): ODD, (A, b""): b""}


async def test_st1_parts_are_written_replaced_and_deleted_one_by_one(store: Store) -> None:
    first = (Part("e", 1, 0, b"a"), Part("e", 1, 1, b"b"), Part("r", 1, 0, b"c"), Part("i", 1, WHOLE, b"d"))
    await given(store, start(A, parts=first), start(B, parts=(Part("e", 1, 0, b"other"),)))

    await given(
        store, change(A, 1, parts=(Part("e", 1, 0, b"new"), Part("e", 1, 1, None), Part("r", 9, 9, None)))
    )

    stored = await store.load([A, B])
    assert [one and set(one.parts) for one in stored] == [
        {Part("e", 1, 0, b"new"), Part("r", 1, 0, b"c"), Part("i", 1, WHOLE, b"d")},
        {Part("e", 1, 0, b"other")},
    ]


async def test_st1_pages_come_in_order_from_the_one_with_the_next_entry(store: Store) -> None:
    await given(
        store,
        start(A, seq=3, page=b"1-3", page_from=1),
        change(A, 1, seq=4, page=b"4", page_from=4),
        change(A, 2, seq=4, page=None),
        change(A, 3, seq=9, page=b"5-9", page_from=5),
    )

    assert await store.pages(A, 0, 100) == [b"1-3", b"4", b"5-9"]
    assert await store.pages(A, 2, 100) == [b"1-3", b"4", b"5-9"]
    assert await store.pages(A, 3, 100) == [b"4", b"5-9"]
    assert (await store.pages(A, 0, 2))[:1] == [b"1-3"]
    assert (await store.pages(A, 3, 2))[:2] == [b"4", b"5-9"]
    assert await store.pages(A, 9, 100) == []
    assert await store.pages(B, 0, 100) == []


async def test_st1_a_payload_that_is_there_stays(store: Store) -> None:
    await given(store, start(A, payloads=((b"d", b"one"),)), start(B, payloads=((b"d", b"two"),)))

    await given(store, change(A, 1, payloads=((b"d", b"one"), (b"e", b"three"))))

    assert await store.payloads([(A, b"d"), (B, b"d"), (A, b"e"), (B, b"e"), (C, b"d")]) == {
        (A, b"d"): b"one",
        (B, b"d"): b"two",
        (A, b"e"): b"three",
    }
    assert await store.payloads([]) == {}


async def test_st1_a_change_that_cannot_be_applied_writes_nothing_at_all(place: Place) -> None:
    store = place.store
    await given(store, start(A, new_run(start_key=("k", b"")), seen=(EventId("s", "1"),)), start(B))
    before, runs = await place.counts(), await store.load([A, B])
    everything = {
        "parts": (Part("e", 1, 0, b"x"),),
        "payloads": ((b"d", b"x"),),
        "tasks": (task(),),
        "timers": ((LATER, b"x"),),
        "locks": (lock("key"),),
        "keys": (("job", "7"),),
        "posts": (Post(A, b"x"), Post(None, b"x")),
        "pending_events": (pending_event(("job", "8")),),
    }

    committed = await store.commit(
        [
            change(A, 7, **everything, seen=(EventId("s", "2"),)),
            change(B, 1, **everything, seen=(EventId("s", "3"), EventId("s", "1"))),
            start(C, new_run(start_key=("k", b"")), **everything, seen=(EventId("s", "4"),)),
        ]
    )

    assert (committed.outcomes, committed.messages) == (["stale", "seen", "known"], [])
    assert await place.counts() == before
    assert await store.load([A, B, C]) == [*runs, None]
    assert await store.seen([EventId("s", str(n)) for n in (1, 2, 3, 4)]) == [True, False, False, False]
    assert await store.find([("job", "7")]) is None


@pytest.mark.parametrize(
    "bad",
    [
        change(B, 9),
        change(C, 1),
        change(B, 1, rung=(10_000,)),
        change(B, 1, read=(10_000,)),
        change(B, 1, ended=(EndedTask(1, WHOLE, 1, 1),)),
    ],
    ids=["stale", "no run", "no timer", "no message", "no task"],
)
async def test_st1_a_bad_change_does_not_hurt_the_others_of_its_batch(store: Store, bad: Change) -> None:
    await given(store, start(A), start(B))

    committed = await store.commit([change(A, 1, posts=(Post(A, b"mail"),)), bad, start(run_id(9))])

    assert committed.outcomes == ["applied", "lost" if bad.ended else "stale", "applied"]
    assert [(one.run, one.body) for one in committed.messages] == [(A, b"mail")]
    assert await revisions(store, A, B, C, run_id(9)) == [2, 1, None, 1]


async def test_st1_a_huge_batch_is_one_commit(store: Store) -> None:
    runs = [run_id(n) for n in range(1, 2001)]

    made = await store.commit([start(run, tasks=(task(),), parts=(Part("e", 1, 0, b"x"),)) for run in runs])
    went_on = await store.commit(
        [change(run, n % 2 + 1, head=b"on", posts=(Post(run, b"m"),)) for n, run in enumerate(runs)]
    )

    assert made.outcomes == ["applied"] * 2000
    assert went_on.outcomes == ["applied", "stale"] * 1000
    assert [message.run for message in went_on.messages] == runs[::2]
    assert await revisions(store, *runs) == [2, 1] * 1000


async def test_st1_nothing_to_commit_is_answered(store: Store) -> None:
    committed = await store.commit([])

    assert (committed.outcomes, committed.messages, committed.now) == ([], [], NOON)


async def test_st1_a_run_that_ended_may_go_on(store: Store) -> None:
    await given(store, start(A), end(A, 1, "failed"))

    await given(store, change(A, 2, tasks=(task(attempt=2),)))

    assert [(row.status, row.ended_at) for row in await runs_of(store)] == [("running", None)]
    assert [one.lease.attempt for one in await store.tasks(A)] == [2]


async def runs_of(store: Store) -> list[Any]:
    return await store.runs(Filter())


async def test_st7_commit_answers_the_time_of_the_store(store: Store, clock: Clock) -> None:
    later = await clock.forward(90)

    committed = await store.commit([start(A)])

    assert committed.now == later == await store.now()


async def test_st1_what_a_batch_makes_is_in_the_order_of_its_changes(store: Store, clock: Clock) -> None:
    runs = (C, A, B)
    await store.commit([start(run) for run in (A, B, C)])
    committed = await store.commit(
        [
            change(
                run,
                1,
                tasks=(task(2), task(1)),
                timers=((NOON, run.encode()),),
                posts=(Post(None, b"first of " + run.encode()), Post(run, b"second")),
                locks=(lock("z", body=b"z of " + run.encode(), limit=2), lock("a", body=b"a", limit=2)),
            )
            for run in runs
        ]
    )
    posts = [
        (to, body) for run in runs for to, body in ((None, b"first of " + run.encode()), (run, b"second"))
    ]
    grants = [(run, body) for run in runs[:2] for body in (b"z of " + run.encode(), b"a")]
    await clock.forward(6)
    due = await store.due(100, seconds(10))

    assert [(one.run, one.body) for one in committed.messages] == posts + grants
    assert [(one.run, one.body) for one in due.messages] == posts + grants
    assert [one.run for one in due.timers] == list(runs)
    assert await leased_runs(store) == [C, C, A, A, B, B]
    assert await given(store, change(C, 2, unlocks=(unlock("z"),))) == [(B, b"z of " + B.encode())]


async def test_st10_events_of_several_keys_are_given_in_the_order_in_which_they_came(store: Store) -> None:
    one, two = ("k", "1"), ("k", "2")
    for key, body in ((two, b"0"), (one, b"1"), (two, b"2")):
        await store.keep(pending_event(key, body=body))
    await store.keep(pending_event(two, one, body=b"both"))

    committed = await store.commit([start(B, keys=(two,)), start(A, keys=(one,))])

    made = [(message.run, message.body) for message in committed.messages]
    assert made == [(B, b"0"), (A, b"1"), (B, b"2"), (A, b"both")]


async def test_st1_a_run_that_goes_on_keeps_what_its_change_does_not_speak_about(store: Store) -> None:
    await given(store, start(A), start(B))
    await given(store, change(A, 1, goes_on=True, head=b"on"), change(B, 1, goes_on=True))

    found = next(row for row in await store.runs(Filter(limit=10)) if row.id == A)
    assert (found.status, found.ended_at, found.waiting_for) == ("running", None, [])
    assert await store.load([A]) == [StoredRun(A, 2, b"header", b"on", ())]


async def test_st1_a_run_that_goes_on_from_another_revision_is_left_alone(store: Store) -> None:
    await given(store, start(A), start(B), change(A, 1))
    committed = await store.commit([change(A, 1, goes_on=True), change(B, 1, goes_on=True)])

    assert committed.outcomes == ["stale", "applied"]
    assert await revisions(store, A, B) == [2, 2]
