"""What a built-in task gives and sets is what its offer for these parameters says; its parameters are what it takes."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from penstock.flow.model.problems import DefinitionError
from penstock.flow.values.schema_validation import violations
from penstock.steps.kinds import KINDS, OFFERS, kinds_with
from penstock.steps.outputs import shape_of
from tests.flow.driver import Drive, flow_of

INPUT = {"n": 3, "name": "a", "list": [1, 2], "gone": 1}


def ran(task: str, params: dict[str, Any]) -> Drive:
    step = msgspec.json.encode({"task": task, "with": params}).decode()
    return Drive(flow_of(f"s: {step}"), dict(INPUT))


@pytest.mark.parametrize(
    ("task", "params"),
    [
        ("decide", {"if": "data.n > 1"}),
        ("decide", {"if": "data.n < 1"}),
        ("switch", {"cases": {"big": "data.n > 1"}}),
        ("switch", {"cases": {"big": "data.n > 9"}}),
        ("tag", {"set": {"a": 1}}),
        ("emit", {"event": "e", "key": {"k": "v"}}),
        ("set", {}),
        (
            "set",
            {"a": 1, "b": "${ data.n + 1 }", "c": "it is ${ data.n }", "d": {"e": ["${ data.list }", None]}},
        ),
        ("set", {"gone": None, "esc": "$${ data.n }"}),
    ],
)
def test_a_box_gives_and_sets_what_its_offer_says(task: str, params: dict[str, Any]) -> None:
    run = ran(task, params)
    offer, step = KINDS[task].offer_for(params), run.step("s")
    patches = [entry.data for entry in run.history if entry.kind == "set"]

    assert step.port in offer.ports
    assert violations(offer.schemas[step.port or ""], step.output) == []
    assert offer.sets is not None
    assert [violations(offer.sets, each) for each in patches or [{}]] == [[]]


def test_a_wait_gives_null() -> None:
    run = ran("wait", {"for": "1s"})
    run.ring()

    assert (run.step("s").status, run.step("s").output) == ("complete", None)
    assert OFFERS["wait"].schemas == {"done": {"type": "null"}}


def test_the_ports_of_a_switch_are_its_cases() -> None:
    offer = KINDS["switch"].offer_for({"cases": {"big": "true", "small": "false"}})

    assert (offer.ports, set(offer.schemas)) == (
        ("big", "small", "else", "failed"),
        {"big", "small", "else"},
    )


@pytest.mark.parametrize(
    ("value", "fits", "does_not"),
    [
        (7, 7, 8),
        ("a", "a", "b"),
        ("${ data.n }", [1], None),
        ("no ${ data.n }", "no 3", 3),
        ("$${ x }", "${ x }", "x"),
        ({"a": 1, "b": "${ data.n }"}, {"a": 1, "b": 3}, {"a": 1}),
        ([1, "${ data.n }"], [1, 2], [1]),
        ([], [], [1]),
        (None, None, 0),
        ("${ broken", 1, None),
    ],
)
def test_a_value_is_known_but_for_what_is_filled_in(value: Any, fits: Any, does_not: Any) -> None:
    shape = shape_of(value)

    assert violations(shape, fits) == []
    assert does_not is None or violations(shape, does_not)


TAKEN: list[tuple[str, dict[str, Any]]] = [
    ("decide", {"if": "data.n > 1"}),
    ("decide", {"if": True}),
    ("switch", {"cases": {"a": "true", "b": False}}),
    ("tag", {}),
    ("tag", {"set": {"a": {"b": 1}}, "remove": "b", "tags_mode": "replace"}),
    ("tag", {"remove": ["b", "c"]}),
    ("set", {"anything": [1]}),
    ("terminate", {}),
    ("fail", {}),
    ("fail", {"message": "no"}),
    ("wait", {"for": "90s"}),
    ("wait", {"for": 3}),
    ("wait", {"until": "2026-05-01T12:00:00Z"}),
    ("emit", {"event": "e", "key": {"k": "v", "n": 1}, "data": [1], "set": {"a": 1}, "id": "1"}),
]
REFUSED: list[tuple[str, dict[str, Any]]] = [
    ("decide", {}),
    ("decide", {"if": 1}),
    ("decide", {"iff": "true"}),
    ("switch", {}),
    ("switch", {"cases": {}}),
    ("switch", {"cases": {"else": "true"}}),
    ("switch", {"cases": {"a": 1}}),
    ("tag", {"set": "a"}),
    ("tag", {"remove": 1}),
    ("tag", {"remove": [1]}),
    ("tag", {"tags_mode": "all"}),
    ("tag", {"sett": {}}),
    ("terminate", {"why": 1}),
    ("fail", {"messages": "no"}),
    ("wait", {}),
    ("wait", {"for": "1s", "until": "2026-05-01T12:00:00Z"}),
    ("wait", {"for": [1]}),
    ("emit", {"event": "e"}),
    ("emit", {"key": {"k": "v"}}),
    ("emit", {"event": "e", "key": {}}),
    ("emit", {"event": "e", "key": {"k": [1]}}),
    ("emit", {"event": 1, "key": {"k": "v"}}),
    ("emit", {"event": "e", "key": {"k": "v"}, "set": [1]}),
    ("emit", {"event": "e", "key": {"k": "v"}, "id": 1}),
]


@pytest.mark.parametrize(("task", "params"), TAKEN)
def test_what_fits_the_schema_of_the_parameters_is_taken_by_the_box(
    task: str, params: dict[str, Any]
) -> None:
    assert violations(OFFERS[task].parameters, params) == []
    assert ran(task, params).step("s").error is None


@pytest.mark.parametrize(("task", "params"), REFUSED)
def test_what_does_not_fit_the_schema_of_the_parameters_is_refused_by_the_box(
    task: str, params: dict[str, Any]
) -> None:
    assert violations(OFFERS[task].parameters, params)
    try:
        error = ran(task, params).step("s").error
    except DefinitionError:
        return
    assert error is not None


@pytest.mark.parametrize("name", [name for name in OFFERS if name != "set"])
def test_the_parameters_of_a_box_are_closed(name: str) -> None:
    assert OFFERS[name].parameters["additionalProperties"] is False


@pytest.mark.parametrize(
    ("task", "params", "output"),
    [
        ("workflow", {"name": "x"}, {"run": "r", "result": None}),
        ("workflow", {"name": "x", "wait": False}, {"run": "r"}),
        ("http", {"url": "x", "answer": "nothing"}, None),
        ("http", {"url": "x", "answer": "text"}, {"status": 200, "text": ""}),
    ],
)
def test_what_is_given_is_as_the_parameters_make_it(task: str, params: dict[str, Any], output: Any) -> None:
    schema = kinds_with({})[task].offer_for(params).schemas["done"]

    assert violations(schema, output) == []
    assert violations(schema, {"more": 1})


@pytest.mark.parametrize(
    "params",
    [
        {"url": "x"},
        {"url": "x", "answer": "${ data.a }"},
        {"url": "x", "answer": "text", "mode": "async"},
        {"url": "x", "answer": "text", "poll": {"every": "1s"}},
    ],
)
def test_what_a_function_answers_is_not_known(params: dict[str, Any]) -> None:
    offer = kinds_with({})["http"].offer_for(params)

    assert (offer.schemas, offer.sets) == ({}, None)


@pytest.mark.parametrize(
    ("fields", "right", "wrong"),
    [
        (None, [None, 3, {"a": 1}], []),
        ({"properties": {"a": {"type": "integer"}}}, [None, {"a": 1}], [{"a": "1"}, 3]),
        ({"properties": {"a": {"type": "integer"}}, "required": ["a"]}, [{"a": 1}], [None, {}]),
        ({"$ref": "#/$defs/a", "$defs": {"a": {}}}, [None, 3], []),
        ("${ data.form }", [None, 3], []),
    ],
)
def test_what_a_person_fills_in_is_of_the_shape_of_the_form(
    fields: Any, right: list[Any], wrong: list[Any]
) -> None:
    params = {} if fields is None else {"fields": fields}
    schema = kinds_with({})["approval"].offer_for(params).schemas["approved"]
    decision = {"decision": "approved", "by": "ann", "at": "2026-05-01T12:00:00Z", "comment": None}

    assert [violations(schema, {**decision, "fields": each}) for each in right] == [[]] * len(right)
    assert all(violations(schema, {**decision, "fields": each}) for each in wrong)
