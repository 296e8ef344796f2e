"""Every wrong input gets one plain sentence that says what is wrong and where."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from penstock.expression import EvaluationError, ExpressionError, compile_expression

SCOPE: dict[str, Any] = {
    "data": {"size": 3, "name": "x", "list": [1], "none": None, "huge": 2**70, "half": "\ud800"}
}

BAD_TEXT = [
    ("", "syntax", "Line 1, column 1: the expression is empty."),
    ("1 +", "syntax", "Line 1, column 4: a value should come here, not the end."),
    ("1 1", "syntax", "Line 1, column 3: an operator should come here, not `1`."),
    ("(1", "syntax", "Line 1, column 3: `)` should come here, not the end."),
    ("[1, 2", "syntax", "Line 1, column 6: `,` or `]` should come here, not the end."),
    ("{'a' 1}", "syntax", "Line 1, column 6: `:` should come here, not `1`."),
    ("data.\n  1", "syntax", "Line 2, column 3: the name of a field should come here, not `1`."),
    ("a = 1", "syntax", "Line 1, column 3: `=` is not an operator; write `==`."),
    ("a & b", "syntax", "Line 1, column 3: `&` is not an operator; write `&&`."),
    ("a # b", "syntax", "Line 1, column 3: the character `#` has no meaning here."),
    ("'abc", "syntax", "Line 1, column 1: this string is not closed."),
    (
        "'\\q'",
        "syntax",
        "Line 1, column 1: `\\q` is not an escape that strings know; write a backslash as `\\\\`.",
    ),
    (
        "'\\ud800'",
        "syntax",
        "Line 1, column 1: `\\ud800` is not an escape that strings know; write a backslash as `\\\\`.",
    ),
    ("b'\\u0041'", "syntax", "Line 1, column 1: `\\u0041` has no meaning in bytes; write them as `\\x…`."),
    ("while", "syntax", "Line 1, column 1: `while` is a reserved word and cannot be a name."),
    ("a.true", "syntax", 'Line 1, column 3: `true` is a word of the language; write `["true"]`.'),
    (
        "Msg{a: 1}",
        "syntax",
        "Line 1, column 4: messages are not part of this language; write a map as `{'name': value}`.",
    ),
    ("9223372036854775808", "overflow", "Line 1, column 1: this number does not fit 64 bits."),
    ("18446744073709551616u", "overflow", "Line 1, column 1: this number does not fit 64 bits."),
    ("dta.x", "unknown_name", "Line 1, column 1: there is no `dta` here; did you mean `data`?"),
    ("zzz", "unknown_name", "Line 1, column 1: there is no `zzz` here; there are `data`, `tags`."),
    ("siz(data)", "unknown_function", "Line 1, column 1: there is no function `siz`; did you mean `size`?"),
    (
        "contains('a', 'b')",
        "unknown_function",
        "Line 1, column 1: `contains` is written as `value.contains(...)`.",
    ),
    ("'1'.int()", "unknown_function", "Line 1, column 5: `int` is written as `int(...)`."),
    ("'a'.contains()", "wrong_arguments", "Line 1, column 5: `contains` takes 1 argument, not 0."),
    (
        "'a'.substring(1, 2, 3)",
        "wrong_arguments",
        "Line 1, column 5: `substring` takes 1 to 2 arguments, not 3.",
    ),
    ("has(data)", "bad_macro", "Line 1, column 1: `has` takes one selection such as `has(data.size)`."),
    (
        "data.all(1, true)",
        "bad_macro",
        "Line 1, column 6: the first argument of `all` must be a plain name for each item.",
    ),
    (
        "data.all(x)",
        "bad_macro",
        "Line 1, column 6: `all` takes a variable and an expression, as in `list.all(x, x > 1)`.",
    ),
    (
        "'a'.matches('(')",
        "bad_regex",
        "Line 1, column 13: the pattern is not a regular expression that RE2 takes (missing ): ().",
    ),
    ("glob('a', '{a')", "bad_regex", "Line 1, column 11: a `{` in the glob is not closed."),
    ("glob('a', '[a')", "bad_regex", "Line 1, column 11: a `[` in the glob is not closed."),
]


@pytest.mark.parametrize(("source", "code", "sentence"), BAD_TEXT)
def test_bad_text_is_refused_with_one_sentence(source: str, code: str, sentence: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        compile_expression(source, names=["data", "tags"])

    assert (caught.value.code, str(caught.value), caught.value.source) == (code, sentence, source)


BAD_VALUES = [
    ("data.siz", "no_such_key", "Line 1, column 6: `data` has no key `siz`; did you mean `size`?"),
    ("data.zzzzz", "no_such_key", "Line 1, column 6: `data` has no key `zzzzz`."),
    ("data['Name']", "no_such_key", "Line 1, column 6: `data` has no key `Name`; did you mean `name`?"),
    (
        "data.name.first",
        "no_such_overload",
        "Line 1, column 11: `data.name` is a string, which has no field `first`.",
    ),
    ("data.none.x", "no_such_overload", "Line 1, column 11: `data.none` is null, which has no field `x`."),
    ("{'a': 1}.b", "no_such_key", "Line 1, column 10: this value has no key `b`."),
    (
        "{1: 2, 'abc': 3}.abd",
        "no_such_key",
        "Line 1, column 18: this value has no key `abd`; did you mean `abc`?",
    ),
    ("{1: 2}[3]", "no_such_key", "Line 1, column 7: this map has no key `3`."),
    ("dat", "unknown_name", "Line 1, column 1: there is no `dat` here; did you mean `data`?"),
    (
        "data.list[1]",
        "index_out_of_range",
        "Line 1, column 10: the index 1 lies outside this list of 1 item.",
    ),
    ("[1, 2][-1]", "index_out_of_range", "Line 1, column 7: the index -1 lies outside this list of 2 items."),
    ("[1]['a']", "no_such_overload", "Line 1, column 5: this value is a list, which has no field `a`."),
    ("[1][true]", "no_such_overload", "Line 1, column 4: the index of a list is an int, not a bool."),
    ("1 / 0", "division_by_zero", "Line 1, column 3: division by zero."),
    ("1 % 0", "division_by_zero", "Line 1, column 3: the remainder of a division by zero."),
    (
        "data.size / 2.0",
        "no_such_overload",
        "Line 1, column 11: `/` is not defined between an int and a double; convert with double(...).",
    ),
    (
        "1 + 1u",
        "no_such_overload",
        "Line 1, column 3: `+` is not defined between an int and a uint; convert with int(...).",
    ),
    (
        "'a' + 1",
        "no_such_overload",
        "Line 1, column 5: `+` is not defined between a string and an int; convert with string(...).",
    ),
    ("9223372036854775807 + 1", "overflow", "Line 1, column 21: the result does not fit 64 bits."),
    ("-(-9223372036854775808)", "overflow", "Line 1, column 1: the result does not fit 64 bits."),
    ("-9223372036854775808 / -1", "overflow", "Line 1, column 22: the result does not fit 64 bits."),
    ("1u - 2u", "overflow", "Line 1, column 4: the result does not fit 64 bits without a sign."),
    ("data.huge", "overflow", "Line 1, column 1: a whole number of the data does not fit 64 bits."),
    ("data", "overflow", "Line 1, column 1: a whole number of the data does not fit 64 bits."),
    ("1 < 'a'", "no_such_overload", "Line 1, column 3: an int cannot be ordered against a string."),
    ("'a' > 1", "no_such_overload", "Line 1, column 5: a string cannot be ordered against an int."),
    (
        "1 in 'abc'",
        "no_such_overload",
        "Line 1, column 3: `in` needs a list or a map on its right, not a string.",
    ),
    ("1 && true", "no_such_overload", "Line 1, column 1: `&&` needs true or false, not an int."),
    ("!data.name", "no_such_overload", "Line 1, column 1: `!` needs true or false, not a string."),
    ("1 ? 2 : 3", "no_such_overload", "Line 1, column 1: `? :` needs true or false, not an int."),
    ("-'a'", "no_such_overload", "Line 1, column 1: `-` is not defined for a string."),
    ("5.all(x, true)", "no_such_overload", "Line 1, column 3: a loop goes over a list or a map, not an int."),
    ("[1].filter(x, x)", "no_such_overload", "Line 1, column 5: `filter` needs true or false, not an int."),
    ("{1.5: 2}", "no_such_overload", "Line 1, column 2: a double cannot be the key of a map."),
    ("{'a': 1, 'a': 2}", "duplicate_key", "Line 1, column 10: a key of this map is given twice."),
    ("int('x')", "bad_value", "Line 1, column 1: `x` cannot be read as an int."),
    ("int([])", "no_such_overload", "Line 1, column 1: a list cannot be converted to an int."),
    ("int(1e19)", "overflow", "Line 1, column 1: the number does not fit an int."),
    (
        "timestamp('today')",
        "bad_value",
        "Line 1, column 1: `today` is not a time such as `2026-01-31T08:00:00Z`.",
    ),
    (
        "duration('soon')",
        "bad_value",
        "Line 1, column 1: `soon` is not a duration such as `1h30m`, `1.5s` or `250ms`.",
    ),
    (
        "timestamp(0).getHours('Mars/X')",
        "bad_value",
        "Line 1, column 14: `Mars/X` is not a time zone; write `Europe/Berlin` or `+02:00`.",
    ),
    (
        "timestamp(0) - duration('1h') * 2",
        "no_such_overload",
        "Line 1, column 31: `*` is not defined between a duration and an int.",
    ),
    (
        "timestamp('0001-01-01T00:00:00Z') - duration('1s')",
        "overflow",
        "Line 1, column 35: the time lies outside the years 1 to 9999.",
    ),
    ("ip('10.0.0.256')", "bad_value", "Line 1, column 1: `10.0.0.256` is not an IP address."),
    ("cidr('10.0.0.0')", "bad_value", "Line 1, column 1: `10.0.0.0` is not a network such as `10.0.0.0/8`."),
    ("1.0 / 0.0", "not_json", "Line 1, column 1: the result is inf, which JSON cannot hold."),
    (
        "bytes(data.half)",
        "bad_value",
        "Line 1, column 1: the text holds half a character (a lone surrogate).",
    ),
    (
        "data.half.matches('a')",
        "bad_value",
        "Line 1, column 19: the text holds half a character (a lone surrogate).",
    ),
    ("'abc'.substring(2, 1)", "index_out_of_range", "Line 1, column 7: the position 1 lies outside 2 to 3."),
    ("data.size.startsWith('a')", "no_such_overload", "Line 1, column 11: this needs a string, not an int."),
    ("'a'.charAt('b')", "no_such_overload", "Line 1, column 5: this needs an int, not a string."),
    ("size(1)", "no_such_overload", "Line 1, column 1: an int has no size."),
    ("[1].join(',')", "no_such_overload", "Line 1, column 5: this needs a string, not an int."),
    ("'a'.join(',')", "no_such_overload", "Line 1, column 5: `join` needs a list of strings, not a string."),
    ("1[0]", "no_such_overload", "Line 1, column 2: an int has no items."),
    ("has(data.name.x)", "no_such_overload", "Line 1, column 15: `has` needs a map, not a string."),
    ("has(data.gone.x)", "no_such_key", "Line 1, column 10: `data` has no key `gone`; did you mean `none`?"),
    (
        "data.list.map(x, x.y)",
        "no_such_overload",
        "Line 1, column 20: `x` is an int, which has no field `y`.",
    ),
    (
        "data.list.exists_one(x, 1)",
        "no_such_overload",
        "Line 1, column 11: `exists_one` needs true or false, not an int.",
    ),
    ("data.list.all(x, 1)", "no_such_overload", "Line 1, column 11: `all` needs true or false, not an int."),
    ("uint(-1)", "overflow", "Line 1, column 1: the number does not fit a uint."),
    ("uint('-1')", "bad_value", "Line 1, column 1: `-1` cannot be read as a uint."),
    ("double('x')", "bad_value", "Line 1, column 1: `x` cannot be read as a double."),
    ("double(true)", "no_such_overload", "Line 1, column 1: a bool cannot be converted to a double."),
    ("bool('x')", "bad_value", "Line 1, column 1: `x` cannot be read as a bool."),
    ("bool(1)", "no_such_overload", "Line 1, column 1: an int cannot be converted to a bool."),
    ("bytes(1)", "no_such_overload", "Line 1, column 1: an int cannot be converted to bytes."),
    ("string([])", "no_such_overload", "Line 1, column 1: a list cannot be converted to a string."),
    ("string(b'\\xff')", "bad_value", "Line 1, column 1: the bytes are not a text in UTF-8."),
    ("timestamp(true)", "no_such_overload", "Line 1, column 1: a bool cannot be converted to a timestamp."),
    ("duration(1)", "no_such_overload", "Line 1, column 1: an int cannot be converted to a duration."),
    (
        "duration('300000h') + duration('9999999h')",
        "overflow",
        "Line 1, column 23: the duration is longer than 292 years.",
    ),
    (
        "timestamp(0).getHours(1)",
        "no_such_overload",
        "Line 1, column 14: a time zone is a string, not an int.",
    ),
    (
        "timestamp('9999-12-31T23:59:59Z').getHours('+10:00')",
        "overflow",
        "Line 1, column 35: the time lies outside the years 1 to 9999 in that zone.",
    ),
    (
        "duration('1s').getFullYear()",
        "no_such_overload",
        "Line 1, column 16: `getFullYear` is not defined for a duration.",
    ),
    ("matches('a', data.size)", "no_such_overload", "Line 1, column 1: a pattern is a string, not an int."),
    ("glob('a', data.size)", "no_such_overload", "Line 1, column 1: a glob is a string, not an int."),
    (
        "glob(data.size, '*')",
        "no_such_overload",
        "Line 1, column 17: a pattern matches a string, not an int.",
    ),
    ("ip(1)", "no_such_overload", "Line 1, column 1: an address is a string, not an int."),
    ("ip('fe80::1%eth0')", "bad_value", "Line 1, column 1: `fe80::1%eth0` is not an IP address."),
    ("cidr(1)", "no_such_overload", "Line 1, column 1: a network is a string, not an int."),
    ("1 +\n  1 / 0", "division_by_zero", "Line 2, column 5: division by zero."),
]


@pytest.mark.parametrize(("source", "code", "sentence"), BAD_VALUES)
def test_an_evaluation_fails_with_one_sentence(source: str, code: str, sentence: str) -> None:
    expression = compile_expression(source)

    with pytest.raises(EvaluationError) as caught:
        expression(SCOPE)

    assert (caught.value.code, str(caught.value)) == (code, sentence)


def test_errors_survive_the_way_between_processes() -> None:
    error = EvaluationError("no_such_key", "gone", 2, 3, "a.b", "to")

    copy = pickle.loads(pickle.dumps(error))

    assert (type(copy), str(copy), copy.path) == (EvaluationError, "In `to`, line 2, column 3: gone.", "to")
