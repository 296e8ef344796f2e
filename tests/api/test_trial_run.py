"""A trial run stands in for the steps that it does not do."""

from __future__ import annotations

import msgspec
import pytest

from penstock import task
from penstock.api.trial_run import play
from penstock.api.wire.trials import Try, TryStub
from penstock.engine.authoring.loader import load
from penstock.workers.task import tasks_of

FLOW = {"penstock": 1, "name": "w", "steps": {"a": {"task": "count"}, "b": {"task": "other", "after": "a"}}}


@task("count")
def count() -> int:
    return 1


@task("other")
def other() -> int:
    return 2


@pytest.mark.parametrize(
    "body", [Try(), Try(real=["a"]), Try(stubs={"a": TryStub(port="done")}), Try(from_="b")]
)
def test_a_step_that_is_not_done_need_not_give_what_its_task_offers(body: Try) -> None:
    tasks = tasks_of([count, other])
    tried = msgspec.to_builtins(play(load(FLOW, tasks).flow, body, tasks if body.real else {}).run)

    assert tried["status"] == "succeeded"


def test_a_stub_must_give_what_its_task_offers() -> None:
    tasks = tasks_of([count, other])
    tried = msgspec.to_builtins(play(load(FLOW, tasks).flow, Try(stubs={"a": TryStub(output="one")}), {}).run)

    assert tried["status"] == "failed"
    assert "output: expected integer, found string" in str(tried)
