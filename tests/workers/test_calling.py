"""Calling a task: whatever it returns or raises becomes one outcome."""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest

from penstock import Context, Fatal, Out
from penstock.flow.model.run import Failure
from penstock.flow.model.run_input import Done, Failed, Outcome
from penstock.workers.context import Context as RealContext
from penstock.workers.execute.task_call import call, read_answer
from penstock.workers.task import make_task
from tests.flow.driver import Drive, flow_of


def outcome(function: Any, params: str = "{}", input: Any = None) -> Outcome:
    attempt = Drive(flow_of(f"s: {{task: t, with: {params}}}"), input).tasks["s"]
    return call(make_task(function, "t"), attempt, RealContext(attempt))


def failure(function: Any, params: str = "{}") -> tuple[str, str, bool]:
    failed = outcome(function, params)
    assert isinstance(failed, Failed)
    return failed.error.kind, failed.error.message, failed.retry


def test_the_output_is_what_it_returns() -> None:
    assert outcome(lambda: {"n": (1, 2)}) == Done(output={"n": [1, 2]})
    assert outcome(lambda: None) == Done()


def test_out_says_more_than_the_output() -> None:
    full = Out({"a": 1}, "failed", {"t": "x", "gone": None}, {"d": 1}, {"job": "7"})

    assert outcome(lambda: full) == Done(
        port="failed", output={"a": 1}, tags={"t": "x", "gone": None}, set={"d": 1}, correlate={"job": "7"}
    )


def test_what_a_task_does_to_its_value_later_does_not_change_the_run() -> None:
    kept: list[int] = [1]

    done = outcome(lambda: kept)
    kept.append(2)

    assert done == Done(output=[1])


def test_dataclasses_and_times_become_json() -> None:
    @dataclass
    class Size:
        width: int
        at: datetime

    answer = read_answer(Size(3, datetime(2026, 1, 1, tzinfo=UTC)))

    assert answer == Done(output={"width": 3, "at": "2026-01-01T00:00:00Z"})


@pytest.mark.parametrize("value", [object(), {"x": math.nan}, [math.inf], 2**70, {1: object()}])
def test_what_is_not_json_fails_without_another_try(value: Any) -> None:
    kind, message, retry = failure(lambda: value)

    assert (kind, retry) == ("error", False)
    assert message.startswith("the task returned something that is not JSON: ")


def test_an_output_over_the_limit_is_refused_with_the_remedy() -> None:
    kind, message, retry = failure(lambda: "x" * 300_000)

    assert (kind, retry) == ("too_large", False)
    assert message == (
        "the output has 300002 bytes of JSON, 262144 at most: keep it elsewhere and hand on a reference"
    )


def test_what_it_raises_is_a_failure_that_may_be_tried_again() -> None:
    def broken() -> None:
        raise ValueError("no such file")

    failed = outcome(broken)

    assert isinstance(failed, Failed)
    assert (failed.error.kind, failed.error.message, failed.retry) == (
        "error",
        "ValueError: no such file",
        True,
    )
    assert failed.error.detail["type"] == "ValueError"
    assert "broken" in failed.error.detail["traceback"]


def test_fatal_is_not_tried_again() -> None:
    def broken() -> None:
        raise Fatal("not a video")

    def silent() -> None:
        raise Fatal

    assert failure(broken) == ("fatal", "not a video", False)
    assert failure(silent) == ("fatal", "the task raised Fatal without a message", False)


def test_parameters_are_checked_by_the_hints() -> None:
    def takes(ctx: Context, path: str, n: int = 1) -> list[Any]:
        return [path, n]

    assert outcome(takes, "{path: a}") == Done(output=["a", 1])
    assert failure(takes, "{}") == (
        "fatal",
        "the parameters of task 't' do not fit: Object missing required field `path`; look at the step's `with`",
        False,
    )
    assert failure(takes, "{path: 3}")[1].startswith("the parameters of task 't' do not fit: Expected `str`")
    assert failure(takes, "{path: a, pth: b}")[1] == "task 't' has no parameter `pth`; it takes path, n"


def test_a_task_may_take_any_parameters() -> None:
    def takes(n: int, **rest: Any) -> Any:
        return {"n": n, **rest}

    assert outcome(takes, "{n: 1, x: 2}") == Done(output={"n": 1, "x": 2})
    assert outcome(lambda **rest: rest, "{x: 2}") == Done(output={"x": 2})


def test_the_context_tells_of_the_run() -> None:
    seen: dict[str, Any] = {}

    def look(ctx: Context) -> None:
        seen.update(
            run=ctx.run,
            data=ctx.data,
            input=ctx.input,
            events=ctx.events,
            step=ctx.step,
            index=ctx.index,
            attempt=ctx.attempt,
            key=ctx.idempotency_key,
            canceled=ctx.canceled,
            beat=ctx.heartbeat(0.5),
            tags=ctx.tags,
        )
        ctx.log("step %s", ctx.step)
        ctx.log.warning("careful")

    outcome(look, input={"n": 1})

    assert seen == {
        "run": {"id": "run", "workflow": "w", "version": 1, "subject": None},
        "data": {"n": 1},
        "input": {},
        "events": {"START": {"n": 1}},
        "step": "s",
        "index": None,
        "attempt": 1,
        "key": "run.2",
        "canceled": False,
        "beat": True,
        "tags": {},
    }


def test_a_badly_written_log_line_is_shown_and_does_not_fail_the_task() -> None:
    lines: list[str] = []

    class Mute:
        def __str__(self) -> str:
            raise ValueError

    def talk(ctx: Context) -> None:
        ctx.log("50%", "done")
        ctx.log("%d of %d", 1)
        ctx.log(Mute())

    attempt = Drive(flow_of("s: {task: t}")).tasks["s"]
    answer = call(
        make_task(talk, "t"), attempt, RealContext(attempt, lambda _, level, text: lines.append(text))
    )

    assert (answer, lines) == (Done(), ["50% done", "%d of %d 1", "<Mute>"])


@pytest.mark.parametrize(
    "params", ["{items: [[1]], more: {a: [1]}}", "{items: '${ data.items }', more: '${ data.more }'}"]
)
@pytest.mark.parametrize("hinted", [True, False])
def test_what_a_task_does_to_what_it_is_given_does_not_change_the_run(params: str, hinted: bool) -> None:
    def spoil(ctx: Context, items: Any, more: Any) -> list[Any]:
        told = [ctx.data, ctx.events["START"], ctx.input.get("a"), ctx.tags["t"], ctx.run]
        before = copy.deepcopy([items, more, *told])
        for each in (items, items[0], more["a"]):
            each.append("evil")
        for each in (more, *told):
            each["evil"] = 1
        return before

    def spoil_any(ctx: Context, **given: Any) -> list[Any]:
        return spoil(ctx, **given)

    input = {"items": [[1]], "more": {"a": [1]}}
    flow = flow_of(f"a: {{task: t}}\ns: {{task: t, after: [a, START], with: {params}}}")
    run = Drive(flow, input)
    run.done("a", {"out": [1]}, tags={"t": {"x": 1}})
    attempt = run.tasks["s"]
    task = make_task(spoil if hinted else spoil_any, "t")

    answers = [call(task, attempt, RealContext(attempt)) for _ in range(2)]

    first = answers[0]
    assert isinstance(first, Done)
    assert first.output[:2] == [[[1]], {"a": [1]}]
    assert answers[1] == first


NUL = "a text has a NUL character, which no database keeps: leave it out"


@pytest.mark.parametrize("value", ["a\0b", {"a\0b": 1}, ["\\\0"]])
def test_what_no_database_keeps_is_a_failure_that_is_not_tried_again(value: Any) -> None:
    message = f"the task returned something that is not JSON: {NUL}"
    assert read_answer(value) == Failed(error=Failure("error", message), retry=False)


@pytest.mark.parametrize("value", ["\\u0000", ["\\\\u0000"], "\x01"])
def test_a_text_that_only_looks_like_an_escaped_nul_is_kept(value: Any) -> None:
    assert read_answer(value) == Done(output=value)


def test_an_error_with_a_character_that_cannot_be_kept_is_told_without_it() -> None:
    def read() -> None:
        raise ValueError("file a\0b \ud800")

    failed = outcome(read)

    assert isinstance(failed, Failed)
    assert failed.error.message == "ValueError: file a\ufffdb \ufffd"
    assert not set("\0\ud800") & set(str(failed.error.detail))
