"""The rules of workers, on tasks that run on Ray."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from penstock.runtime.gate import Gate
from penstock.testing.worker_rules import RULES, Launch, Run, prove
from penstock.workers.executors.ray import RayCluster
from penstock.workers.loading import load_tasks
from penstock.workers.worker import Worker

pytestmark = pytest.mark.xdist_group("ray")


def on(cluster: RayCluster) -> Launch:
    def launch(gate: Gate, concurrency: int, grace: timedelta) -> Run:
        tasks = load_tasks(cluster.sources)
        worker = Worker(gate, tasks, name="rules", concurrency=concurrency, grace=grace, fleet=cluster.muster)
        return worker.run

    return launch


@pytest.mark.parametrize("rule", RULES)
def test_a_worker_on_ray_keeps_every_rule(rule: str, cluster: RayCluster, tmp_path: Path) -> None:
    prove(rule, on(cluster), tmp_path)
