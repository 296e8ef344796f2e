"""Programs that share a database with a server: what only the server can do is left to it."""

from __future__ import annotations

import asyncio
from typing import Any

from penstock import Engine
from penstock.boxes.task_environment import TaskEnvironment
from tests.boxes.conftest import functions, says
from tests.postgres_server import PostgresServer


def test_an_engine_that_was_told_of_no_world_leaves_calls_to_those_that_were(server: PostgresServer) -> None:
    """It took every second call, and failed it: its own list of hosts was empty."""

    async def talk() -> None:
        url = server.create_database()
        async with functions(f=says({"n": 1})) as far, asyncio.timeout(30):
            call = {"task": "http", "with": {"url": f"{far.base}/f"}}
            workflow: dict[str, Any] = {"penstock": 1, "name": "w", "steps": {"a": call}}
            async with Engine(url, tasks={"note": lambda: 1}) as program:
                await program.publish(workflow)
                runs = [await program.start("w") for _ in range(5)]
                await program.publish({"penstock": 1, "name": "own", "steps": {"b": {"task": "note"}}})
                assert (await program.wait(await program.start("own")))["status"] == "succeeded"
                assert {(await program.show(run))["steps"]["a"]["status"] for run in runs} == {"ready"}
                async with Engine(url, tasks={}, world=TaskEnvironment(egress_allow=["127.0.0.1"])):
                    ended = [(await program.wait(run))["status"] for run in runs]

        assert ended == ["succeeded"] * 5

    asyncio.run(talk())
