"""The public conformance cases of CEL for the part of the language that Penstock has."""

from __future__ import annotations

import json
import math
from base64 import b64decode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from penstock.expression import ExpressionError, compile_expression
from penstock.expression.errors import Fault
from penstock.expression.values import TYPES, UInt, keys_of

HERE = Path(__file__).parent / "conformance"
CASES: list[tuple[str, str, dict[str, Any], Any]] = json.loads((HERE / "cases.json").read_text())
LEFT_OUT: dict[str, list[str]] = json.loads((HERE / "left_out.json").read_text())
READERS: dict[str, Callable[[Any], Any]] = {
    "int64Value": int,
    "uint64Value": lambda text: UInt(int(text)),
    "doubleValue": float,
    "bytesValue": b64decode,
    "typeValue": TYPES.__getitem__,
    "nullValue": lambda _: None,
    "boolValue": bool,
    "stringValue": str,
}


def value_of(typed: dict[str, Any]) -> Any:
    """The value that the case spells out."""
    ((kind, value),) = typed.items()
    if kind == "mapValue":
        return {value_of(each["key"]): value_of(each["value"]) for each in value.get("entries", ())}
    if kind == "listValue":
        return [value_of(each) for each in value.get("values", ())]
    return READERS[kind](value)


def exactly(value: Any) -> Any:
    """The value in a form where Python's `==` tells types apart and takes NaN as equal to itself."""
    if type(value) is list:
        return [exactly(each) for each in value]
    if type(value) is dict:
        return sorted((repr(exactly(key)), exactly(value[key])) for key in keys_of(value))
    if type(value) is float and math.isnan(value):
        return "NaN"
    return type(value), value


def outcome(source: str, variables: dict[str, Any]) -> Any:
    try:
        expression = compile_expression(source)
        return exactly(expression._run(expression.env({k: value_of(v) for k, v in variables.items()})))
    except (ExpressionError, Fault):
        return "error"


@pytest.mark.parametrize("file", sorted({name.split("/")[0] for name, *_ in CASES}))
def test_every_case_of_the_file_gives_the_value_that_the_specification_says(file: str) -> None:
    cases = [case for case in CASES if case[0].startswith(file + "/")]

    got = {name: outcome(source, variables) for name, source, variables, _ in cases}

    assert got == {
        name: value if value == "error" else exactly(value_of(value)) for name, _, _, value in cases
    }


def test_nothing_is_left_out_without_a_reason() -> None:
    counts = {reason: len(names) for reason, names in LEFT_OUT.items()}

    assert len(CASES) == 1146
    assert counts == {
        "message": 102,
        "function": 110,
        "unknown function": 19,
        "variable with dots": 4,
        "comparison of int and double is exact": 4,
    }
