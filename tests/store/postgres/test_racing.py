"""Many committers at once: no deadlock reaches a caller, and no update is lost."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable

import pytest
from msgspec.structs import replace

from penstock.store.postgres.commit.commit import commit_once
from penstock.store.postgres.database import SQL, Work
from penstock.store.postgres.store import PostgresStore
from penstock.store.rows.change import EndedTask, Lock, Unlock
from penstock.store.rows.rows import ClaimRequest, Heartbeat, Lease
from tests.store.postgres.making import moved, name, opened, started, task, with_store

RUNS = [name(n) for n in range(12)]


async def move_runs(store: PostgresStore, seed: int, counts: dict[str, int], share: int) -> None:
    """Move random runs, in random order, until this committer has done its share."""
    chance, done = random.Random(seed), 0
    while done < share:
        some = chance.sample(RUNS, 6)
        loaded = {one.run: one.revision for one in await store.load(some) if one}
        changes = [
            moved(
                run, base, locks=(Lock("key", 1, base, -1, b"yours"),), unlocks=(Unlock("key", base - 1, -1),)
            )
            for run, base in loaded.items()
        ]
        outcomes = (await store.commit(changes)).outcomes
        for change, outcome in zip(changes, outcomes, strict=True):
            assert outcome in ("applied", "stale")
            counts[change.run] += outcome == "applied"
            done += outcome == "applied"


def race(url: str, share: int) -> tuple[bool, list[str], int]:
    """Four committers on two pools: whether all that was applied is there, what is damaged, and how many deadlocks."""
    counts = dict.fromkeys(RUNS, 1)

    async def main(store: PostgresStore) -> tuple[bool, list[str], int]:
        await store.commit([started(run) for run in RUNS])
        async with opened(url) as other:
            await asyncio.gather(*(move_runs(s, n, counts, share) for n, s in enumerate((store, other) * 2)))
            revisions = {one.run: one.revision for one in await store.load(RUNS) if one}
            wrong = [line for line in await store.check() if "history" in line or "key" in line]
            return revisions == counts, wrong, store.database.retried + other.database.retried

    return with_store(url, main)


def test_n19_overlapping_batches_in_any_order_lose_nothing(url: str) -> None:
    assert race(url, 60) == (True, [], 0)


@pytest.mark.long(
    "tests/store/postgres/test_racing.py::test_n19_overlapping_batches_in_any_order_lose_nothing"
)
def test_n19_runs_that_are_locked_in_any_order_are_seen_to_deadlock(
    url: str, monkeypatch: pytest.MonkeyPatch, record_property: Callable[[str, object], None]
) -> None:
    query = SQL["update_run"]
    assert "ORDER BY run.id" in query.text
    text = query.text.replace("ORDER BY run.id", "ORDER BY random()")
    monkeypatch.setitem(SQL, "update_run", replace(query, text=text))

    whole, wrong, deadlocks = race(url, 60)

    record_property("planted", {"scar": "N19", "name": "runs locked in any order", "seed": deadlocks or None})
    assert (whole, wrong, deadlocks > 0) == (True, [], True)


def test_n19_renewals_and_endings_at_once_do_not_block_each_other(url: str) -> None:
    tasks = [task(firing, worker="me") for firing in range(1, 81)]
    leases = [Lease(RUNS[0], one.firing, -1, 1, 1) for one in tasks]

    async def renew(store: PostgresStore) -> None:
        for _ in range(20):
            await store.renew([Heartbeat(lease) for lease in random.sample(leases, len(leases))])

    async def end(store: PostgresStore) -> None:
        for turn in range(20):
            ended = tuple(EndedTask(firing, -1, 1, 1) for firing in range(turn * 4 + 1, turn * 4 + 5))
            answer = await store.commit([moved(RUNS[0], turn + 1, ended=ended)])
            assert answer.outcomes == ["applied"]

    async def main(store: PostgresStore) -> int:
        await store.commit([started(RUNS[0], tasks=tuple(tasks))])
        await asyncio.gather(renew(store), renew(store), end(store))
        return len(await store.tasks(RUNS[0]))

    assert with_store(url, main) == 0


@pytest.mark.parametrize("lists", [("a",), ("a", "b")])
def test_st6_who_asks_while_another_takes_gets_the_next_tasks(url: str, lists: tuple[str, ...]) -> None:
    tasks = [task(firing, task_list=lists[firing % len(lists)]) for firing in range(40)]
    wish = {"task_lists": list(lists), "tasks": None, "limit": 5}

    async def main(store: PostgresStore) -> list[list[int]]:
        await store.commit([started(RUNS[0], tasks=tuple(tasks))])

        async def take(work: Work) -> list[list[int]]:
            mine = await work.rows(
                "lease_tasks" if len(lists) == 1 else "lease_from_lists", worker="me", **wish
            )
            theirs = await store.lease(ClaimRequest(worker="you", task_lists=lists, tasks=None, limit=5))
            return [sorted(row["firing"] for row in mine), [one.lease.firing for one in theirs]]

        return await store.database.transact(take)

    assert with_store(url, main) == [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]


async def meanwhile(work: Work, call: asyncio.Future[list[bool]]) -> None:
    """Until the call is answered, or waits for what this transaction has."""
    while not call.done() and not await work.connection.fetchval("SELECT 1 FROM pg_locks WHERE NOT granted"):
        pass


@pytest.mark.parametrize(("before", "after"), [("paused", "running"), ("running", "paused")])
def test_st5_a_task_given_back_while_its_run_is_paused_or_resumed_is_held_like_its_run(
    url: str, before: str, after: str
) -> None:
    mine = Lease(RUNS[0], 1, -1, 1, 1)

    async def main(store: PostgresStore) -> tuple[list[bool], list[bool], list[str]]:
        await store.commit([started(RUNS[0], status=before, tasks=(task(1, worker="me"),))])
        change = moved(RUNS[0], 1, status=after, hold=after == "paused")

        async def turn(work: Work) -> asyncio.Future[list[bool]]:
            await commit_once(work, changes=[change], look=False)
            call = asyncio.ensure_future(store.release([mine]))
            await meanwhile(work, call)
            return call

        given_back = await (await store.database.transact(turn))
        return given_back, [row.held for row in await store.tasks(RUNS[0])], await store.check()

    assert with_store(url, main) == ([True], [after == "paused"], [])
