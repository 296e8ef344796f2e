"""The lists that people look at: filters, pages, counts, logs and workers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from penstock.store.protocol import Store
from penstock.store.rows.rows import (
    Filter,
    LockRow,
    LogLine,
    QueueRow,
    RunCount,
    RunRow,
    RunsByEnd,
    RunsByVersion,
    TimingRow,
    WaitingTasks,
    Worker,
)
from tests.store.builders import (
    NOON,
    A,
    B,
    C,
    D,
    change,
    end,
    given,
    lock,
    new_run,
    plain_count,
    run_id,
    seconds,
    start,
    task,
    wish,
)
from tests.store.conftest import Clock


async def some_runs(store: Store) -> None:
    hour = 3600
    await given(
        store,
        start(A, new_run(subject="ann", labels={"team": "red", "x": "y"}), keys=(("job", "7"),)),
        start(
            B,
            new_run(workflow="v", version=2, started_at=NOON + seconds(hour), labels={"team": "blue"}),
            status="waiting",
            waiting=json.dumps(["paid", "sent 🐙"]),
            rest=(("event", "paid"), ("event", "sent 🐙"), ("step", "ship")),
        ),
        start(C, new_run(subject="bob", started_at=NOON + seconds(2 * hour)), keys=(("job", "77"),)),
        end(C, 1, "failed", at=NOON + seconds(3 * hour), rest=(("step", "pack"), ("aside", "pack"))),
        start(
            f"{A}-1",
            new_run(parent=A, started_at=NOON + seconds(hour), labels={"team": "red' OR 1=1"}),
            tasks=(task(step="ship"),),
        ),
    )


async def test_a_run_is_listed_with_all_that_a_list_shows(store: Store) -> None:
    await some_runs(store)

    rows = {row.id: row for row in await store.runs(Filter())}

    assert rows[B] == RunRow(
        id=B,
        workflow="v",
        version=2,
        subject=None,
        status="waiting",
        parent=None,
        labels={"team": "blue"},
        waiting_for=["paid", "sent 🐙"],
        started_at=NOON + seconds(3600),
        ended_at=None,
    )
    assert rows[C] == RunRow(
        id=C,
        workflow="w",
        version=1,
        subject="bob",
        status="failed",
        parent=None,
        labels={},
        waiting_for=[],
        started_at=NOON + seconds(7200),
        ended_at=NOON + seconds(10800),
    )


CHILD = f"{A}-1"

FILTERS: list[tuple[dict[str, Any], list[str]]] = [
    ({}, [C, B, CHILD, A]),
    ({"workflow": "w"}, [C, CHILD, A]),
    ({"workflow": "v", "version": 2}, [B]),
    ({"workflow": "v", "version": 1}, []),
    ({"statuses": ("failed",)}, [C]),
    ({"statuses": ("failed", "waiting")}, [C, B]),
    ({"subject": "ann"}, [A]),
    ({"parent": A}, [CHILD]),
    ({"label": ("team", "red")}, [A]),
    ({"label": ("team", "red' OR 1=1")}, [CHILD]),
    ({"label": ("red", "team")}, []),
    ({"label": ('te"am', "red")}, []),
    ({"key": ("job", "7")}, [A]),
    ({"key": ("job", "8")}, []),
    ({"waiting_for": "sent 🐙"}, [B]),
    ({"waiting_for": "sent"}, []),
    ({"since": NOON + seconds(1800)}, [C, B, CHILD]),
    ({"until": NOON + seconds(5400)}, [B, CHILD, A]),
    ({"since": NOON + seconds(1800), "until": NOON + seconds(5400), "workflow": "w"}, [CHILD]),
    ({"key": ("job", "77")}, [C]),
    ({"waiting_for": "paid", "waiting_since": NOON + seconds(7200)}, [B]),
    ({"waiting_for": "paid", "waiting_since": NOON - seconds(1)}, []),
    ({"waiting_for": "paid", "workflow": "w"}, []),
    ({"step": "ship"}, [B, CHILD]),
    ({"step": "pack"}, [C]),
    ({"step": "pack", "statuses": ("running",)}, []),
    ({"step": "paid"}, []),
    ({"aside": True}, [C]),
    ({"aside": True, "statuses": ("running",)}, []),
    ({"q": "bo"}, [C]),
    ({"q": "7"}, [C, A]),
    ({"q": "7", "subject": "ann"}, [A]),
    ({"q": "b", "sort": "ended"}, [C]),
    ({"q": A}, [CHILD, A]),
    ({"q": "%"}, []),
    ({"q": "0000", "limit": 2}, [C, B]),
    ({"workflows": ("w",)}, [C, CHILD, A]),
    ({"workflows": ("v", "w*", "x*")}, [C, B, CHILD, A]),
    ({"workflows": ("x*",)}, []),
    ({"workflows": ()}, []),
    ({"workflows": ("v",), "workflow": "w"}, []),
    ({"workflows": ("v*",), "statuses": ("waiting",)}, [B]),
    ({"workflows": ("v*",), "statuses": ("failed",)}, []),
    ({"workflow": "w", "statuses": ("running", "failed")}, [C, CHILD, A]),
    ({"workflow": "w", "statuses": ("succeeded", "failed")}, [C]),
    ({"version": 1}, [C, CHILD, A]),
    ({"version": 2}, [B]),
    ({"sort": "oldest"}, [A, CHILD, B, C]),
    ({"sort": "oldest", "workflow": "w"}, [A, CHILD, C]),
    ({"sort": "ended"}, [C]),
    ({"sort": "ended", "workflow": "v"}, []),
    ({"sort": "ended", "label": ("team", "red")}, []),
    ({"after": (NOON + seconds(7200), C)}, [B, CHILD, A]),
    ({"after": (NOON + seconds(3600), CHILD)}, [A]),
    ({"after": (NOON + seconds(3600), B), "sort": "oldest"}, [C]),
    ({"after": (NOON + seconds(3600), CHILD), "label": ("team", "red")}, [A]),
    ({"limit": 2}, [C, B]),
    ({"subject": "' OR 1=1 --"}, []),
    ({"workflow": "w\x7f%"}, []),
]


@pytest.mark.parametrize(
    ("said", "wanted"), FILTERS, ids=[json.dumps(said, default=str) for said, _ in FILTERS]
)
async def test_every_part_of_a_filter_must_hold(
    store: Store, said: dict[str, Any], wanted: list[str]
) -> None:
    await some_runs(store)

    assert [row.id for row in await store.runs(Filter(**said))] == wanted


async def test_pages_follow_one_another_without_gap_or_overlap(store: Store) -> None:
    runs = [run_id(n) for n in range(1, 24)]
    await store.commit([start(run) for run in runs])

    pages: list[list[str]] = []
    after: tuple[Any, str] | None = None
    while page := [row.id for row in await store.runs(Filter(workflow="w", after=after, limit=10))]:
        pages.append(page)
        after = (NOON, page[-1])

    assert [len(page) for page in pages] == [10, 10, 3]
    assert [run for page in pages for run in page] == runs[::-1]


async def test_runs_are_counted_by_status(store: Store) -> None:
    await some_runs(store)

    assert plain_count(await store.count(Filter())) == {"running": 2, "waiting": 1, "failed": 1}
    assert plain_count(await store.count(Filter(workflow="w", limit=1))) == {"running": 2, "failed": 1}
    assert plain_count(await store.count(Filter(label=("team", "red")))) == {"running": 1}
    assert plain_count(await store.count(Filter(workflow="none"))) == {}


async def test_a_run_that_goes_on_waits_no_more(store: Store) -> None:
    resting = start(A, waiting='["e"]', status="waiting", rest=(("event", "e"),))
    await given(store, resting, change(A, 1, rest=()))

    assert [row.waiting_for for row in await store.runs(Filter())] == [[]]
    assert await store.runs(Filter(waiting_for="e")) == []


async def test_log_lines_come_in_order_in_pages(store: Store) -> None:
    await given(store, start(A), start(B))
    await store.log([LogLine(A, NOON, b"one\x00"), LogLine(B, NOON, b"other"), LogLine(A, NOON, b"two")])
    await store.log([LogLine(A, NOON - seconds(9), b"three")])
    await store.log([])

    lines = await store.logs(A, 0, 10)

    assert [body for _, body in lines] == [b"one\x00", b"two", b"three"]
    assert [number for number, _ in lines] == sorted({number for number, _ in lines})
    assert await store.logs(A, 0, 2) == lines[:2]
    assert await store.logs(A, lines[1][0], 10) == lines[2:]
    assert await store.logs(D, 0, 10) == []


def worker(id: str, **given: Any) -> Worker:
    plain: dict[str, Any] = {
        "name": f"host {id}",
        "task_lists": ("default", "gpu 🐙"),
        "tasks": ("a", "b"),
        "concurrency": 4,
        "started_at": NOON,
    }
    return Worker(id=id, **plain | given)


async def test_a_worker_that_is_there_is_listed_with_the_time_it_was_seen(store: Store, clock: Clock) -> None:
    await store.register(worker("one"))
    await store.register(worker("two", task_lists=(), tasks=()))
    now = await clock.forward(20)
    await store.register(worker("one", concurrency=8))

    assert sorted(await store.workers(), key=lambda one: one.id) == [
        worker("one", concurrency=8, seen_at=now),
        worker("two", task_lists=(), tasks=(), seen_at=NOON),
    ]


async def test_a_worker_that_gives_no_sign_of_life_is_listed_no_more(store: Store, clock: Clock) -> None:
    await store.register(worker("dead"))
    await clock.forward(30)
    await store.register(worker("alive"))

    await clock.forward(29)
    assert sorted(one.id for one in await store.workers()) == ["alive", "dead"]
    await clock.forward(1)
    assert [one.id for one in await store.workers()] == ["alive"]

    now = await clock.forward(1)
    await store.register(worker("alive"))
    await store.register(worker("dead", started_at=now))
    assert {one.id: one.started_at for one in await store.workers()} == {"alive": NOON, "dead": now}


async def test_a_worker_that_left_is_not_listed(store: Store) -> None:
    await store.register(worker("one"))
    await store.register(worker("two"))

    await store.deregister("one")
    await store.deregister("nobody")

    assert [one.id for one in await store.workers()] == ["two"]


async def test_the_timers_of_a_run_come_in_the_order_of_their_time(store: Store) -> None:
    late, soon = NOON + seconds(60), NOON + seconds(30)
    await given(store, start(A, timers=((late, b"late"), (soon, b"soon"))), start(B, timers=((soon, b"b"),)))

    assert (await store.waits(A)).timers == [(soon, b"soon"), (late, b"late")]
    assert (await store.waits(C)).timers == []


async def test_who_waits_for_a_key_is_told_behind_whom(store: Store) -> None:
    await given(
        store, start(A, locks=(lock("k"),)), start(B, locks=(lock("k"),)), start(C, locks=(lock("k", 7),))
    )

    plain: dict[str, Any] = {"index": -1, "key": "k", "holders": (A,)}
    assert (await store.waits(A)).locks == [LockRow(firing=1, held=True, ahead=0, **plain)]
    assert (await store.waits(B)).locks == [LockRow(firing=1, held=False, ahead=0, **plain)]
    assert (await store.waits(C)).locks == [LockRow(firing=7, held=False, ahead=1, **plain)]


async def test_old_tasks_and_those_that_wait_for_a_worker_are_told(store: Store, clock: Clock) -> None:
    await given(store, start(B, tasks=(task(step="late", task="u"),)))
    later = await clock.forward(60)
    await given(store, start(A, new_run(workflow="v"), tasks=(task(step="s"), task(2, step="s", held=True))))
    await store.lease(wish(1, tasks=("u",)))

    assert [
        (one.run, one.workflow, one.step, one.worker) for one in (await store.backlog(oldest=2)).oldest
    ] == [
        (B, "w", "late", "amy"),
        (A, "v", "s", None),
    ]
    assert (await store.backlog(stuck=10)).waiting == [
        WaitingTasks(task_list="default", task="t", count=1, oldest=later)
    ]


async def test_the_oldest_of_a_list_is_told_whatever_its_priority(store: Store, clock: Clock) -> None:
    noon = await store.now()
    await given(store, start(A, tasks=(task(priority=-3), task(2, task_list="b"))))
    await clock.forward(60)
    await given(
        store, start(B, tasks=(task(priority=9), task(2), task(3, held=True), task(4, task_list="c")))
    )
    await store.lease(wish(1, task_lists=("c",)))

    assert await store.queues() == [
        QueueRow(task_list="b", ready=1, held=0, leased=0, oldest=noon),
        QueueRow(task_list="c", ready=0, held=0, leased=1, oldest=None),
        QueueRow(task_list="default", ready=3, held=1, leased=0, oldest=noon),
    ]


async def test_runs_are_listed_by_step_whether_its_task_waits_is_held_or_under_way(store: Store) -> None:
    await given(
        store,
        start(A, tasks=(task(step="pack"),)),
        start(B, tasks=(task(step="pack", held=True),)),
        start(C, tasks=(task(step="pack", task_list="c"),)),
        start(D, tasks=(task(step="ship"),)),
    )
    await store.lease(wish(1, task_lists=("c",)))

    assert {row.id for row in await store.runs(Filter(step="pack", limit=10))} == {A, B, C}


async def test_a_running_run_that_nothing_can_move_is_stuck(store: Store) -> None:
    await given(
        store,
        start(A),
        start(B, tasks=(task(),)),
        start(C, status="waiting"),
        start(D, timers=((NOON, b""),)),
    )

    assert (await store.backlog(stuck=10)).stuck == [A]


async def test_how_long_an_attempt_waited_is_kept_unless_it_was_handed_over(
    store: Store, clock: Clock
) -> None:
    await given(store, start(A, tasks=(task(),)), start(B, tasks=(task(worker="w"),)))
    later = await clock.forward(9)
    await store.lease(wish())

    assert await store.timings([A, B, C], 10) == [TimingRow(A, 1, -1, 1, NOON, later)]


async def test_how_long_attempts_waited_is_told_of_the_first_of_each_run(store: Store, clock: Clock) -> None:
    await given(
        store, start(B, tasks=tuple(task(firing) for firing in (3, 1, 2))), start(A, tasks=(task(4),))
    )
    await clock.forward(9)
    await store.lease(wish())

    found = await store.timings([B, A], 2)
    assert [(row.run, row.firing) for row in found] == [(A, 4), (B, 1), (B, 2)]


async def test_how_long_attempts_waited_is_told_of_the_firings_that_are_asked_for(
    store: Store, clock: Clock
) -> None:
    tasks = [task(), task(firing=2), task(firing=3, index=0), task(firing=4)]
    await given(store, start(A, tasks=tuple(tasks)), start(B, tasks=(task(firing=2),)))
    later = await clock.forward(9)
    await store.lease(wish(limit=10))

    assert await store.timings([A], firings=[2, 3, 4, 5]) == [
        TimingRow(A, firing, -1, 1, NOON, later) for firing in (2, 4)
    ]


async def test_runs_are_tallied_by_version_and_status(store: Store) -> None:
    await some_runs(store)
    await given(store, start(D, new_run(version=2)), end(D, 1))

    day = seconds(86400)
    assert set(await store.counts(RunsByVersion("w", NOON, NOON + day))) == {
        RunCount("w", "running", 2, 1),
        RunCount("w", "failed", 1, 1),
        RunCount("w", "succeeded", 1, 2),
    }
    assert set(await store.counts(RunsByVersion("w", NOON + seconds(1), NOON + day))) == {
        RunCount("w", "running", 1, 1),
        RunCount("w", "failed", 1, 1),
    }
    assert await store.counts(RunsByVersion("none", NOON, NOON + day)) == []


async def test_ends_are_counted_by_workflow_status_and_time(store: Store) -> None:
    await some_runs(store)
    await given(store, start(D, new_run()), end(D, 1, at=NOON + seconds(90)))

    hour = seconds(3600)
    assert set(await store.counts(RunsByEnd(NOON, NOON + 4 * hour, hour))) == {
        RunCount("w", "succeeded", 1, 0),
        RunCount("w", "failed", 1, 3),
    }
    assert await store.counts(RunsByEnd(NOON, NOON + 3 * hour, hour)) == [RunCount("w", "succeeded", 1, 0)]
