"""The types of values with `${ … }` parts."""

from __future__ import annotations

import pytest
from tests.expression.static_types.scopes import SCOPE

from penstock.expression import ExpressionError, compile_template
from penstock.expression.types.fitting import fits
from penstock.expression.types.json_schema import read_schema
from penstock.expression.types.templates import check_template
from penstock.expression.types.types import name_of


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ("${ data.price }", "number"),
        ("${data.tags}", "list of string"),
        ("${ now }", "string"),
        (" ${ data.price }", "string"),
        ("a ${ data.price } and ${ data.tags } and ${ data.user }", "string"),
        ("$${ data.nothing }", "string"),
        ("plain", '"plain"'),
        (3, "int"),
        (None, "null"),
        ({"a": ["${ data.id }", 1]}, "object with `a`"),
        (["${ data.price }"], "list of number"),
    ],
)
def test_an_expression_alone_keeps_its_type_and_within_text_becomes_text(value: object, name: str) -> None:
    compile_template(value)

    checked = check_template(value, SCOPE)

    assert (name_of(checked.type), checked.problems) == (name, ())


def test_a_problem_has_the_path_of_its_string_and_its_place_there() -> None:
    value = {"to": ["x", "Dear ${ data.nmae }"], "a b": "${ data.id } ${ data.id + 1 }"}

    checked = check_template(value, SCOPE)

    found = [(path, each.variant, each.offset) for path, each in checked.problems]
    assert found == [("to[1]", "no-field", 13), ('["a b"]', "operator", 24)]
    assert len(checked.parts) == 3


def test_settings_are_held_against_the_schema_of_a_task() -> None:
    schema = {
        "type": "object",
        "properties": {"to": {"type": "string"}, "seconds": {"type": "integer"}},
        "required": ["to"],
        "additionalProperties": False,
    }
    expected = read_schema(schema).type

    def verdict(settings: object) -> tuple[str, str, str]:
        fit = fits(check_template(settings, SCOPE).type, expected)
        return fit.verdict, fit.why, fit.path

    assert verdict({"to": "${ data.id }", "seconds": 5}) == ("yes", "", "")
    assert verdict({"to": "${ data.id }", "seconds": "abc"}) == ("never", "type", "seconds")
    assert verdict({"to": "${ data.id }", "seconds": "${ data.price }"}) == ("may not", "type", "seconds")
    assert verdict({"seconds": 5}) == ("never", "missing", "to")
    assert verdict({"to": "x", "secs": 5}) == ("never", "unexpected", "secs")


def test_what_is_no_expression_is_refused_as_when_it_is_compiled() -> None:
    with pytest.raises(ExpressionError):
        check_template("${ data. }", SCOPE)
