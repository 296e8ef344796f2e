"""The rules of workers, on a bridge to Celery."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from penstock.runtime.dispatch.gate import Gate
from penstock.testing.worker_rules import RULES, Launch, Run, prove
from penstock.workers.bridges.celery import celery_executor_factory
from penstock.workers.bridges.celery_app import PREFIX, celery_tasks
from penstock.workers.worker.worker import Worker

WITHOUT = ("wk16_",)
"""Celery has no way back for lines that a task writes."""


def bridge(app: Any) -> Launch:
    def launch(gate: Gate, concurrency: int, grace: timedelta) -> Run:
        # The rules know their tasks by their bare names.
        tasks = {name.removeprefix(PREFIX): task for name, task in celery_tasks(app).items()}
        fleet = celery_executor_factory(app, f"rules-{uuid4().hex}")  # runs of all rules have the same names
        return Worker(gate, tasks, name="rules", concurrency=concurrency, grace=grace, fleet=fleet).run

    return launch


@pytest.mark.parametrize("rule", [name for name in RULES if not name.startswith(WITHOUT)])
def test_a_bridge_to_celery_keeps_the_rules_of_workers(rule: str, celery: Any, tmp_path: Path) -> None:
    prove(rule, bridge(celery), tmp_path)
