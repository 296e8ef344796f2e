"""What operators do: check the rows, make a copy, ask for facts. And the bell, which is a hint only."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from penstock.store.protocol import Store
from penstock.store.rows.change import Part
from tests.store.builders import LATER, A, B, C, D, change, end, given, lock, run_id, seconds, start, task
from tests.store.places import Place

DATABASES = pytest.mark.parametrize("kind", ["sqlite", "postgres"])
"""Rows can be spoiled there; the model has none."""


async def test_nothing_is_wrong_with_rows_that_the_store_wrote(store: Store) -> None:
    await given(
        store,
        start(A, tasks=(task(),), parts=(Part("e", 1, 0, b"x"),)),
        change(A, 1, seq=5, page_from=2),
        start(B, status="waiting", waiting='["e"]'),
        start(C, timers=((LATER, b"t"),)),
        start(D, locks=(lock("k"),)),
        start(run_id(5), tasks=(task(),)),
        end(run_id(5), 1),
    )

    assert await store.check() == []


@DATABASES
async def test_a_gap_in_the_history_is_found(place: Place) -> None:
    store = place.store
    await given(store, start(A, tasks=(task(),)), change(A, 1), change(A, 2), start(B, tasks=(task(),)))
    await place.sql("DELETE FROM history WHERE seq = 2")

    (found,) = await store.check()
    assert A in found


@DATABASES
async def test_a_task_of_a_run_that_is_over_is_found(place: Place) -> None:
    store = place.store
    await given(store, start(A, tasks=(task(),)), start(B, tasks=(task(),)), end(B, 1))
    await place.sql(f"UPDATE task SET run = '{B}' WHERE run = '{A}'")

    found = " ".join(await store.check())
    assert B in found


@DATABASES
async def test_a_run_whose_only_task_is_held_although_it_runs_is_stuck(place: Place) -> None:
    store = place.store
    await given(
        store,
        start(A, tasks=(task(held=True),)),
        start(B, tasks=(task(held=True), task(2))),
        start(C, status="paused", tasks=(task(held=True),)),
    )
    assert [A in line for line in await store.check() if "no task" in line] == [True]


@DATABASES
async def test_a_held_task_of_a_run_that_is_not_paused_is_found(place: Place) -> None:
    store = place.store
    await given(
        store,
        start(A, tasks=(task(held=True), task(2))),
        start(B, status="paused", tasks=(task(held=True),)),
    )
    (found,) = await store.check()
    assert (A in found, "held" in found) == (True, True)


@pytest.mark.parametrize("run", [A, B])
@DATABASES
async def test_a_key_that_an_ended_run_has_or_waits_for_is_found(place: Place, run: str) -> None:
    store = place.store
    await given(store, start(A, locks=(lock("k"),)), start(B, locks=(lock("k"),)))
    await place.sql(f"UPDATE run SET status = 'failed', ended_at = started_at WHERE id = '{run}'")

    (found,) = await store.check()
    assert (run in found, "'k'" in found) == (True, True)


async def test_a_file_that_is_there_is_not_overwritten(store: Store, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    copy.write_text("precious")

    with pytest.raises(Exception, match=r"copy"):
        await store.backup(str(copy))

    assert copy.read_text() == "precious"
    assert (await store.commit([start(A)])).outcomes == ["applied"]


async def test_facts_are_for_people_and_can_be_printed(store: Store) -> None:
    facts = await store.facts()

    assert facts and json.loads(json.dumps(facts, default=str))


async def test_who_hears_nothing_gets_none_when_the_time_is_over(store: Store) -> None:
    assert await store.listen(seconds(0.01)) is None


async def test_a_ring_hurts_nobody(store: Store, other: Store) -> None:
    await store.notify("tasks")
    await other.notify("messages")

    assert (await store.commit([start(A)])).outcomes == ["applied"]


async def test_a_caller_that_gives_up_does_not_stop_the_others(store: Store) -> None:
    changes = [start(run_id(n)) for n in range(1, 41)]
    calls = [asyncio.ensure_future(store.commit([one])) for one in changes]
    await asyncio.sleep(0)
    for call in calls[::2]:
        call.cancel()

    answers = await asyncio.gather(*calls, return_exceptions=True)

    applied = [answer for answer in answers if not isinstance(answer, BaseException)]
    assert len(applied) >= 20
    assert all(answer.outcomes == ["applied"] for answer in applied)
    again = await store.commit(changes)
    assert set(again.outcomes) <= {"applied", "stale"}
    assert [one and one.revision for one in await store.load([one.run for one in changes])] == [1] * 40
