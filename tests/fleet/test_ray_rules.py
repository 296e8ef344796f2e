"""The rules of workers, on tasks that run on Ray."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from penstock.runtime.dispatch.gate import Gate
from penstock.testing.worker_rules import RULES, Launch, Run, prove
from penstock.workers.bridges.ray import RayCluster
from penstock.workers.worker.task_loader import load_tasks
from penstock.workers.worker.worker import Worker
from tests.suites import first_short
from tests.workers.test_worker_rules import ASYNC, PLAIN


def on(cluster: RayCluster, source: str) -> Launch:
    def launch(gate: Gate, concurrency: int, grace: timedelta) -> Run:
        tasks, fleet = load_tasks([source]), cluster.fleet_for([source])
        return Worker(gate, tasks, name="rules", concurrency=concurrency, grace=grace, fleet=fleet).run

    return launch


@pytest.mark.parametrize("rule", first_short(RULES, 3))
def test_a_worker_on_ray_keeps_every_rule(rule: str, cluster: RayCluster, tmp_path: Path) -> None:
    # Ray may have to start a process first: the task must have begun when its lease or time is over.
    pace = 8.0 if rule.startswith(("wk9_", "wk10_")) else 1.0
    prove(rule, on(cluster, PLAIN), tmp_path, pace)


@pytest.mark.long("test_a_worker_on_ray_keeps_every_rule")
@pytest.mark.parametrize("rule", [name for name in RULES if name.startswith(("wk1_", "wk2_", "wk8_"))])
def test_coroutines_on_ray_end_fail_and_are_stopped_by_the_same_rules(
    rule: str, cluster: RayCluster, tmp_path: Path
) -> None:
    prove(rule, on(cluster, ASYNC), tmp_path)
