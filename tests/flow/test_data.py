"""Data, parameters and tags: what a firing receives, what it sets, and how branches merge."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.flow.decisions.scope import events_of, inputs_of
from penstock.flow.model.tags import LINEAGE, NO_TAGS, TagChange, change, merge, visible
from penstock.flow.values.merge_patch import merge_patch
from tests.flow.driver import Drive, flow_of


def test_set_is_a_merge_patch_applied_in_history_order() -> None:
    run = Drive(flow_of("a: {task: t}\nb: {task: t}"), {"x": {"p": 1, "q": 2}, "y": 1})

    run.done("b", set={"x": {"q": 3}, "y": None})
    run.done("a", set={"x": {"q": 4}, "z": [1]})

    assert run.snapshot.data == {"x": {"p": 1, "q": 4}, "z": [1]}
    assert run.snapshot.run.input == {"x": {"p": 1, "q": 2}, "y": 1}
    assert run.snapshot.result == run.snapshot.data
    assert [entry.data for entry in run.entries("set")] == [
        {"x": {"q": 3}, "y": None},
        {"x": {"q": 4}, "z": [1]},
    ]


@pytest.mark.parametrize(
    ("target", "patch", "merged"),
    [
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b"}, {"a": None}, {}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        (["a", "b"], ["c", "d"], ["c", "d"]),
        ({"a": "b"}, ["c"], ["c"]),
        ({"a": "foo"}, None, None),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
        ([1, 2], {"a": "b", "c": None}, {"a": "b"}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
    ],
)
def test_the_cases_of_rfc_7396(target: Any, patch: Any, merged: Any) -> None:
    assert merge_patch(target, patch) == merged


def test_a_firing_receives_outputs_by_step_and_data_by_event() -> None:
    steps = "a: {task: t, emits: ready}\nb: {task: t}\nc: {task: t, after: [ready, b, e]}"
    run = Drive(flow_of(steps, "external: [e]"))
    run.done("a", {"n": 1})
    run.done("b", {"n": 2})
    run.event("e", {"n": 3})

    tokens = run.tasks["c"].taken.tokens()

    assert inputs_of(tokens) == {"a": {"n": 1}, "b": {"n": 2}}
    assert events_of(tokens) == {"ready": {"n": 1}, "b": {"n": 2}, "e": {"n": 3}}


def test_parameters_see_the_run_its_data_tags_events_and_steps() -> None:
    steps = """
a: {task: t, with: {run: "${ run.workflow }-${ run.id }", whole: "${ data }", plain: 3, "n": null}}
b:
  task: t
  after: [a, e]
  with:
    out: ${ steps.a.output.n + 1 }
    mine: ${ events["e"].n }
    last: ${ event.name }
    tag: ${ tags.color }
    when: ${ now }
    text: "it is ${ data.ok } and ${ steps.a.output.n }"
"""
    run = Drive(flow_of(steps, "external: [e]"), {"ok": True}, color="red")
    assert run.tasks["a"].params == {"run": "w-run", "whole": {"ok": True}, "plain": 3, "n": None}

    run.done("a", {"n": 1})
    run.event("e", {"n": 9})

    assert run.tasks["b"].params == {
        "out": 2,
        "mine": 9,
        "last": "e",
        "tag": "red",
        "when": "2026-03-01T12:00:00Z",
        "text": "it is true and 1",
    }


def test_a_parameter_that_cannot_be_told_fails_the_step_without_an_attempt() -> None:
    run = Drive(flow_of("a: {task: t, retries: 3, with: {x: '${ data.nothing }'}}"), {"other": 1})

    assert (run.status, run.dispatched) == ("failed", [])
    assert run.snapshot.error is not None
    assert run.snapshot.error.kind == "expression"
    assert "nothing" in run.snapshot.error.message


def test_an_expression_sees_the_latest_output_of_a_step_only_once_it_is_complete() -> None:
    steps = 'd: {task: decide, with: {if: "has(steps.later)"}, emits: {then: x, else: y}}\nlater: {task: t, after: y}'
    run = Drive(flow_of(steps))

    assert run.step("d").port == "else"


def test_the_result_is_an_expression() -> None:
    run = Drive(flow_of("a: {task: t}", 'result: \'{"n": data.n * 2, "a": steps.a.output}\''), {"n": 4})

    run.done("a", "x")

    assert run.snapshot.result == {"n": 8, "a": "x"}


def test_a_result_that_fails_fails_the_run() -> None:
    run = Drive(flow_of("a: {task: t}", "result: data.nothing"))

    run.done("a")

    assert run.status == "failed"
    assert run.snapshot.error is not None
    assert run.snapshot.error.message.startswith("`result`: ")


# -- tags ---------------------------------------------------------------------------------------------------

FAN = "a: {task: t}\nb: {task: t}\nc: {task: t, after: [a, b]}"


def test_tags_flow_along_events_and_merge_at_a_join() -> None:
    run = Drive(flow_of(FAN), None, kind="photo")

    run.done("a", tags={"mime": "image/png"})
    run.done("b", tags={"size": "big"})

    assert visible(run.tasks["c"].tags) == {"kind": "photo", "mime": "image/png", "size": "big"}
    assert visible(run.snapshot.tags) == {"kind": "photo", "mime": "image/png", "size": "big"}
    assert run.entries("conflict") == []


def test_a_removal_is_a_change() -> None:
    steps = "a: {task: t}\nb: {task: t, after: a}\nc: {task: t, after: [a, b]}"
    run = Drive(flow_of(steps), None, kind="photo")
    run.done("a")

    run.done("b", tags={"kind": None})

    assert visible(run.tasks["c"].tags) == {}
    assert run.entries("conflict") == []


def test_two_branches_that_set_one_tag_differently_conflict_and_the_later_firing_wins() -> None:
    run = Drive(flow_of(FAN))

    run.done("b", tags={"mime": "b"})
    run.done("a", tags={"mime": "a"})

    assert visible(run.tasks["c"].tags) == {"mime": "b"}
    assert [entry.data for entry in run.entries("conflict")] == [{"tag": "mime", "kept": "b", "lost": "a"}]


def test_the_same_value_twice_is_no_conflict() -> None:
    run = Drive(flow_of(FAN))

    run.done("a", tags={"mime": "x"})
    run.done("b", tags={"mime": "x"})

    assert run.entries("conflict") == []


def test_an_overwrite_on_one_path_is_no_conflict() -> None:
    early = change(NO_TAGS, TagChange({"k": 1}), 1)
    late = change(change(early, TagChange({"k": 2}), 5), TagChange({"k": 3}), 6)

    assert merge([early, late]) == (late, [])
    assert merge([late, early]) == (late, [])


def test_the_lineage_of_a_tag_is_bounded() -> None:
    tags = NO_TAGS
    for number in range(1000):
        tags = change(tags, TagChange({"k": number}), number)

    assert len(tags["k"].past) == LINEAGE


def test_the_tag_box_sets_removes_and_replaces() -> None:
    steps = """
a: {task: tag, with: {set: {mime: "${ data.m }"}, remove: [old]}}
b: {task: tag, after: a, with: {set: {only: 1}, tags_mode: replace}}
"""
    flow = flow_of(steps)
    run = Drive(flow, {"m": "x"}, old="1", keep="2")

    assert visible(run.snapshot.tags) == {"only": 1}
    tagged = flow_of("a: {task: tag, with: {set: {mime: 1}, remove: old}}\nb: {task: t, after: a}")
    assert visible(Drive(tagged, None, old="1", keep="2").tasks["b"].tags) == {"keep": "2", "mime": 1}


# -- events from outside ------------------------------------------------------------------------------------

OUTSIDE = "a: {task: t, after: e}\nb: {task: t, after: m}"
HEAD = "external: [e, {name: m, many: true}]"


def test_only_declared_events_are_taken() -> None:
    run = Drive(flow_of(OUTSIDE, HEAD))

    assert run.event("unheard") == "refused"
    assert run.history[-1].kind == "event"


def test_a_repeat_of_an_id_changes_nothing() -> None:
    run = Drive(flow_of(OUTSIDE, HEAD))

    assert run.event("m", id="1", set={"n": 1}) == "accepted"
    before = run.snapshot
    assert run.event("m", id="1", set={"n": 2}) == "duplicate"
    assert run.snapshot == before
    assert run.event("m", id="2") == "accepted"


def test_an_event_that_is_not_many_is_acted_on_once() -> None:
    run = Drive(flow_of(OUTSIDE, HEAD))

    assert run.event("e", set={"n": 1}) == "accepted"
    assert run.event("e", set={"n": 2}) == "recorded"

    assert (run.fired("a"), run.snapshot.data) == (1, {"n": 1})


def test_a_firing_gives_its_run_keys() -> None:
    run = Drive(flow_of("a: {task: t}"))

    run.done("a", correlate={"et_job": "7"})

    assert list(run.snapshot.keys) == [("et_job", "7")]
    assert run.plans[-1].correlations == (("et_job", "7"),)


def test_an_expression_sees_what_a_step_said_last_while_it_runs_again_and_when_it_is_disabled() -> None:
    steps = """
a: {task: t, after: e}
off: {task: t, disabled: true}
b: {task: t, after: f, with: {last: "${ steps.a.output }", off: "${ steps.off.output }"}}
"""
    run = Drive(flow_of(steps, "external: [{name: e, many: true}, f]"))
    run.event("e")
    run.done("a", "first")
    run.event("e")

    run.event("f")

    assert run.tasks["b"].params == {"last": "first", "off": None}
