"""Penstock's evaluator beside Google's: the same value, or an error from both."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.expression import oracle
from tests.expression.generating import SCOPE, Generator

from penstock.expression import compile_expression
from penstock.expression.errors import Fault
from penstock.expression.values import BoolKey, Duration, Timestamp, UInt

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
        return {
            (key.value if type(key) is BoolKey else pythonic(key)): pythonic(each)
            for key, each in value.items()
        }
    return value


def ours(source: str) -> str:
    expression = compile_expression(source)
    try:
        return oracle.spell(pythonic(expression._run(expression.env(SCOPE))))
    except Fault:
        return "error"


def theirs(sources: list[str]) -> list[str]:
    """What Google's evaluator answers; where it aborts, another process goes on from there."""
    answers: list[str] = []
    while len(answers) < len(sources):
        done = subprocess.run(
            [sys.executable, str(ORACLE)],
            input=json.dumps([SCOPE, sources[len(answers) :]]),
            capture_output=True,
            text=True,
            timeout=60,
        )
        lines = done.stdout.splitlines()
        assert lines, f"Google's evaluator died at once: {sources[len(answers)]}: {done.stderr}"
        answers += [json.loads(line) for line in lines]
    return answers


@pytest.mark.parametrize("batch", range(6))
def test_random_expressions_have_the_value_that_googles_cel_gives_them(batch: int) -> None:
    sources = [Generator(batch * 1000 + n).any(depth=4) for n in range(400)]

    expected = theirs(sources)

    assert {source: ours(source) for source in sources} == dict(zip(sources, expected, strict=True))
