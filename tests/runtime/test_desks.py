"""Desks of workers that go away: they are not kept, nor are the lists that they asked for."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from penstock import Engine
from penstock.runtime import dispatch
from penstock.store.rows import Wish


def _wish(number: int) -> Wish:
    return Wish(worker=f"w{number}", task_lists=(f"list-{number}",), tasks=None, limit=1)


def test_a_worker_that_polls_in_vain_and_goes_leaves_no_desk() -> None:
    async def main() -> int:
        async with Engine("memory:") as engine:
            gate = (await engine.running()).node.dispatch
            for number in range(20):
                await gate.claim(_wish(number), timedelta(seconds=0.001))
            return sum(desk.worker.startswith("w") for desk in gate._desks.values())

    assert asyncio.run(main()) == 0


def test_a_worker_that_goes_off_with_work_leaves_no_desk_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatch, "PATIENCE", timedelta(seconds=0.05))
    flow = {
        "penstock": 1,
        "name": "f",
        "defaults": {"task_list": "list-1"},
        "steps": {"s": {"task": "far.do"}},
    }

    async def main() -> int:
        async with Engine(f"{tmp_path}/p.db") as engine, asyncio.timeout(10):
            gate = (await engine.running()).node.dispatch
            await engine.publish(flow)
            claiming = asyncio.create_task(gate.claim(_wish(1), timedelta(seconds=9)))
            while not any(desk.sitting and desk.worker == "w1" for desk in gate._desks.values()):
                await asyncio.sleep(0)
            await engine.start("f")
            given = await claiming
            while any(desk.worker == "w1" for desk in gate._desks.values()):
                await asyncio.sleep(0.01)
            return len(given)

    assert asyncio.run(main()) == 1


def test_lists_that_were_asked_for_are_not_remembered_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatch, "SEEN", 10)

    async def main() -> int:
        async with Engine("memory:") as engine:
            gate = (await engine.running()).node.dispatch
            for number in range(30):
                await gate.claim(_wish(number), timedelta(0))
            return len(gate._seen)

    assert asyncio.run(main()) <= 11
