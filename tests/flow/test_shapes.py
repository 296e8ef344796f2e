"""The shapes that are told of the engine's own data are those of what it makes."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from penstock.flow.compile.compile import NOTICE_SCOPE
from penstock.flow.compile.source_scopes import HOOK_SCOPE, OBJECT_SCOPE
from penstock.flow.decisions.scope import event_variable, run_variable
from penstock.flow.model import shapes
from penstock.flow.model.run_input import GivenUp, RunTimedOut
from penstock.flow.values.schedule import Schedule
from penstock.flow.values.schema_validation import violations
from penstock.objects.context import context_of, scope_of
from penstock.objects.protocol import Object
from penstock.sources.hooks.envelope import messages_of_topic
from penstock.sources.schedules.ticks import input_of
from tests.flow.driver import Drive, flow_of

ITEM = {"type": "integer"}
OUTPUT = {"type": "string"}


def data_of(run: Drive, event: str) -> Any:
    """The data of the last event of a name, as JSON."""
    [*_, entry] = [each for each in run.entries("event") if each.event == event]
    return msgspec.to_builtins(entry.data)


def fits(schema: Any, value: Any) -> bool:
    assert violations(schema, {"other": value}), "a schema that takes anything shows nothing"
    return violations(schema, value) == []


def each_of(steps: str = "", **more: Any) -> Drive:
    extra = "".join(f", {key}: {value}" for key, value in more.items())
    return Drive(
        flow_of(
            f"s: {{task: t, each: data.list, emits: {{done: d}}, fails: f{extra}}}\nh: {{task: u, after: d | f}}"
        ),
        {"list": [1, 2]},
    )


def test_run_and_event_are_of_their_shapes() -> None:
    run = Drive(flow_of("s: {task: t}"), {"n": 1})
    [token] = run.tasks["s"].taken.tokens()

    assert fits(shapes.RUN, msgspec.to_builtins(run_variable(run.snapshot.run)))
    assert fits(shapes.event_shape(shapes.MAP), event_variable(token) | {"at": None})


def test_a_failure_is_of_its_shape() -> None:
    run = Drive(flow_of("s: {task: t, fails: f}\nh: {task: u, after: f}"))
    run.fail("s")

    assert fits(shapes.failed_shape(), data_of(run, "f"))


@pytest.mark.parametrize("expression", ["data.list", "data.nothing"])
def test_a_failure_of_an_each_step_is_of_its_shape_with_an_element_or_without(expression: str) -> None:
    run = Drive(
        flow_of(f"s: {{task: t, each: {expression}, fails: f}}\nh: {{task: u, after: f}}"), {"list": [1]}
    )
    if "s[0]" in run.tasks:
        run.fail("s[0]")

    assert fits(shapes.failed_shape(ITEM), data_of(run, "f"))


def test_the_outputs_of_an_each_step_are_of_their_shapes() -> None:
    whole = each_of()
    whole.done("s[0]", "a"), whole.done("s[1]", "b")
    collected = each_of(each_failure="collect")
    collected.done("s[0]", "a"), collected.fail("s[1]")

    assert fits(shapes.list_shape(OUTPUT), data_of(whole, "d"))
    assert fits(shapes.list_shape(OUTPUT, collect=True), data_of(collected, "d"))
    assert not fits(shapes.list_shape(OUTPUT), data_of(collected, "d"))


def test_the_element_that_decides_is_of_its_shape() -> None:
    steps = "s: {task: t, each: data.list, emits: {done: d, other: b}}\nh: {task: u, after: d | b}"
    run = Drive(flow_of(steps), {"list": [3, 4]})
    run.done("s[1]", "a", port="other")

    assert fits(shapes.element_shape(ITEM, OUTPUT), data_of(run, "b"))


def test_the_events_that_end_a_run_are_of_their_shapes() -> None:
    clean = "s: {task: t}\nh: {task: u, after: FAIL | CANCEL | TIMEOUT}"
    failed, given_up, canceled, late = (Drive(flow_of(clean, "timeout: 1h")) for _ in range(4))
    failed.fail("s")
    given_up.happen(GivenUp("enough"))
    canceled.cancel()
    late.happen(RunTimedOut(late.snapshot.epoch))

    assert fits(shapes.either(*shapes.ENDINGS["FAIL"]), data_of(failed, "FAIL"))
    assert fits(shapes.either(*shapes.ENDINGS["FAIL"]), data_of(given_up, "FAIL"))
    assert fits(shapes.either(*shapes.ENDINGS["CANCEL"]), data_of(canceled, "CANCEL"))
    assert fits(shapes.either(*shapes.ENDINGS["TIMEOUT"]), data_of(late, "TIMEOUT"))


@pytest.mark.parametrize("version", [None, "v1"])
def test_the_context_of_an_object_is_of_its_shape(version: str | None) -> None:
    found = Object(
        bucket="b", key="k", size=1, etag="e", version=version, metadata={"a": "b"}, system={"store": "s"}
    )
    context = context_of(found, "created", {"name": "folder:created"})
    scope = scope_of(context, {"a": "b"})

    assert fits(shapes.INPUTS["object"], context)
    assert set(shapes.OBJECT_VARIABLES) == set(scope) == set(OBJECT_SCOPE)
    assert [violations(shapes.OBJECT_VARIABLES[name], each) for name, each in scope.items()] == [[]] * len(
        scope
    )


def test_the_input_of_a_tick_is_of_its_shape() -> None:
    schedule = Schedule(cron="0 * * * *", tz="Europe/Berlin")

    assert fits(shapes.INPUTS["schedule"], input_of(schedule, datetime(2026, 3, 1, 12, tzinfo=UTC)))


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        ({"content-type": "application/json", "x-a": "b"}, b'{"a": 1}'),
        ({"content-type": "text/plain"}, b"hello"),
        (
            {
                "content-type": "application/json",
                "ce-id": "1",
                "ce-source": "s",
                "ce-type": "t",
                "ce-specversion": "1.0",
            },
            b"3",
        ),
    ],
)
def test_what_a_call_or_a_message_shows_is_of_its_shape(headers: dict[str, str], body: bytes) -> None:
    [message] = messages_of_topic(headers, body, None)

    assert set(shapes.HOOK_VARIABLES) == set(message.scope) == set(HOOK_SCOPE)
    for name, value in message.scope.items():
        assert violations(shapes.HOOK_VARIABLES[name], value) == []


def test_there_is_a_shape_for_all_that_a_notice_may_read() -> None:
    assert set(shapes.NOTICE_VARIABLES) == set(NOTICE_SCOPE)
