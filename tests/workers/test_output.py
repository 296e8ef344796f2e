"""What a task promises to give: what does not fit fails the attempt for good, and names the field."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest

from penstock import Engine, Out, task
from penstock.access.access import Access
from penstock.access.caller import ANYBODY_HERE
from penstock.workers.task import tasks_of
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


def run_of(answers: list[Any], output: Any = None, **promised: Any) -> dict[str, Any]:
    """A run of one step whose attempts give these answers."""
    given = iter(answers)

    @task("size", output=output, ports=["done", "other"], **promised)
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


def test_an_output_that_does_not_fit_fails_the_step_without_another_try() -> None:
    run = run_of([{"size": "three"}, {"size": 3}], SCHEMA)

    assert (run["status"], run["steps"]["size"]["attempts"]) == ("failed", 1)


def test_the_failure_says_where_the_output_does_not_fit() -> None:
    run = run_of([{"size": "three"}], SCHEMA)

    assert run["status"] == "failed"
    assert run["steps"]["size"]["error"] == {
        "kind": "fatal",
        "message": "what task 'size' gave does not fit what it offers: output.size: expected integer, found string",
        "detail": {"errors": ["output.size: expected integer, found string"]},
    }


def test_the_output_of_another_port_may_be_anything_where_nothing_is_said_of_it() -> None:
    run = run_of([Out({"nothing": True}, port="other")], SCHEMA)

    assert run["steps"]["size"]["output"] == {"nothing": True}


@pytest.mark.parametrize(
    ("answer", "wrong"),
    [
        (Out({"size": 3}, port="other"), []),
        (Out({"size": None}, port="other"), ["output.size: expected integer, found null"]),
        (Out([], port="other"), ["output: expected object, found array"]),
        ({"nothing": True}, []),
    ],
)
def test_each_port_has_a_schema_of_its_own(answer: Any, wrong: list[str]) -> None:
    assert violations_of(run_of([answer], outputs={"other": Sized})) == wrong


@pytest.mark.parametrize(
    ("answer", "wrong"),
    [
        (Out(set={"size": 3}), []),
        (Out(set={"size": "3"}), ["set.size: expected integer, found string"]),
        (Out(set={"size": 3, "more": 1}), ["set: it has properties that are not allowed"]),
        (Out(set={"size": True}, port="other"), ["set.size: expected integer, found boolean"]),
        (Out(port="other"), []),
        (None, ['set: "size" is a required property']),
    ],
)
def test_what_is_set_on_the_data_must_fit_and_done_must_set_it(answer: Any, wrong: list[str]) -> None:
    assert violations_of(run_of([answer], sets=Sized)) == wrong


def violations_of(run: dict[str, Any]) -> list[str]:
    error = run["steps"]["size"]["error"]
    return [] if error is None else list(error["detail"]["errors"])


def test_each_element_is_held_against_the_schema_by_itself() -> None:
    @task("count", output=int)
    def count(item: Any) -> Any:
        return item

    text = """\
penstock: 1
name: w
steps:
  count: {task: count, each: "[1, 'two', 3]", each_failure: collect, with: {item: "${ item }"}}
"""
    with Engine.sync("memory:", tasks=tasks_of([count])) as engine:
        engine.publish(text)
        output = engine.wait(engine.start("w"), 10)["steps"]["count"]["output"]

    wrong = "what task 'count' gave does not fit what it offers: output: expected integer, found string"
    assert [output[0], output[1]["error"]["message"], output[2]] == [1, wrong, 3]


@pytest.mark.parametrize("output", [{"type": "strange"}, object, 5])
def test_a_promise_that_is_no_schema_is_refused_when_the_task_is_made(output: Any) -> None:
    with pytest.raises(ValueError, match="`output` of task 't' is no JSON Schema and no type of JSON: "):
        task("t", output=output)(lambda: None)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (
            Out({}, port="hunter22"),
            "the task ended on port '***' that step 'size' does not have; it has done",
        ),
        ({"size": 3, "hunter22": 4}, "what it offers: output: it has properties that are not allowed"),
        ({"size": 3, "by": {"hunter22": "4"}}, 'output.by["…"]: expected integer, found string'),
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
