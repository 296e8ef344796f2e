"""The feed of changes: who reads it misses nothing, or is told."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from penstock.runtime.queries import change_feed as module
from penstock.runtime.queries.change_feed import Batch, Changes
from penstock.store.errors import StoreAway
from penstock.store.rows.rows import RunState


def state(run: str, seq: int = 1) -> RunState:
    return RunState(run, "w", "running", seq, None)


async def look(runs: Sequence[str]) -> list[RunState]:
    if "away" in runs:
        raise StoreAway("it sleeps")
    return [state(run) for run in runs]


async def nothing(runs: Sequence[str]) -> None: ...


def feed() -> Changes:
    return Changes(look, nothing)


def test_what_others_changed_is_read_in_order_once() -> None:
    async def main() -> list[Any]:
        changes = feed()
        reader = changes.reader()
        await changes.heard(["a", "b"])
        first = await reader.read(1)
        waiting = asyncio.create_task(reader.read(10))
        await asyncio.sleep(0)
        await changes.heard(["c"])
        return [first, await waiting, await reader.read(0.001)]

    first, second, none = asyncio.run(main())

    assert first == Batch([(1, state("a")), (2, state("b"))])
    assert (second, none) == (Batch([(3, state("c"))]), None)


@pytest.mark.parametrize("runs", [[], ["away"]])
def test_where_nobody_knows_what_changed_readers_begin_anew(runs: list[str]) -> None:
    async def main() -> list[Any]:
        changes = feed()
        reader = changes.reader()
        await changes.heard(["a"])
        await changes.heard(runs)
        return [await reader.read(1), await reader.read(0.001)]

    assert asyncio.run(main()) == [Batch([], reset=True), None]


def test_who_comes_back_after_nobody_looked_on_begins_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    async def back(linger: float) -> Batch | None:
        monkeypatch.setattr(module, "LINGER_TIMEOUT", linger)
        changes = feed()
        reader = changes.reader()
        await changes.heard(["a"])
        await reader.read(1)
        reader.close()
        await changes.heard(["b"])
        return await changes.reader(reader.id).read(0.001)

    assert asyncio.run(back(60)) == Batch([(2, state("b"))])
    assert asyncio.run(back(0)) == Batch([], reset=True)


def test_a_slow_reader_gets_what_it_can_at_once_and_the_rest_next(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_READ", 2)

    async def main() -> list[list[int]]:
        changes = feed()
        reader = changes.reader()
        await changes.heard([str(n) for n in range(5)])
        batches = [await reader.read(1) for _ in range(3)]
        return [[number for number, _ in batch.changes] for batch in batches if batch is not None]

    assert asyncio.run(main()) == [[1, 2], [3, 4], [5]]
