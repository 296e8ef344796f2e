"""The form of an approval: which answers fit it, and how the step ends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from penstock.flow.model.run_input import Done
from penstock.flow.values.schema_validation import violations
from penstock.runtime.commands.validation import plain_payload
from penstock.runtime.errors import Invalid, InvalidFields
from penstock.steps.outputs import form_of

DECISIONS = {"approved": "approved", "approve": "approved", "rejected": "rejected", "reject": "rejected"}


def port_of(decision: str) -> str:
    """Raises Invalid."""
    port = DECISIONS.get(decision)
    if port is None:
        raise Invalid(f"a decision is approved or rejected, not {decision!r}")
    return port


class Form(Struct, frozen=True):
    """What a person is asked to fill in: a JSON Schema, or nothing."""

    step: str
    fields: Any

    def decided(self, port: str, fields: Any, more: Mapping[str, Any]) -> Done:
        """The end on that port. Raises InvalidFields, BadPayload."""
        fields = plain_payload(fields, "the fields")
        if port == "approved" or fields is not None:
            problems = self._problems(port, {} if fields is None else fields)
            if port == "approved":
                problems += _left_empty(self.fields, fields)
            if problems:
                raise InvalidFields(self.step, problems)
        return Done(port=port, output={"decision": port, "fields": fields, **more})

    def _problems(self, port: str, fields: Any) -> list[str]:
        """What does not fit the form; nothing fits one that was asked before such forms were refused."""
        try:
            return violations(form_of(self.fields), fields)
        except ValueError as error:
            why = f"the form of this question cannot be used ({error}): reject it, and mend `fields` of the step"
            return [why] if port == "approved" else []


def _left_empty(schema: Any, fields: Any) -> list[str]:
    """What is required and was left empty, unless its schema says with a least size of 0 that it may be."""
    if not isinstance(schema, Mapping) or not isinstance(fields, Mapping):
        return []
    asked = schema.get("properties", {})
    return [
        f"{name}: it is required and was left empty"
        for name in schema.get("required", ())
        if name in fields and _blank(fields[name]) and not _may_be_empty(asked.get(name))
    ]


def _blank(value: Any) -> bool:
    if isinstance(value, str):
        return not value.strip()
    return isinstance(value, list) and all(isinstance(each, str) and not each.strip() for each in value)


def _may_be_empty(schema: Any) -> bool:
    return isinstance(schema, Mapping) and 0 in (schema.get("minLength"), schema.get("minItems"))
