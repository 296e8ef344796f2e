"""What a task promises to give: an output that does not fit fails the attempt, with its place."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest

from penstock import Engine, Out, task
from penstock.access.access import Access
from penstock.access.caller import ANYBODY_HERE
from penstock.workers.task import make_task, tasks_of
from tests.boxes.conftest import OWN

TEXT = """\
penstock: 1
name: w
steps:
  size: {task: size, retries: 1, backoff: {initial: 10ms}}
"""
SCHEMA: dict[str, Any] = {"type": "object", "required": ["size"], "properties": {"size": {"type": "integer"}}}


class Sized(msgspec.Struct):
    size: int


def run_of(answers: list[Any], output: Any) -> dict[str, Any]:
    """A run of one step whose attempts give these answers."""
    given = iter(answers)

    @task("size", output=output, ports=["done", "other"])
    def size() -> Any:
        return next(given)

    with Engine.sync("memory:", tasks=tasks_of([size])) as engine:
        engine.publish(TEXT)
        found: dict[str, Any] = engine.wait(engine.start("w"), 10)
        return found


@pytest.mark.parametrize("output", [SCHEMA, Sized])
def test_an_output_that_fits_is_taken(output: Any) -> None:
    run = run_of([{"size": 3}], output)

    assert (run["status"], run["steps"]["size"]["output"]) == ("succeeded", {"size": 3})


def test_an_output_that_does_not_fit_is_a_failed_attempt_and_tried_again() -> None:
    run = run_of([{"size": "three"}, {"size": 3}], SCHEMA)

    assert (run["status"], run["steps"]["size"]["attempts"]) == ("succeeded", 2)


def test_the_failure_says_where_the_output_does_not_fit() -> None:
    run = run_of([{"size": "three"}] * 2, SCHEMA)

    assert run["status"] == "failed"
    assert run["steps"]["size"]["error"] == {
        "kind": "error",
        "message": "the output of task 'size' does not fit its schema: size: the value is not of type \"integer\"",
        "detail": {"errors": ['size: the value is not of type "integer"']},
    }


def test_only_what_is_given_on_done_is_promised() -> None:
    run = run_of([Out({"nothing": True}, port="other")], SCHEMA)

    assert run["steps"]["size"]["output"] == {"nothing": True}


@pytest.mark.parametrize("output", [{"type": "strange"}, object, 5])
def test_a_promise_that_is_no_schema_is_refused_when_the_task_is_made(output: Any) -> None:
    with pytest.raises(ValueError, match="`output` of task 't' is no JSON Schema and no type of JSON: "):
        make_task(lambda: None, "t", output=output)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (
            Out({}, port="hunter22"),
            "the task ended on port '***' that step 'size' does not have; it has done",
        ),
        ({"size": 3, "hunter22": 4}, "size' does not fit its schema: it has properties that are not allowed"),
        ({"size": 3, "by": {"hunter22": "4"}}, 'by["…"]: the value is not of type "integer"'),
        (
            Out({"size": 3}, correlate={"hunter22": "x" * 9_000}),
            "a value in `correlate` of step 'size' has 9,000",
        ),
    ],
    ids=["port", "property", "place", "key"],
)
def test_what_a_task_named_by_a_secret_is_not_told(answer: Any, said: str, tmp_path: Path) -> None:
    by = {"type": "object", "additionalProperties": {"type": "integer"}}
    schema = {**SCHEMA, "properties": {**SCHEMA["properties"], "by": by}, "additionalProperties": False}

    @task("size", output=schema)
    def size() -> Any:
        return answer

    async def main() -> tuple[Any, ...]:
        async with Engine(f"sqlite:///{tmp_path}/a.db", tasks=tasks_of([size])) as engine:
            running = await engine.running()
            await Access(running.store, running.vault, OWN).set_secret(ANYBODY_HERE, "pw", "hunter22")
            await engine.publish(TEXT)
            run = await engine.wait(await engine.start("w"), 20)
            return run, await engine.history(run["id"])

    run, history = asyncio.run(main())

    assert said in run["error"]["message"]
    assert "hunter22" not in str((run, history))
