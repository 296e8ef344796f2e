"""A form that cannot be used is refused before anybody is asked; one that was asked before can still be rejected."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from penstock.flow.compile.compile import Flow
from penstock.flow.model.problems import DefinitionError
from tests.boxes.conftest import site
from tests.boxes.test_approvals import asks
from tests.flow.driver import flow_of

PATTERNS = (r"^[\w-\.]+@x$", r"\Z", r"\h+", r"[a-\d]", r"(?<n>a)\k<n>", r"^[^]$", "(")
UNUSABLE: list[dict[str, Any]] = [
    *({"properties": {"a": {"type": "string", "pattern": each}}} for each in PATTERNS),
    {"properties": {"a": {"$ref": "#/nope"}}},
    {"properties": {"a": {"$ref": "http://127.0.0.1:9/a"}}},
    {"$schema": "http://127.0.0.1:9/draft"},
    {"type": 7},
]


def asked_with(fields: dict[str, Any]) -> Flow:
    return flow_of(f"ask: {{task: approval, with: {{fields: {json.dumps(fields)}}}}}")


def refused(fields: dict[str, Any]) -> str:
    """Why a workflow that asks with this form is not saved."""
    with pytest.raises(DefinitionError) as told:
        asked_with(fields)
    [problem] = told.value.problems
    assert (problem.code, problem.path) == ("bad_schema", "steps.ask.with.fields")
    return problem.message


@pytest.mark.parametrize("fields", UNUSABLE, ids=str)
def test_a_form_that_cannot_be_used_is_refused_when_it_is_saved(fields: dict[str, Any]) -> None:
    assert "`fields` is no valid JSON Schema" in refused(fields)


NO_FORMS: list[dict[str, Any]] = [
    {"type": "array", "items": {"type": "string"}},
    {"type": "string"},
    {"type": ["string", "null"]},
    {"const": 1},
    {"enum": ["yes", "no"]},
    {"allOf": [{"type": "string"}]},
    {"anyOf": [{"type": "string"}, False]},
    {"oneOf": [{"type": "string"}, {"type": "null"}]},
]


@pytest.mark.parametrize("fields", NO_FORMS, ids=str)
def test_a_form_that_nobody_could_approve_is_refused_when_it_is_saved(fields: dict[str, Any]) -> None:
    assert "a map of fields" in refused(fields)


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"type": ["object", "null"]},
        {"enum": [{"a": 1}, None]},
        {"anyOf": [{"type": "string"}, {"required": ["a"]}]},
        {"allOf": [{"type": "object"}, True]},
    ],
    ids=str,
)
def test_a_form_that_a_map_may_fit_is_saved(fields: dict[str, Any]) -> None:
    assert asked_with(fields).steps["ask"].task == "approval"


@pytest.mark.parametrize("fields", UNUSABLE, ids=str)
def test_a_form_from_data_that_cannot_be_used_fails_the_step(fields: dict[str, Any], tmp_path: Path) -> None:
    async def main() -> None:
        async with site(tmp_path) as here:
            run = await here.run(asks(fields="${ data.form }"), {"form": fields})
            error = run["steps"]["ask"]["error"]
            assert "`fields` is no valid JSON Schema" in error["message"]

    asyncio.run(main())


def test_a_question_with_such_a_form_from_before_can_be_rejected_alone(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.steps.approval.schema_fault", lambda schema: None)  # as it was

    async def main() -> None:
        async with site(tmp_path, url) as here:
            await here.run(asks(fields=UNUSABLE[0]))
            [item] = (await here.ask("GET", "/api/approvals"))[1]["items"]
            at = f"/api/approvals/{item['id']}"
            refused = await here.ask("POST", at, {"decision": "approved", "fields": {"a": "b"}})
            done = await here.ask("POST", at, {"decision": "rejected", "fields": {"a": "b"}})

            assert refused[0] == 422
            assert "reject it, and mend `fields` of the step" in str(refused[1])
            assert (done[0], done[1]["status"]) == (200, "rejected")

    asyncio.run(main())
