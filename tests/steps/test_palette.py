"""The palette: every built-in task has a schema that a form can be made of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest

from penstock.steps.kinds import IO_TASKS, OFFERS
from tests.flow.driver import complaints, flow_of


@pytest.mark.parametrize("name", OFFERS)
def test_a_schema_is_one_and_says_what_it_is_about(name: str) -> None:
    offer = OFFERS[name]

    jsonschema_rs.meta.validate(offer.parameters)
    assert offer.title and offer.doc
    assert all(each.get("title") for each in offer.parameters.get("properties", {}).values())


def fields() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for name, offer in IO_TASKS.items():
        for key, schema in offer.parameters["properties"].items():
            yield name, key, schema


@pytest.mark.parametrize(("task", "key", "schema"), [each for each in fields() if "default" in each[2]])
def test_a_default_fits_its_own_schema(task: str, key: str, schema: dict[str, Any]) -> None:
    assert jsonschema_rs.is_valid(schema, schema["default"]), f"{task}.{key}"


@pytest.mark.parametrize(
    ("step", "says"),
    [
        ("{task: http, with: {ulr: x}}", "`http` has no parameter `ulr`; did you mean `url`?"),
        ("{task: http, with: {url: x, kind: soap}}", "`kind` of `http` does not fit"),
        ("{task: http, with: {url: x, timeout: long}}", "`timeout` 'long' is no duration"),
        ("{task: http, with: {url: x, poll: {every: 0s}}}", "`poll.every` must be longer than 0s"),
        ("{task: http, with: {url: x, poll: {every: often}}}", "`poll.every` 'often' is no duration"),
        (
            "{task: http, with: {url: x, body: {a: [{secret: K}], n: '${ data.n }'}}}",
            "`body` of `http` cannot carry the secret 'K', which would be sent as it stands: they go into `headers` or",
        ),
        (
            "{task: http, with: {url: x, params: {secret: K}}}",
            "`params` of `http` cannot carry the secret 'K'",
        ),
        ("{task: service, with: {url: x, body: {key: {secret: K}}}}", "they go into `headers`; "),
        (
            "{task: http, with: {url: x, headers: {A: {secret: '${ data.k }'}}}}",
            "`headers.A` has the name of a secret from data, which could name any: write it, as {secret: NAME}",
        ),
        (
            """{task: service, with: {url: x, headers: {A: "${ data.b ? {'secret': 'K'} : {} }"}}}""",
            "`headers.A` makes {'secret': …} in an expression, which would be sent as it stands: only {secret: NAME}",
        ),
        (
            """{task: http, with: {url: x, key: "${ {'secret': data.k} }"}}""",
            "`key` makes {'secret': …} in an",
        ),
        ("{task: mail, with: {to: []}}", "`to` of `mail` does not fit"),
        ("{task: shell, with: {command: 7}}", "`command` of `shell` does not fit"),
        ("{task: workflow, with: {nam: x}}", "`workflow` has no parameter `nam`; did you mean `name`?"),
    ],
)
def test_a_wrong_parameter_is_told_when_it_is_read(step: str, says: str) -> None:
    [said] = complaints(f"s: {step}")

    assert says in said


@pytest.mark.parametrize(
    "step",
    [
        "{task: http, with: {url: '${ data.url }', timeout: '${ data.t }', headers: {A: {secret: B}}}}",
        """{task: http, with: {url: x, headers: {A: "${ {'secret': data.k, 'n': 1} }", secret: '${ data.h }'}}}""",
        """{task: http, with: {url: x, body: "${ {'secret': data.k} }"}}""",
        "{task: http, with: {url: x, credentials: {id: a, secret: '${ data.s }'}}}",
        "{task: service, with: {url: x, poll: never}}",
        "{task: service, with: {url: x, poll: 5s, accept: [200, running], until: staged}}",
        "{task: approval, with: {due: 2d, remind: '2026-05-01T12:00:00Z'}}",
        "{task: mail, with: {to: [a@b.example, '${ data.user }']}}",
    ],
)
def test_what_is_filled_in_later_is_not_judged_now(step: str) -> None:
    assert flow_of(f"s: {step}").steps["s"].ports


def test_what_the_server_does_goes_to_its_own_list_unless_the_step_says_otherwise() -> None:
    flow = flow_of(
        "a: {task: mail, with: {to: a@b.example}}\n"
        "b: {task: mail, task_list: mine, with: {to: a@b.example}}\n"
        "c: {task: t}",
        "defaults: {task_list: video}",
    )

    assert {name: step.task_list for name, step in flow.steps.items()} == {
        "a": "penstock",
        "b": "mine",
        "c": "video",
    }
