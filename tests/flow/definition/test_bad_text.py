"""Text that cannot be taken in: one plain sentence, at the line and column to mend."""

from __future__ import annotations

import pytest

from penstock.flow.format.definition_parser import from_plain, read_definition
from penstock.flow.format.nodes import MAX_SIZE
from penstock.flow.model.problems import UNREADABLE, DefinitionError, Problem

EMPTY = "The definition is empty; begin with `penstock: 1`."
MISFIT = "This line does not fit the lines above; check its indentation and quotes."
COLON = "There is a second `: ` on this line; put the value in quotes."
TAB = "A tab stands here; indent with spaces."
PLAIN = "a definition holds plain values only."
DEEP = "Lists and maps are nested more than 64 deep here."
RANGE = "This whole number needs more than 64 bits; write it as text, in quotes."
FINITE = "Numbers must be finite: no .inf, .nan, NaN or Infinity."
ALIASES = "Aliases repeat too much: 100 of them and 10000 values at most."
STORED = "which cannot be stored; take it out."
UTF8 = "is it a text file in UTF-8?"


def refused(text: str) -> tuple[Problem, ...]:
    with pytest.raises(DefinitionError) as caught:
        read_definition(text)
    return caught.value.problems


BOMB = "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 9))

TEXTS = [
    ("", "empty", 1, 1, EMPTY),
    (" \n\n", "empty", 1, 1, EMPTY),
    ("# only a comment\n", "empty", 1, 1, EMPTY),
    ("\ufeff", "empty", 1, 1, EMPTY),
    ("a: \0", "invalid_unicode", 1, 4, f"The file holds the character U+0000; {UTF8}"),
    ("a: 1\nb: \ud800", "invalid_unicode", 2, 4, f"The file holds the character U+D800; {UTF8}"),
    ("a: \x07", "invalid_unicode", 1, 4, f"The file holds the control character U+0007; {UTF8}"),
    ("a: b\u2028c", "invalid_unicode", 1, 5,
     'Some programs take U+2028 for a line break; write "\\u2028", in double quotes.'),
    ("a:\n\tb: 1\n", "not_yaml", 2, 1, TAB),
    ('a: 1\nb: "c\nd: 2\n', "not_yaml", 2, 4, "A quote that opens here is never closed."),
    ("a: 'b\n", "not_yaml", 1, 4, "A quote that opens here is never closed."),
    ("a: {b: 1\nc: 2\n", "not_yaml", 2, 2,
     "A `,` or `}` is missing: the map in braces that opens on line 1 does not end."),
    ("a: [b\nc: 2\n", "not_yaml", 2, 2,
     "A `,` or `]` is missing: the list in brackets that opens on line 1 does not end."),
    ("a: [,]", "not_yaml", 1, 5, "A value is missing here."),
    ("title: Sorry: no\n", "not_yaml", 1, 13, COLON),
    ("a: 1\n  b: 2\n", "not_yaml", 2, 4, MISFIT),
    ("a:\n  b: 1\n c: 2\n", "not_yaml", 3, 2, MISFIT),
    ("a: 1\nb 2\nc: 3\n", "not_yaml", 2, 1,
     "A `:` is missing after this key, or the line is indented wrongly."),
    ("a: @b\n", "not_yaml", 1, 4, "A value cannot begin with `@`; put it in quotes."),
    ("a: `b`\n", "not_yaml", 1, 4, "A value cannot begin with a backtick; put it in quotes."),
    ("a: %b\n", "not_yaml", 1, 4, "A value cannot begin with `%`; put it in quotes."),
    ("a: - b\n", "not_yaml", 1, 4, "A list cannot begin on this line; put `- ` on the next one."),
    ("a: |x\n  b\n", "not_yaml", 1, 5, "After `|` or `>` the text begins on the next line."),
    ('a: "\\q"\n', "not_yaml", 1, 5,
     "A backslash in double quotes begins an escape; write `\\\\` or use single quotes."),
    ('a: "\\ud800"\n', "not_yaml", 1, 7,
     "This escape stands for no character that can be stored; take it out."),
    ("a: !e!x b\n", "not_yaml", 1, 4, f"Tags are not allowed; {PLAIN}"),
    ("%YAML 3.0\n---\na: 1\n", "not_yaml", 1, 1, "Leave the `%YAML` line out; YAML 1.2 is read."),
    ("%a\n---\na: 1\n", "not_yaml", 1, 3, "A line cannot begin with `%`; leave it out."),
    ("a: 1\n...\nb\n", "not_yaml", 3, 1, "There is more text after the end of the definition."),
    ("a: &\n", "not_yaml", 1, 5, "A name must follow `&` or `*`; put the value in quotes."),
    ("a: 1\n---\nb: 2\n", "several_documents", 2, 1,
     "A file holds one definition; a second document begins here."),
    ("a: *b\n", "alias", 1, 4, "`*b` repeats `&b`, which is nowhere above."),
    ("a: &b [*b]\n", "alias", 1, 8, "`*b` stands inside what it repeats and would never end."),
    (BOMB, "alias", 5, 25, ALIASES),
    ("a: &a x\nb: [" + "*a, " * 101 + "]", "alias", 2, 405, ALIASES),
    ("- " * 100_000, "too_deep", 1, 129, DEEP),
    ("[" * 200_000, "too_deep", 1, 65, DEEP),
    ("a: &a " + "[" * 40 + "]" * 40 + "\nb: " + "[" * 30 + "*a" + "]" * 30, "too_deep", 2, 34, DEEP),
    ('{"a": ' * 80_000, "too_deep", 1, 385, DEEP),
    ('{"a": 1,}', "not_json", 1, 9, "This is not JSON: a key in double quotes must stand here."),
    ("{a: 1}", "not_json", 1, 2, "This is not JSON: a key in double quotes must stand here."),
    ('{"a" 1}', "not_json", 1, 6, "This is not JSON: a `:` must follow the key 'a'."),
    ('{"a": [1', "not_json", 1, 9, "This is not JSON: it ends too early; a `,` or `]` is missing."),
    ('{"a":', "not_json", 1, 6, "This is not JSON: it ends too early; a `}` or `]` is missing."),
    ('{"a":\n 01}', "not_json", 2, 3, "This is not JSON: a `,` or `}` is missing."),
    ('{"a": x}', "not_json", 1, 7,
     "This is not JSON: a value cannot begin with 'x'; text needs double quotes."),
    ('{"a": "x', "not_json", 1, 7, "This is not JSON: this quote is never closed."),
    ('{"a": "x\ny"}', "not_json", 1, 9,
     "This is not JSON: text cannot hold a raw line break, tab or control character."),
    ("{} {}", "not_json", 1, 4, "This is not JSON: there is more text after the end."),
]  # fmt: skip


@pytest.mark.parametrize(("text", "code", "line", "column", "message"), TEXTS)
def test_unreadable_text_is_one_problem_at_its_place(
    text: str, code: str, line: int, column: int, message: str
) -> None:
    assert refused(text) == (Problem(code, "", message, line, column),)
    assert code in UNREADABLE


HEAD = "penstock: 1\nname: n\nsteps: {s: {task: t}}\nview:\n"
VALUES = [
    ("  a: .inf", "invalid_number", 5, 6, FINITE),
    ("  a: -.INF", "invalid_number", 5, 6, FINITE),
    ("  a: .NaN", "invalid_number", 5, 6, FINITE),
    ("  a: 1e999", "invalid_number", 5, 6, FINITE),
    ("  a: 9223372036854775808", "number_out_of_range", 5, 6, RANGE),
    ("  a: " + "9" * 5000, "number_out_of_range", 5, 6, RANGE),
    ('  a: "\\0"', "invalid_unicode", 5, 6, f"This text holds U+0000, {STORED}"),
    ("  a: !foo b", "tag", 5, 6, f"The tag '!foo' is not allowed; {PLAIN}"),
    ("  a: !!python/object/apply:os.system [x]", "tag", 5, 6,
     f"The tag '!!python/object/apply:os.system' is not allowed; {PLAIN}"),
    ("  a: !!int b", "tag", 5, 6, "The tag `!!int` does not fit 'b'; leave the tag out."),
    ("  a: !!set {b}", "tag", 5, 6, f"The tag '!!set' is not allowed; {PLAIN}"),
    ("  a: &a {b: 1}\n  c: {<<: *a}", "merge_key", 6, 7,
     "The merge key `<<` is not read; write the keys out, or use `defaults`."),
    ("  a: 1\n  b: 2\n  a: 3", "duplicate_key", 7, 3,
     "The key 'a' is here twice: on line 5 and on line 7; keep one."),
    ("  404: x", "key_not_text", 5, 3, 'A key must be text; put it in quotes: "404".'),
    ("  true: x", "key_not_text", 5, 3, 'A key must be text; put it in quotes: "true".'),
    ("  ~: x", "key_not_text", 5, 3, 'A key must be text; put it in quotes: "null".'),
    ("  ? [a]\n  : x", "key_not_text", 5, 5, "A key must be text, not a list."),
]  # fmt: skip


@pytest.mark.parametrize(("lines", "code", "line", "column", "message"), VALUES)
def test_a_value_that_no_store_keeps_is_refused_once(
    lines: str, code: str, line: int, column: int, message: str
) -> None:
    assert refused(HEAD + lines) == (Problem(code, "", message, line, column),)


@pytest.mark.parametrize(
    ("value", "code", "column", "message"),
    [
        ("NaN", "invalid_number", 1, FINITE),
        ("-Infinity", "invalid_number", 1, FINITE),
        ("123456789012345678901", "number_out_of_range", 1, RANGE),
        ('"\\ud800"', "invalid_unicode", 1, f"This text holds U+D800, {STORED}"),
        ('"\\u0000"', "invalid_unicode", 1, f"This text holds U+0000, {STORED}"),
        ('1, "a": 2', "duplicate_key", 4, "The key 'a' is here twice: on line 1 and on line 2; keep one."),
    ],
)
def test_json_that_pythons_own_reader_lets_pass_is_refused(
    value: str, code: str, column: int, message: str
) -> None:
    head = '{"penstock": 1, "name": "n", "steps": {"s": {"task": "t"}}, "view": {"a":\n'
    assert refused(head + value + "}}") == (Problem(code, "", message, 2, column),)


def test_a_file_over_the_limit_is_refused_before_it_is_parsed() -> None:
    message = "A definition has at most 512 KiB; split the workflow."
    assert refused("é" * (MAX_SIZE // 2 + 1)) == (Problem("too_large", "", message),)


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ({"view": {"a": float("nan")}}, Problem("invalid_number", "view.a", FINITE)),
        ({"view": {"a": [2**63]}}, Problem("number_out_of_range", "view.a[0]", RANGE)),
        (
            {"view": {"a": "\ud800"}},
            Problem("invalid_unicode", "view.a", f"This text holds U+D800, {STORED}"),
        ),
        ({"view": {4: 1}}, Problem("key_not_text", "view", "The key 4 must be text.")),
        ({"view": {"a": b"x"}}, Problem("wrong_type", "view.a", "A bytes is no JSON value.")),
    ],
)
def test_decoded_json_is_checked_like_text_and_problems_name_paths(value: object, problem: Problem) -> None:
    whole = {"penstock": 1, "name": "n", "steps": {"s": {"task": "t"}}, **value}  # type: ignore[dict-item]
    with pytest.raises(DefinitionError) as caught:
        from_plain(whole)
    assert caught.value.problems == (problem,)


def test_decoded_json_without_end_is_refused() -> None:
    endless: list[object] = []
    endless += [endless, endless]
    with pytest.raises(DefinitionError) as caught:
        from_plain({"view": endless})
    assert caught.value.problems == (Problem("too_deep", "", DEEP),)


def test_a_flood_of_problems_is_cut_off() -> None:
    problems = refused(
        "penstock: 1\nname: n\nsteps: {s: {task: t}}\n" + "".join(f"q{n}q: 1\n" for n in range(9000))
    )
    assert len(problems) == 201
    assert problems[-1].message == "There are more than 200 problems; mend these first."


def test_the_error_reads_like_a_compilers() -> None:
    with pytest.raises(DefinitionError) as caught:
        read_definition("penstock: 1\nname: ''\nsteps: {}\n", "flows/a.yaml")
    assert str(caught.value).splitlines() == [
        "flows/a.yaml:2:7: The name of a workflow is empty.",
        "flows/a.yaml:3:1: `steps` is empty; a workflow has at least one step.",
    ]


def test_the_error_names_paths_where_there_are_no_lines() -> None:
    with pytest.raises(DefinitionError) as caught:
        from_plain({"penstock": 1, "name": "", "steps": {"s": {"task": "t"}}})
    assert str(caught.value) == "definition: name: The name of a workflow is empty."
