"""`approval`: waits for a person. What is asked is worked out once, when the firing begins."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, ClassVar

from penstock.expression.template import is_open
from penstock.flow.compile.compile import TemplateBox
from penstock.flow.model.box import TIMES, BadParameter, BoxError, Queue, Reaction, View
from penstock.flow.values.duration import FORMS, moment_of
from penstock.flow.values.schema_validation import schema_fault
from penstock.steps.io_steps import IoKind
from penstock.steps.palette import APPROVAL
from penstock.steps.parameters import template

ROLES = ("operator", "author", "admin")
_SOME_TIME = datetime(2000, 1, 1, tzinfo=UTC)


class ApprovalBox(TemplateBox, frozen=True):
    """Hands the question over; its times become moments when people are asked."""

    ports: ClassVar[tuple[str | None, ...]] = APPROVAL.ports

    def enter(self, view: View) -> Reaction:
        params = dict(self.filled(view))
        for name in TIMES:
            if params.get(name) is not None:
                _validate_moment(name, params[name])
        if params.get("role", ROLES[0]) not in ROLES:
            raise BoxError(f"`role` must be one of {', '.join(ROLES)}, not {params['role']!r}")
        if params.get("fields") is not None and (problem := _no_schema(params["fields"])) is not None:
            raise BoxError(problem)
        return Queue(params)


class Approval(IoKind, frozen=True):
    """`approval`: `text`, `role`, `fields`, `due`, `remind`, `to`, `separate`."""

    def make(self, params: Mapping[str, Any]) -> ApprovalBox:
        return ApprovalBox(template(dict(params), ""))

    def check(self, params: Mapping[str, Any]) -> None:
        super().check(params)
        for name in TIMES:
            if name in params and not is_open(params[name]):
                try:
                    _validate_moment(name, params[name])
                except BoxError as error:
                    raise BadParameter(name, str(error)) from error
        fields = params.get("fields")
        if fields is not None and not is_open(fields) and (problem := _no_schema(fields)) is not None:
            raise BadParameter("fields", problem, "bad_schema")


def _validate_moment(name: str, value: Any) -> None:
    """Refuse what is neither a duration nor a time. Raises BoxError."""
    try:
        moment_of(value, _SOME_TIME)
    except (ValueError, OverflowError) as error:
        forms = f"{FORMS}, or as a time such as 2026-05-01T12:00:00Z"
        raise BoxError(f"`{name}` {value!r} is neither a duration nor a time; {forms}") from error


def _no_schema(fields: Any) -> str | None:
    """Why `fields` is no JSON Schema of a form."""
    if not isinstance(fields, dict):
        return "`fields` must be a JSON Schema, such as {properties: {reason: {type: string}}}"
    fault = schema_fault(fields)
    if fault is not None:
        return f"`fields` is no valid JSON Schema{fault}"
    if not _takes_a_map(fields):
        return (
            "`fields` can be no form, for that is a map of fields, and nobody could approve it; "
            "write it such as {properties: {reason: {type: string}}}"
        )
    return None


def _takes_a_map(schema: Any) -> bool:
    """Whether a map may fit, as far as is said outright: what references and `not` leave over is not worked out."""
    if not isinstance(schema, dict):
        return schema is not False
    kinds = schema.get("type", "object")
    values = [schema["const"]] if "const" in schema else schema.get("enum", [{}])
    return (
        "object" in ([kinds] if isinstance(kinds, str) else kinds)
        and any(isinstance(each, dict) for each in values)
        and all(map(_takes_a_map, schema.get("allOf", [])))
        and all(any(map(_takes_a_map, schema[each])) for each in ("anyOf", "oneOf") if each in schema)
    )
