"""ST11: what is over leaves nothing behind, and nothing of a run that is still there is deleted."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from penstock.runtime.node.retention import Retention
from penstock.store.protocol import Store
from penstock.store.rows.change import Asked, Change, EventId, Part, Post
from penstock.store.rows.rows import Filter, Heartbeat, LogLine, Renewal
from tests.store.builders import (
    LATER,
    NOON,
    A,
    B,
    C,
    D,
    change,
    end,
    given,
    lease,
    lease_of,
    lock,
    mail,
    new_run,
    pending_event,
    plain_count,
    publish,
    revisions,
    run_id,
    seconds,
    start,
    task,
)
from tests.store.conftest import Clock
from tests.store.places import Place

DAYS = {
    "succeeded": timedelta(days=30),
    "failed": timedelta(days=90),
    "canceled": timedelta(days=10),
    "timed_out": timedelta(days=60),
}
DAY = 86_400
TIMED = run_id(16)
ASKED = Asked(id="ask", workflow="w", step="s", role="operator", body=b"{}")
OTHERS = {"task", "timer", "lock", "correlation", "rest", "kept", "kept_key", "worker"}
"""Tables of what a run has only as long as it is live, or that are no run's."""


def full(run: str, **more: Any) -> Change:
    """A run with rows in every table that can have some."""
    new = new_run(start_key=(run, b"digest"), labels={"k": "v"})
    return start(
        run,
        new,
        parts=(Part("e", 1, 0, b"x"), Part("i", 1, -1, b"y")),
        payloads=((b"d", b"x"),),
        tasks=(task(1), task(2, worker="amy"), task(3, held=True)),
        timers=((LATER, b"t"),),
        posts=(Post(run, b"m"),),
        locks=(lock(f"lock of {run}"),),
        keys=(("run", run),),
        seen=(EventId(run, "1"), EventId(run, "2")),
        **more,
    )


async def test_st11_the_end_of_a_run_takes_its_tasks_timers_locks_and_keys(place: Place) -> None:
    store = place.store
    await given(store, full(B))
    before = await place.counts()
    await given(store, full(A))

    await given(store, end(A, 1))

    after = await place.counts()
    live = ("task", "timer", "lock", "correlation")
    assert {name: after[name] for name in live} == {name: before[name] for name in live}
    assert (await store.tasks(A), await store.find([("run", A)])) == ([], None)
    assert await store.renew([Heartbeat(lease_of(A, 2))]) == [Renewal(None)]
    assert await store.find([("run", B)]) == B


async def test_st11_what_an_ended_run_had_is_still_read(store: Store) -> None:
    await given(store, full(A), end(A, 1, posts=(Post(B, b"to another"),)))

    (stored,) = await store.load([A])
    assert stored is not None and len(stored.parts) == 2
    assert await store.pages(A, 0, 10) == [b"page 1", b"page 2"]
    assert await store.payloads([(A, b"d")]) == {(A, b"d"): b"x"}
    assert await store.start_key("w", A) == (A, b"digest")
    assert await store.seen([EventId(A, "1")]) == [True]


async def test_st11_nothing_rings_for_a_run_that_is_over(store: Store, clock: Clock) -> None:
    await given(store, full(A), end(A, 1))
    await clock.forward(30 * DAY)

    due = await store.due(10, seconds(10))

    assert (due.timers, due.tasks) == ([], [])
    assert [(message.run, message.body) for message in due.messages] == [(A, b"m"), (A, b"yours")]


async def test_st11_messages_outlive_the_end_of_their_run_and_go_with_it(store: Store, clock: Clock) -> None:
    await given(store, start(A, posts=(Post(A, b"unread"),)), end(A, 1, posts=(Post(A, b"at the end"),)))
    await clock.forward(29 * DAY)
    await store.retain(DAYS, 100, False)
    there = await mail(store)

    await clock.forward(2 * DAY)
    await store.retain(DAYS, 100, False)

    assert there == [(A, b"unread"), (A, b"at the end")]
    assert await mail(store) == []


async def test_st11_a_message_to_a_run_that_is_still_to_be_made_is_kept(store: Store, clock: Clock) -> None:
    await given(store, start(A, posts=(Post(f"{A}-1", b"start"),)))
    await clock.forward(3650 * DAY)

    await store.retain(DAYS, 100, False)

    assert await mail(store) == [(f"{A}-1", b"start")]


async def test_st11_a_change_that_ends_its_run_leaves_nothing_new_behind(place: Place) -> None:
    store = place.store
    await given(store, start(A))
    before = await place.counts()

    await given(
        store, end(A, 1, tasks=(task(),), timers=((LATER, b"t"),), locks=(lock("k"),), keys=(("a", "b"),))
    )

    assert await place.counts() == before | {"history": before["history"] + 1, "run_key": 1}


async def test_st11_a_message_to_another_run_outlives_its_sender(store: Store, clock: Clock) -> None:
    await given(store, start(B), start(A), end(A, 1, posts=(Post(B, b"child is done"),)))
    await clock.forward(6)

    assert await mail(store) == [(B, b"child is done")]


async def test_st11_everything_of_a_run_that_goes_is_deleted_from_every_table(
    place: Place, clock: Clock
) -> None:
    store = place.store
    await given(store, full(B))
    await store.log([LogLine(B, NOON, b"line")])
    await lease(store)
    before = await place.counts()
    await given(store, full(TIMED, asked=(ASKED,)), change(TIMED, 1, posts=(Post(TIMED, b"m"),)))
    assert len(await lease(store)) == 1, "how long it waited is kept too"
    await given(store, end(TIMED, 2))
    await store.log([LogLine(TIMED, NOON, b"one"), LogLine(TIMED, NOON, b"two")])
    await clock.forward(31 * DAY)

    retained = await store.retain(DAYS, 100, False)

    assert await place.counts() == before
    assert {table for table, rows in retained.rows.items() if not rows} <= OTHERS, "others had some to lose"
    assert retained.rows["run"] == 1
    assert await revisions(store, TIMED, B) == [None, 1]
    assert await store.start_key("w", TIMED) is None
    assert await store.seen([EventId(TIMED, "1"), EventId(B, "1")]) == [False, True]
    assert (await store.logs(TIMED, 0, 10), len(await store.logs(B, 0, 10))) == ([], 1)


async def test_st11_the_rows_deleted_are_counted_by_table(place: Place, clock: Clock) -> None:
    store = place.store
    await given(store, full(A), end(A, 1))
    await store.log([LogLine(A, NOON, b"one")])
    before = await place.counts()
    await clock.forward(31 * DAY)

    retained = await store.retain(DAYS, 100, False)

    after = await place.counts()
    gone = {name: before[name] - after[name] for name in before if before[name] != after[name]}
    assert {name: n for name, n in retained.rows.items() if n} == gone


async def test_st11_an_explanation_deletes_nothing(place: Place, clock: Clock) -> None:
    store = place.store
    await given(store, full(A), end(A, 1), full(B))
    await clock.forward(31 * DAY)
    before = await place.counts()

    told = await store.retain(DAYS, 100, True)

    assert await place.counts() == before
    assert told.rows["run"] == 1
    assert await revisions(store, A, B) == [2, 1]


@pytest.mark.parametrize("status", DAYS)
async def test_st11_a_run_is_kept_for_the_days_of_its_status(store: Store, clock: Clock, status: str) -> None:
    await given(store, start(A), end(A, 1, status))
    days = DAYS[status].days

    await clock.forward(days * DAY - 1)
    await store.retain(DAYS, 100, False)
    early = await revisions(store, A)
    await clock.forward(2)
    await store.retain(DAYS, 100, False)

    assert (early, await revisions(store, A)) == ([2], [None])


async def test_st11_a_live_run_is_kept_however_old_it_is(place: Place, clock: Clock) -> None:
    store = place.store
    for run, status in ((A, "running"), (B, "waiting"), (C, "paused"), (D, "stalled")):
        await given(store, full(run, status=status))
    before = await place.counts()
    await clock.forward(3650 * DAY)

    await store.retain(DAYS, 100, False)

    assert await place.counts() == before


async def test_st11_a_run_that_was_taken_up_again_is_kept(store: Store, clock: Clock) -> None:
    await given(store, start(A), end(A, 1, "failed"), change(A, 2, tasks=(task(),)))
    await clock.forward(365 * DAY)

    await store.retain(DAYS, 100, False)

    assert await revisions(store, A) == [3]


async def test_st11_a_workflow_may_keep_its_runs_for_a_time_of_its_own(store: Store, clock: Clock) -> None:
    for run, workflow in ((A, "short"), (B, "long"), (C, "w")):
        await given(store, start(run, new_run(workflow=workflow)), end(run, 1))
    own = {"short": seconds(2 * DAY), "long": seconds(365 * DAY)}

    found = []
    for days in (1, 2, 28, 400):
        await clock.forward(days * DAY)
        await store.retain(DAYS, 100, False, own)
        found.append([row.workflow for row in await store.runs(Filter(sort="oldest"))])

    assert found == [["short", "long", "w"], ["long", "w"], ["long"], []]


async def test_st11_no_more_runs_go_at_a_time_than_was_said(store: Store, clock: Clock) -> None:
    runs = [run_id(n) for n in range(1, 11)]
    await store.commit([start(run) for run in runs])
    await store.commit([end(run, 1) for run in runs])
    await clock.forward(31 * DAY)

    left = []
    for _ in range(4):
        await store.retain(DAYS, 4, False)
        left.append(plain_count(await store.count(Filter())).get("succeeded", 0))

    assert left == [6, 2, 0, 0]


async def test_st11_ids_and_events_go_when_their_time_is_over(place: Place, clock: Clock) -> None:
    store = place.store
    before = await place.counts()
    soon = NOON + seconds(60)
    await store.keep(pending_event(("a", "b"), ("c", "d"), until=soon, seen=EventId("hook", "1", soon)))
    await store.keep(pending_event(("a", "b"), seen=EventId("hook", "2", LATER)))
    early = await store.retain(DAYS, 100, False)
    await clock.forward(61)

    await store.retain(DAYS, 100, False)

    assert sum(early.rows.values()) == 0
    assert await store.seen([EventId("hook", "1"), EventId("hook", "2")]) == [False, True]
    assert [row.keys for row in await store.undelivered(0, 10)] == [(("a", "b"),)]
    await clock.forward(8 * DAY)
    await store.retain(DAYS, 100, False)
    assert await place.counts() == before


async def test_st11_a_start_key_can_be_used_again_when_its_run_has_gone(store: Store, clock: Clock) -> None:
    key = new_run(start_key=("k", b""))
    await given(store, start(A, key), end(A, 1))
    await clock.forward(31 * DAY)
    await store.retain(DAYS, 100, False)

    assert (await store.commit([start(B, key)])).outcomes == ["applied"]


async def test_st11_published_versions_are_not_touched(store: Store, clock: Clock) -> None:
    version = await publish(store, "w", "text", b"{}", None, True)
    await clock.forward(3650 * DAY)

    await store.retain(DAYS, 100, False)

    assert await store.version("w", 1) == version


async def test_st11_whatever_is_out_of_date_goes_batch_by_batch_until_nothing_is_left(
    place: Place, clock: Clock
) -> None:
    ids = tuple(EventId("hook", str(n), NOON + seconds(5)) for n in range(17))
    events = tuple(pending_event(("job", str(n)), until=NOON + seconds(5)) for n in range(12))
    await given(place.store, start(A, seen=ids, pending_events=events))
    await clock.forward(10)
    retention = Retention(place.store, batch=5)

    rounds = 1
    while await retention.run_once():
        rounds += 1

    counts = await place.counts()
    assert (counts["seen"], counts["kept"], counts["run"]) == (0, 0, 1)
    assert rounds <= 5  # no more than the most rows of a table need, and one that finds nothing
