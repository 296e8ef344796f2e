"""Parameters with `${ … }` parts."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.expression import EvaluationError, ExpressionError, compile_template

SCOPE: dict[str, Any] = {
    "data": {
        "user": "ann",
        "n": 3,
        "half": 0.5,
        "yes": True,
        "none": None,
        "list": [1, "ä"],
        "map": {"k": 1},
    },
    "events": {"a b": {"x": 1}},
}


def made(value: Any) -> Any:
    return compile_template(value)(SCOPE)


@pytest.mark.parametrize("name", ["user", "n", "half", "yes", "none", "list", "map"])
def test_a_part_alone_keeps_its_type(name: str) -> None:
    assert made(f"${{ data.{name} }}") == SCOPE["data"][name]
    assert type(made(f"${{data.{name}}}")) is type(SCOPE["data"][name])


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("Dear ${ data.user }!", "Dear ann!"),
        ("${ data.user }${ data.n }", "ann3"),
        ("n=${ data.n } h=${ data.half } y=${ data.yes } z=${ data.none }", "n=3 h=0.5 y=true z=null"),
        ("${ data.list } ${ data.map }", '[1,"ä"] {"k":1}'),
        (" ${ data.n }", " 3"),
        ("${ 2.0 }x", "2.0x"),
    ],
)
def test_parts_in_a_text_are_written_into_it(template: str, text: str) -> None:
    assert made(template) == text


@pytest.mark.parametrize(
    ("template", "value"),
    [
        ("${ '}' }", "}"),
        ("${ {'a': {'b': '}}'}} }", {"a": {"b": "}}"}}),
        ('${ "}\\"}" + r\'}\' }', '}"}}'),
        ("${ '''}''' } and ${ [1, 2].map(x, {'x': x}) }", '} and [{"x":1},{"x":2}]'),
        ("${ 1 // } not the end\n }", 1),
        ("${ '${' }", "${"),
    ],
)
def test_a_brace_inside_an_expression_does_not_end_the_part(template: str, value: Any) -> None:
    assert made(template) == value


@pytest.mark.parametrize(
    ("template", "value"),
    [
        ("$${ data.n }", "${ data.n }"),
        ("$${${ data.n }", "${3"),
        ("$$${ data.n }", "$${ data.n }"),
        ("costs $5 {really}", "costs $5 {really}"),
        ("$", "$"),
        ("", ""),
    ],
)
def test_a_doubled_dollar_is_a_literal_one(template: str, value: str) -> None:
    assert made(template) == value


def test_a_template_is_any_json() -> None:
    template = compile_template(
        {
            "to": "${ data.user }",
            "cc": ["x", "${ data.n }"],
            "deep": {"a": {"b": "$${"}},
            "n": 1,
            "none": None,
        }
    )

    assert template(SCOPE) == {"to": "ann", "cc": ["x", 3], "deep": {"a": {"b": "${"}}, "n": 1, "none": None}
    assert template.constant is False
    assert template.reads == (("data", "user"), ("data", "n"))
    assert template.roots == {"data"}


@pytest.mark.parametrize("value", [None, 1, "text", [1, {"a": "b"}], {}, {"a": [None]}])
def test_a_value_without_expressions_is_constant(value: Any) -> None:
    template = compile_template(value)

    assert (template.constant, template.reads, template.roots, template({})) == (True, (), frozenset(), value)


def test_templates_are_equal_and_hashed_by_their_value() -> None:
    assert {compile_template({"a": "${ b }"}), compile_template({"a": "${ b }"})} == {
        compile_template({"a": "${ b }"})
    }
    assert compile_template("${ a }") != compile_template("${ b }")


@pytest.mark.parametrize(
    ("value", "path", "sentence"),
    [
        (
            {"to": "${ data.usr }"},
            "to",
            "In `to`, line 1, column 9: `data` has no key `usr`; did you mean `user`?",
        ),
        (
            {"a": {"b": ["Hi ${ 1 / 0 }"]}},
            "a.b[0]",
            "In `a.b[0]`, line 1, column 9: division by zero.",
        ),
        ({"a b": "${ data.x }"}, '["a b"]', 'In `["a b"]`, line 1, column 9: `data` has no key `x`.'),
        ("one\n${ data.x }", "", "Line 2, column 9: `data` has no key `x`."),
    ],
)
def test_a_failing_part_says_which_parameter_it_is_in(value: Any, path: str, sentence: str) -> None:
    template = compile_template(value)

    with pytest.raises(EvaluationError) as caught:
        template(SCOPE)

    assert (caught.value.path, str(caught.value)) == (path, sentence)


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ({"to": "${ }"}, "In `to`, line 1, column 4: the expression is empty."),
        (
            {"to": "${ data.x"},
            "In `to`, line 1, column 10: an operator or `}` should come here, not the end.",
        ),
        ({"to": "Hi ${ 1 + } you"}, "In `to`, line 1, column 11: a value should come here, not `}`."),
        ({"to": ["${ dta }"]}, "In `to[0]`, line 1, column 4: there is no `dta` here; did you mean `data`?"),
    ],
)
def test_a_bad_part_is_refused_with_the_parameter_it_is_in(value: Any, sentence: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        compile_template(value, names=["data", "events"])

    assert str(caught.value) == sentence
