"""Child runs on every store, and what befalls their parents meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from penstock import Engine
from penstock.store.change import Change, Committed
from tests.durable.conftest import Place

CHILD = "penstock: 1\nname: child\nexternal: [go]\nsteps:\n  a: {task: nop, after: go}\n"
PARENT = "penstock: 1\nname: parent\nsteps:\n  call: {task: workflow, with: {name: child}}\n"


async def nop() -> None:
    return None


def test_a_child_run_that_is_about_to_begin_does_not_outlive_its_parent(place: Place) -> None:
    reached, release, written = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def main(engine: Engine) -> None:
        await engine.publish(CHILD)
        await engine.publish(PARENT)
        store: Any = engine._running.store  # type: ignore[union-attr]
        write = store.commit

        async def commit(changes: Sequence[Change]) -> Committed:
            child = any(change.new is not None and change.new.parent is not None for change in changes)
            if child:
                reached.set()
                await release.wait()
            done: Committed = await write(changes)
            if child:
                written.set()
            return done

        store.commit = commit
        id = await engine.start("parent")
        await reached.wait()
        await engine.cancel(id)
        assert (await engine.wait(id, 30))["status"] == "canceled"
        await asyncio.sleep(place.unit / 3)  # whoever reads messages finds no child run to cancel
        release.set()
        await written.wait()
        assert await engine.runs(parent=id) == []

    place.run(main, {"nop": nop})
