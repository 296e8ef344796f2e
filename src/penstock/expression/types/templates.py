"""The static types of values with `${ … }` parts.

Every value can be put into text: a string as it is, anything else as JSON.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from penstock.expression.template import Part, path_below, split_template
from penstock.expression.types.checking import Checked, check
from penstock.expression.types.narrowing import Scope
from penstock.expression.types.problems import Problem
from penstock.expression.types.types import (
    DYN,
    STRING,
    Field,
    List,
    Object,
    Type,
    as_json,
    type_of_value,
    union,
)


class CheckedPart(msgspec.Struct, frozen=True):
    """One expression of a template: the path of its string such as `to[0].name`, and what it is; places count there."""

    path: str
    checked: Checked


class CheckedTemplate(msgspec.Struct, frozen=True):
    """The type of the JSON that a template makes, and of each of its expressions."""

    type: Type
    parts: tuple[CheckedPart, ...] = ()

    @property
    def problems(self) -> tuple[tuple[str, Problem], ...]:
        """Each problem with the path of its string."""
        return tuple((part.path, problem) for part in self.parts for problem in part.checked.problems)


def check_template(value: Any, scope: Scope) -> CheckedTemplate:
    """The type of a JSON value with expressions in its strings; raises ExpressionError where one is none."""
    parts: list[CheckedPart] = []
    found = _typed(value, scope, "", parts)
    return CheckedTemplate(found, tuple(parts))


def _typed(value: Any, scope: Scope, path: str, parts: list[CheckedPart]) -> Type:
    if isinstance(value, str):
        return _text(value, scope, path, parts) if "${" in value else type_of_value(value)
    if isinstance(value, list):
        return List(union(_typed(each, scope, f"{path}[{index}]", parts) for index, each in enumerate(value)))
    if isinstance(value, Mapping):
        fields = {
            key: Field(_typed(each, scope, path_below(path, key), parts)) for key, each in value.items()
        }
        return Object(fields)
    return type_of_value(value)


def _text(text: str, scope: Scope, path: str, parts: list[CheckedPart]) -> Type:
    found: list[Type] = []
    for part in split_template(text):
        if isinstance(part, Part):
            checked = check(part.node, scope, text)
            parts.append(CheckedPart(path, checked))
            found.append(as_json(checked.type))
        else:
            found.append(type_of_value(part))
    return (found[0] if len(found) == 1 else STRING) if found else DYN
