"""N6: what looks after tasks is no task itself: where every worker is gone, lost work is missed all the same."""

from __future__ import annotations

import asyncio

from penstock import Engine
from tests.store.builders import lease

WORK = """
penstock: 1
name: work
steps:
  a: {task: echo, timeouts: {heartbeat: 1s}, timeout_retries: []}
"""


def test_n6_lost_work_is_missed_where_nobody_works(url: str) -> None:
    async def main() -> str:
        async with Engine(url, tasks={}, work=False, grace=0) as engine:
            await engine.publish(WORK)
            run = await engine.start("work")
            store = (await engine.running()).store
            assert len(await lease(store, 1)) == 1, "somebody takes it, and is never heard of again"
            return str((await engine.wait(run, 60))["status"])

    assert asyncio.run(main()) == "failed"
