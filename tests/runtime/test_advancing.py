"""Batches: one run that cannot be decided about or written must not take the others with it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from penstock import Engine
from penstock.runtime.errors import Invalid
from penstock.runtime.node.ids import new_run_id
from penstock.store.errors import StoreAway
from penstock.store.open import open_store
from penstock.store.rows.change import Change, Committed
from penstock.store.rows.rows import ClaimRequest

WORKFLOW = "penstock: 1\nname: w\nsteps:\n  a: {task: echo}\n"


async def echo() -> str:
    return "yes"


def test_a_change_that_the_store_cannot_write_hurts_no_other() -> None:
    async def main() -> None:
        store: Any = await open_store("memory:")
        write = store.commit

        async def commit(changes: Sequence[Change]) -> Committed:
            if any(change.new is not None and change.new.subject == "poison" for change in changes):
                raise TypeError("cannot be sent")
            result: Committed = await write(changes)
            return result

        store.commit = commit
        async with Engine(store=store, tasks={"echo": echo}) as engine:
            await engine.publish(WORKFLOW)
            subjects = ["a", "b", "poison", "c", "d"]
            starts = (engine.start("w", subject=subject) for subject in subjects)
            ids = await asyncio.gather(*starts, return_exceptions=True)
            assert [isinstance(id, TypeError) for id in ids] == [False, False, True, False, False]
            for id in ids:
                if isinstance(id, str):
                    assert (await engine.wait(id, 10))["status"] == "succeeded"

    asyncio.run(main())


def test_a_slot_that_got_its_work_is_not_freed_when_the_rest_of_the_batch_meets_an_outage() -> None:
    async def main() -> None:
        store: Any = await open_store("memory:")
        write, sizes = store.commit, list[int]()

        async def commit(changes: Sequence[Change]) -> Committed:
            sizes.append(len(changes))
            if len(sizes) == 1:
                raise TypeError("cannot be sent")
            if len(sizes) > 2:
                raise StoreAway("gone")
            result: Committed = await write(changes)
            return result

        async with Engine(store=store, tasks={}) as engine:
            await engine.publish(WORKFLOW)
            dispatch = (await engine.running()).node.dispatch
            wish = ClaimRequest(worker="w", tasks=None, task_lists=("default",), limit=10)
            waiting = asyncio.ensure_future(dispatch.claim(wish, timedelta(seconds=10)))
            while not any(slot.sitting and slot.key[0] == "w" for slot in dispatch._slots.values()):
                await asyncio.sleep(0)
            store.commit = commit
            starts = await asyncio.gather(*(engine.start("w") for _ in range(4)), return_exceptions=True)
            store.commit = write
            given = await waiting
            assert (sizes, [isinstance(each, str) for each in starts]) == (
                [4, 2, 2],
                [True, True, False, False],
            )
            assert [each.lease.run for each in given] == starts[:2]
            [slot] = [each for each in dispatch._slots.values() if each.key[0] == "w"]
            assert (slot.coming, slot.room) == (0, 8)

    asyncio.run(main())


def test_who_looks_on_cannot_make_what_is_durable_look_lost(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        async with Engine(tasks={"echo": echo}) as engine:
            await engine.publish(WORKFLOW)
            advancer = (await engine.running()).node.advancer
            seen: list[int] = []

            def broken(*what: object) -> None:
                raise KeyError("observer")

            advancer.observe(broken, broken)
            advancer.observe(lambda decisions: seen.append(len(decisions)))
            id = await engine.start("w")
            assert (await engine.wait(id, 10))["status"] == "succeeded"
            assert sum(seen) >= 2

    asyncio.run(main())
    assert "could not be shown" in caplog.text


@pytest.mark.parametrize("bad", ["a\0b", "\ud800"])
def test_a_text_that_no_database_keeps_is_refused_before_anything_happens(bad: str) -> None:
    async def main() -> None:
        async with Engine(tasks={"echo": echo}) as engine:
            await engine.publish(WORKFLOW)
            given: list[dict[str, Any]] = [
                {"subject": bad},
                {"labels": {"team": bad}},
                {"idempotency_key": bad},
            ]
            for wrong in given:
                with pytest.raises(Invalid, match="cannot be kept"):
                    await engine.start("w", **wrong)
            with pytest.raises(Invalid, match="cannot be kept"):
                await engine.emit("e", key={"job": bad})
            assert await engine.runs() == []

    asyncio.run(main())


def test_ids_of_one_process_rise() -> None:
    made = [new_run_id() for _ in range(10_000)]

    assert made == sorted(set(made))
