"""A node that had its store for itself and died leaves leases behind: the next one does not wait for them."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from penstock import Engine
from penstock.store.open import open_store
from penstock.store.rows.rows import ClaimRequest

STEPS = {"penstock": 1, "name": "w", "steps": {"a": {"task": "note", "emits": "OK"}}}


async def note() -> str:
    return "done"


def test_what_the_dead_node_worked_on_itself_goes_on_at_once_and_what_others_do_stays(tmp_path: Path) -> None:
    db = str(tmp_path / "penstock.db")

    async def leased_to(*workers: str) -> list[str]:
        """The runs that these workers hold when their node dies."""
        async with Engine(db, tasks={"note": note}, work=False) as engine:
            await engine.publish(STEPS)
            for _ in workers:
                await engine.start("w")
        store = await open_store(db)
        wishes = [
            ClaimRequest(worker=each, task_lists=("default",), tasks=("note",), limit=1) for each in workers
        ]
        found = [(await store.lease(each))[0].lease.run for each in wishes]
        await store.close()
        return found

    async def main() -> Any:
        ours, theirs = await leased_to("here-dead", "a-worker-elsewhere")
        async with asyncio.timeout(30), Engine(db, tasks={"note": note}) as engine:
            run = await engine.wait(ours, 20)
            return run["status"], (await engine.show(theirs))["status"]

    assert asyncio.run(main()) == ("succeeded", "running")
