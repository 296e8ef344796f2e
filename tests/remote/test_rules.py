"""Every rule of workers over real HTTP: the worker of Penstock, and one in plain Node.js."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path

import pytest

from penstock.remote.connection import Connection
from penstock.remote.gate import HttpGate
from penstock.runtime.dispatch.gate import Gate
from penstock.testing.worker_rules import RULES, Launch, Run, prove
from penstock.workers.worker.task_loader import load_tasks
from penstock.workers.worker.worker import Worker
from tests.remote.node import node
from tests.remote.serving import gate_behind_http

HERE = Path(__file__).parent
TASKS = HERE.parent / "workers"


def over_http(source: str, processes: bool = False) -> Launch:
    def launch(gate: Gate, concurrency: int, grace: timedelta) -> Run:
        async def run(stop: asyncio.Event) -> None:
            tasks = load_tasks([source])
            async with gate_behind_http(gate) as base:
                http = HttpGate(Connection(base), [task.offer for task in tasks.values()])
                how = (
                    {"processes": concurrency, "sources": [source]}
                    if processes
                    else {"concurrency": concurrency}
                )
                worker = Worker(http, tasks, name="rules", grace=grace, now=http.now, **how)
                await worker.run(stop)
                await http.close()

        return run

    return launch


def in_node(gate: Gate, concurrency: int, grace: timedelta) -> Run:
    async def run(stop: asyncio.Event) -> None:
        async with gate_behind_http(gate) as base:
            settings = {
                "PENSTOCK_SERVER": base,
                "CONCURRENCY": str(concurrency),
                "GRACE": str(grace.total_seconds()),
            }
            child = await asyncio.create_subprocess_exec(
                node(), str(HERE / "rule_tasks.mjs"), env={**os.environ, **settings}
            )
            try:
                await stop.wait()
                child.terminate()
                await asyncio.wait_for(child.wait(), 25)
            finally:
                if child.returncode is None:
                    child.kill()
                    await child.wait()

    return run


KINDS: dict[str, Callable[[Gate, int, timedelta], Callable[[asyncio.Event], Awaitable[None]]]] = {
    "coroutines": over_http(str(TASKS / "rule_tasks_async.py")),
    "node": in_node,
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rule", RULES)
def test_every_worker_over_http_keeps_every_rule(rule: str, kind: str, tmp_path: Path) -> None:
    prove(rule, KINDS[kind], tmp_path)


@pytest.mark.parametrize("rule", [name for name in RULES if name.startswith(("wk1_", "wk2_", "wk8_"))])
def test_processes_over_http_end_fail_and_are_stopped_by_the_same_rules(rule: str, tmp_path: Path) -> None:
    prove(rule, over_http(str(TASKS / "rule_tasks.py"), processes=True), tmp_path)


def test_the_worker_in_node_is_short_enough_to_be_copied() -> None:
    """Who writes one in another language reads it first: it is promised to have under 150 lines."""
    lines = (HERE.parent.parent / "clients" / "node" / "penstock-worker.mjs").read_text().splitlines()

    assert (len(lines) < 150, max(map(len, lines)) <= 135) == (True, True)
