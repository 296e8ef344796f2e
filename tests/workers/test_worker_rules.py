"""Every rule of workers, on each way of running tasks."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from penstock.runtime.dispatch.gate import Gate
from penstock.testing.worker_rules import RULES, Launch, Run, prove
from penstock.workers.worker.task_loader import load_tasks
from penstock.workers.worker.worker import Worker

HERE = Path(__file__).parent
PLAIN, ASYNC = str(HERE / "rule_tasks.py"), str(HERE / "rule_tasks_async.py")


def in_this_process(source: str) -> Launch:
    def launch(gate: Gate, concurrency: int, grace: timedelta) -> Run:
        return Worker(gate, load_tasks([source]), name="rules", concurrency=concurrency, grace=grace).run

    return launch


def in_children(source: str) -> Launch:
    def launch(gate: Gate, concurrency: int, grace: timedelta) -> Run:
        tasks, sources = load_tasks([source]), [source]
        return Worker(gate, tasks, name="rules", processes=concurrency, sources=sources, grace=grace).run

    return launch


KINDS = {
    "coroutines": in_this_process(ASYNC),
    "threads": in_this_process(PLAIN),
    "processes": in_children(PLAIN),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rule", RULES)
def test_every_kind_of_worker_keeps_every_rule(rule: str, kind: str, tmp_path: Path) -> None:
    prove(rule, KINDS[kind], tmp_path)


@pytest.mark.parametrize("rule", [name for name in RULES if name.startswith(("wk1_", "wk2_", "wk8_"))])
def test_coroutines_in_processes_end_fail_and_are_stopped_by_the_same_rules(
    rule: str, tmp_path: Path
) -> None:
    prove(rule, in_children(ASYNC), tmp_path)
