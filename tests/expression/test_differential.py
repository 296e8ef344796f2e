"""Penstock's evaluator beside Google's: the same value, or an error from both."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from penstock.expression import compile_expression
from penstock.expression.errors import Fault
from penstock.expression.values import BoolKey, Duration, Timestamp, UInt
from tests.expression import oracle
from tests.expression.generating import SCOPE, Generator

ORACLE = Path(oracle.__file__)


def pythonic(value: Any) -> Any:
    """The value in the Python types that the oracle answers with."""
    kind = type(value)
    if kind is Timestamp:
        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=int(value) // 1000)
    if kind is Duration:
        return timedelta(microseconds=int(value) // 1000)
    if kind is UInt:
        return int(value)
    if kind is list:
        return [pythonic(each) for each in value]
    if kind is dict:
        return {(key.value if type(key) is BoolKey else pythonic(key)): pythonic(each) for key, each in value.items()}
    return value


def ours(source: str) -> str:
    expression = compile_expression(source)
    try:
        return oracle.spell(pythonic(expression._run(expression.env(SCOPE))))
    except Fault:
        return "error"


def theirs(sources: list[str]) -> list[str]:
    done = subprocess.run(
        [sys.executable, str(ORACLE)],
        input=json.dumps([SCOPE, sources]),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("batch", range(8))
def test_random_expressions_have_the_value_that_googles_cel_gives_them(batch: int) -> None:
    sources = [Generator(batch * 1000 + n).any(depth=4) for n in range(400)]

    expected = theirs(sources)

    differences = [(s, ours(s), want) for s, want in zip(sources, expected, strict=True) if ours(s) != want]
    assert differences == []
