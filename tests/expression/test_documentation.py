"""What the page for authors says is so."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import penstock.expression
from penstock.expression import compile_expression
from penstock.expression.functions.functions import FUNCTIONS, MACROS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/reference/expressions.md").read_text()
CODE = [path.read_text() for path in Path(penstock.expression.__file__).parent.rglob("*.py")]


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("line", [line for block in blocks("cel") for line in block.splitlines()])
def test_every_example_is_an_expression(line: str) -> None:
    roots = compile_expression(line).roots

    assert roots <= {"data", "tags", "run", "event", "events", "steps", "item", "now", "object", "headers"}


def test_the_python_example_runs() -> None:
    for block in blocks("python"):
        exec(compile(block, "expressions.md", "exec"), {})


def test_every_function_has_its_place_on_the_page() -> None:
    assert [name for name in (*FUNCTIONS, *MACROS) if not re.search(rf"`[^`]*\b{name}\b[^`]*`", PAGE)] == []


def test_every_code_of_an_error_has_its_place_on_the_page() -> None:
    calls = [node for code in CODE for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call)]
    raised = {
        argument.value
        for call in calls
        if getattr(call.func, "id", getattr(call.func, "attr", ""))
        in ("Fault", "error", "EvaluationError", "ExpressionError")
        for argument in call.args
        if isinstance(argument, ast.Constant)
        and isinstance(argument.value, str)
        and re.fullmatch("[a-z_]+", argument.value)
    }

    assert {code for code in raised if f"`{code}`" not in PAGE} == set()
    assert {"syntax", "too_deep", "no_such_key", "cost_exceeded", "not_bool"} <= raised
