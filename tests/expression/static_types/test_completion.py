"""What the editor offers at a place of an expression, finished or not."""

from __future__ import annotations

from random import Random

import pytest
from tests.expression.static_types.scopes import SCOPE

from penstock.expression.types.completion import Item, complete, complete_template
from penstock.expression.types.json_schema import read_schema

FIELDS = ["id", "price", "count", "tags", "user", "users", "mode", "shape", "headers", "files", "any"]

OFFERED = [
    ("data.c", ["count"]),
    ("dat", ["data"]),
    ("data.id == 'x' && data.mo", ["mode"]),
    ("has(data.co", ["count"]),
    ("data.tags[0].up", ["upperAscii"]),
    ("data.id.split(',')[0].up", ["upperAscii"]),
    ("(data.id + 'x').up", ["upperAscii"]),
    ("'abc'.start", ["startsWith"]),
    ("data.files.filter(f, f.n", ["name"]),
    ("data.files.map(f, [f].map(g, g.n", ["name"]),
    ("data.files.filter(f, f.size > 1).map(g, g.n", ["name"]),
    ("data.files.map(file, fi", ["file"]),
    ("{'a': data.id}.a", ["a", "all"]),
    ("{'a': data.pr", ["price"]),
    ("now.getH", ["getHours"]),
    ("data.tags.j", ["join"]),
    ("data.price.up", []),
    ('data["', FIELDS),
    ('data["ta', ["tags"]),
    ('data.mode == "', ["fast", "slow"]),
    ('data.mode != "s', ["slow"]),
    ("@@ data.pr", ["price"]),
    ("data.id +* data.pr", ["price"]),
    ("'not closed + data.pr", []),
    ("tim", ["timestamp"]),
    ("fal", ["false"]),
]


@pytest.mark.parametrize(("text", "labels"), OFFERED, ids=[text for text, _ in OFFERED])
def test_what_can_stand_at_the_end_is_offered(text: str, labels: list[str]) -> None:
    assert [item.label for item in complete(text, len(text), SCOPE)] == labels


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("data.", [*FIELDS, "size", "all", "exists", "exists_one", "filter", "map"]),
        ("data.files.filter(f, f.", ["name", "size", "has size", "size", "all"]),
        ("data.any.", ["size", "matches", "contains"]),
        ("nothing.", ["size", "matches", "contains"]),
        ("1 + ", ["data", "object", "now", "size", "matches", "int"]),
    ],
)
def test_fields_come_before_functions(text: str, labels: list[str]) -> None:
    assert [item.label for item in complete(text, len(text), SCOPE)][: len(labels)] == labels


def test_only_what_stands_before_the_cursor_counts() -> None:
    text = "data.pr == data.id"

    assert [item.label for item in complete(text, len("data.pr"), SCOPE)] == ["price"]


def test_an_item_says_its_type_and_what_its_schema_says() -> None:
    scope = {
        "data": read_schema(
            {"type": "object", "properties": {"a b": {"type": "string", "description": "Who asked"}}}
        ).type
    }

    assert complete("data.a", 6, scope) == (
        Item("a b", "string (optional)", "Who asked", "`a b`"),
        Item("all", "bool", "Whether a condition holds for every item", "all("),
    )


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("Dear ${ data.us", ["user", "users"]),
        ("${ data.id } and ${data.pr", ["price"]),
        ("${ {'a': data.pr", ["price"]),
        ("data.pr", []),
        ("${ data.id } data.pr", []),
        ("$${ data.pr", []),
        ("", []),
    ],
)
def test_a_template_offers_something_within_its_expressions_alone(text: str, labels: list[str]) -> None:
    assert [item.label for item in complete_template(text, len(text), SCOPE)] == labels


def test_any_text_is_answered() -> None:
    random = Random(7)
    pieces = [
        "data",
        ".",
        "tags",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "'",
        '"',
        "x",
        ",",
        "map",
        "1",
        " ",
        "@",
        "\n",
        "$",
        "//",
    ]
    for _ in range(2_000):
        text = "".join(random.choices(pieces, k=random.randrange(12)))
        cursor = random.randint(0, len(text))

        assert len(complete(text, cursor, SCOPE)) <= 200
        assert len(complete_template("${" + text, cursor + 2, SCOPE)) <= 200
