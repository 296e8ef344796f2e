"""Batches: one run that cannot be decided about or written must not take the others with it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from penstock import Engine
from penstock.runtime.errors import Invalid
from penstock.runtime.ids import new_run_id
from penstock.store.change import Change, Committed
from penstock.store.opening import open_store

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
