"""Hostile input is answered with a code, after a bounded amount of work."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.expression import EvaluationError, ExpressionError, compile_expression, compile_template
from penstock.expression.limits import MAX_COST


def nested(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(depth):
        value = {"a": value}
    return value


def cyclic() -> dict[str, Any]:
    value: dict[str, Any] = {}
    value["a"] = value
    return value


SCOPE: dict[str, Any] = {
    "ctx": {},
    "l": list(range(300)),
    "big": list(range(20_000)),
    "records": [{"a": n} for n in range(20_000)],
    "text": "a" * 250_000,
    "word": "a" * 24_000,
    "deep": nested(20_000),
    "cycle": cyclic(),
    "keys": {"k" * 120 + str(n): n for n in range(10_000)},
    "one": "a" * 250_000 + "x",
    "other": "a" * 250_000 + "y",
    "needle": "b" + "a" * 100_000,
}
TENFOLD = ".map(a, " + "+".join("a" * 10) + ")"

REFUSED = [
    ("1" * 1_000_000, "too_long"),
    ("1" + "+1" * 20_000, "too_long"),
    ("a" + ".b" * 50_000, "too_long"),
    ("(" * 100_000 + "1" + ")" * 100_000, "too_long"),
    ("1" + "+1" * 200, "too_deep"),
    ("1" + " == 1" * 201, "too_deep"),
    ("true" + " && true" * 200, "too_deep"),
    ("ctx" + ".b" * 201, "too_deep"),
    ("''" + ".trim()" * 201, "too_deep"),
    ("true ? 1 : " * 201 + "1", "too_deep"),
    ("(" * 64 + "1" + ")" * 64, "too_deep"),
    ("[" * 2000, "too_deep"),
    ("{1:" * 1000, "too_deep"),
    ("!" * 4000 + "true", "too_deep"),
    ("-" * 4000 + "1", "too_deep"),
    ("text.matches('((a{1,1000}){1,1000}){1,1000}')", "bad_regex"),
    ("text.matches('(((((a{1,9}){1,9}){1,9}){1,9}){1,9}){1,9}')", "bad_regex"),
    ("text.matches('" + "a" * 600 + "')", "bad_regex"),
    ("glob(text, '" + "a" * 600 + "')", "bad_regex"),
    ("9" * 4000, "overflow"),
]


@pytest.mark.parametrize(("source", "code"), REFUSED, ids=[source[:30] for source, _ in REFUSED])
def test_a_hostile_text_is_refused_before_it_runs(source: str, code: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        compile_expression(source)

    assert caught.value.code == code


STOPPED = [
    "l.all(a, l.all(b, l.all(c, a + b + c >= 0)))",
    "l.all(a, l.all(b, l.all(c, l.all(d, true))))",
    "['a']" + TENFOLD * 7,
    "[[1]]" + TENFOLD * 7,
    "l.exists(a, l.exists(b, l.exists(c, false))) || true",
    "records.exists(r, r.missing == 1)",
    "records.all(r, records == records)",
    "l.all(i, !(-1 in big))",
    "l.map(i, big + big)",
    "l.map(i, [" + "i," * 1900 + "i])",
    "l.map(i, text.split(''))",
    "l.map(i, word.replace('a', 'aaaaaaaaaaaaaaaaaaaa'))",
    "l.map(i, l.map(j, word).join(word))",
    "l.map(i, text.lowerAscii())",
    "text.matches('(a+)+$')",
    "l.all(i, l.all(j, one != other))",
    "l.all(i, l.all(j, one < other))",
    "l.all(i, l.all(j, !one.startsWith(other)))",
    "l.all(i, l.all(j, !(one in [other])))",
    "l.all(i, l.all(j, keys.exists(k, true)))",
    "word.matches('(.*a){30}b')",
    "word.matches('(a|aa|aaa|aaaa){100}b')",
    "glob(word, '" + "*a" * 200 + "b')",
    "l.all(i, 'aaaa'.matches('(a{1,90}b){1,9}' + string(i)) || true)",
    "records.all(r, timestamp(0).getHours('X/Y' + string(r.a)) == 0 || true)",
]


@pytest.mark.parametrize("source", STOPPED)
def test_work_without_end_is_stopped_by_its_cost(source: str) -> None:
    expression = compile_expression(source)

    with pytest.raises(EvaluationError) as caught:
        expression(SCOPE)

    assert caught.value.code == "cost_exceeded"
    assert caught.value.message == f"this takes more than {MAX_COST:,} steps of work, so it was stopped"


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("deep == deep", "too_deep"),
        ("cycle == cycle", "too_deep"),
        ("deep", "result_too_large"),
        ("cycle", "result_too_large"),
        ("word + word + word", "result_too_large"),
        ("[word, word, word]", "result_too_large"),
        ("{'a': text}", "result_too_large"),
        ("ctx.__class__", "no_such_key"),
        ("keys." + "k" * 125, "no_such_key"),
        ("'x'.matches(text)", "bad_regex"),
    ],
)
def test_data_that_is_too_much_is_an_error(source: str, code: str) -> None:
    with pytest.raises(EvaluationError) as caught:
        compile_expression(source)(SCOPE)

    assert caught.value.code == code


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("word.matches('(a+)+$')", True),
        ("(" * 63 + "1" + ")" * 63, 1),
        ("0" + "+1" * 199, 199),
        ("''" + ".trim()" * 190, ""),
        ("text.contains('b')", False),
        ("text.size()", 250_000),
        ("one.lastIndexOf(needle)", -1),
        ("one.indexOf(needle)", -1),
        ("''.contains(" * 63 + "''" + ")" * 63 + " || true", True),
        ("records[19999].a", 19_999),
        ("records.exists(r, r.a == 9999)", True),
        ("records.filter(r, r.a < 2)", [{"a": 0}, {"a": 1}]),
        ("[" + "null, " * 600 + "null].size()", 601),
    ],
)
def test_honest_work_of_some_size_is_done(source: str, value: Any) -> None:
    assert compile_expression(source)(SCOPE) == value


@pytest.mark.parametrize(
    "source", ["records", "steps['a b'].output", "steps[name].output", "steps['a b']['all'][0]"]
)
def test_a_value_that_is_only_passed_on_may_be_as_large_as_the_data(source: str) -> None:
    records = SCOPE["records"]
    scope = {"records": records, "name": "a b", "steps": {"a b": {"output": records, "all": [records]}}}

    assert compile_expression(source)(scope) == records


def test_the_expressions_of_a_template_share_a_budget() -> None:
    one = "${ big.filter(n, n < 0).size() }"
    few, many = compile_template([one] * 4), compile_template([one] * 6)

    assert few(SCOPE) == [0] * 4
    with pytest.raises(EvaluationError) as caught:
        many(SCOPE)
    assert (caught.value.code, caught.value.path) == ("cost_exceeded", "[5]")


def test_a_template_does_not_grow_without_limit() -> None:
    with pytest.raises(EvaluationError) as caught:
        compile_template({"a": "${ text }${ text }"})(SCOPE)

    assert (caught.value.code, caught.value.path) == ("result_too_large", "a")


def test_each_expression_of_a_template_has_the_limits_of_an_expression() -> None:
    with pytest.raises(ExpressionError) as caught:
        compile_template({"a": "${ " + "1 " * 5000 + "}"})
    with pytest.raises(ExpressionError) as long:
        compile_template({"a": "${ '" + "x" * 5000 + "' }"})

    assert (caught.value.code, long.value.code) == ("syntax", "too_long")


def test_a_value_nested_too_deep_is_no_template() -> None:
    with pytest.raises(ExpressionError) as caught:
        compile_template(nested(100))

    assert caught.value.code == "too_deep"
