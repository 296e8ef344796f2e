"""Whatever comes in, only the two errors of the language come out."""

from __future__ import annotations

import contextlib
import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.expression.generating import SCOPE, Generator

from penstock.expression import EvaluationError, ExpressionError, compile_expression, compile_template
from penstock.expression.functions.functions import FUNCTIONS, MACROS

SIGNS = r"data x . , ( ) [ ] { } ? : + - * / % ! && || == < in 1 0x 1u "
ODD = r"1e9 'a' ' ''' b' r'\ \u12 `a` true null // ${ $${"
PIECES = st.sampled_from([*SIGNS.split(), *ODD.split(), '"', "\n", *FUNCTIONS, *MACROS])
TEXTS = st.one_of(
    st.text(max_size=60),
    st.lists(PIECES, max_size=25).map(" ".join),
    st.lists(PIECES, max_size=25).map("".join),
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "s", "deep", "z", "k"]), inner, max_size=3)
    ),
    max_leaves=8,
)
SCOPES = st.fixed_dictionaries({name: JSON for name in SCOPE})
BOUNDED = settings(max_examples=200, deadline=None, derandomize=True, database=None)


@BOUNDED
@given(TEXTS)
def test_any_text_is_an_expression_or_refused(text: str) -> None:
    with contextlib.suppress(ExpressionError, EvaluationError):
        compile_expression(text)({"data": {"x": 1}, "x": [1]})


@BOUNDED
@given(TEXTS)
def test_any_text_is_a_template_or_refused(text: str) -> None:
    with contextlib.suppress(ExpressionError, EvaluationError):
        compile_template({"a": ["${" + text + "}"], "b": text})({"data": {"x": 1}, "x": [1]})


@BOUNDED
@given(st.integers(0, 2**32), SCOPES)
def test_an_expression_gives_json_or_an_evaluation_error(seed: int, scope: dict[str, Any]) -> None:
    expression = compile_expression(Generator(seed).any(depth=4))

    with contextlib.suppress(EvaluationError):
        json.dumps(expression(scope), allow_nan=False)


@BOUNDED
@given(st.sampled_from(sorted(FUNCTIONS)), st.lists(JSON, max_size=4), st.booleans())
def test_every_function_takes_any_values_or_fails_cleanly(name: str, values: list[Any], method: bool) -> None:
    names = [f"v{index}" for index in range(len(values))]
    source = (
        f"{names[0]}.{name}({', '.join(names[1:])})" if method and names else f"{name}({', '.join(names)})"
    )

    with contextlib.suppress(ExpressionError, EvaluationError):
        json.dumps(compile_expression(source)(dict(zip(names, values, strict=True))), allow_nan=False)


@BOUNDED
@given(st.integers(0, 2**32))
def test_an_expression_reads_no_more_than_it_says(seed: int) -> None:
    expression = compile_expression(Generator(seed).any(depth=4))
    scope = {name: value for name, value in SCOPE.items() if name in expression.roots}

    def outcome(given: dict[str, object]) -> object:
        try:
            return expression(given)
        except EvaluationError as error:
            return str(error)

    assert outcome(scope) == outcome(SCOPE)
