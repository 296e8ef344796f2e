"""A run that was just started is shown by who made it, as the store would show it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from penstock import Engine

FLOW = {
    "penstock": 1,
    "name": "f",
    "steps": {"s": {"task": "far.do"}, "t": {"task": "far.do", "after": ["s"]}},
}


async def _both(engine: Engine) -> tuple[dict[str, Any], dict[str, Any], int]:
    """Shown by who started it, shown by the store, and how often the first looked into the store."""
    looked = 0
    store = (await engine.running()).store
    read = store.tasks

    async def tasks(run: str) -> Any:
        nonlocal looked
        looked += 1
        return await read(run)

    store.tasks = tasks  # type: ignore[method-assign]
    run = await engine.start("f")
    own = await engine.show(run, own=True)
    before = looked
    return own, await engine.show(run), before


def test_who_starts_a_run_sees_what_the_store_has_without_a_look_into_it(tmp_path: Path) -> None:
    async def main() -> None:
        async with Engine(f"{tmp_path}/p.db", work=False) as engine:
            await engine.publish(FLOW)
            own, stored, looked = await _both(engine)
        assert own == stored
        assert (own["steps"]["s"]["status"], own["steps"]["s"]["reason"]) == ("ready", "no worker")
        assert looked == 0

    asyncio.run(main())


def test_a_run_that_begins_in_a_pause_is_shown_as_held(tmp_path: Path) -> None:
    async def main() -> None:
        async with Engine(f"{tmp_path}/p.db", work=False) as engine:
            await engine.publish(FLOW)
            await engine.pause_workflow("f")
            own, stored, _ = await _both(engine)
        assert own == stored
        assert own["steps"]["s"]["reason"] == "pause"

    asyncio.run(main())
