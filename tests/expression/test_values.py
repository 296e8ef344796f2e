"""What expressions give, rule by rule."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from penstock.expression import EvaluationError, compile_expression

SCOPE: dict[str, Any] = {
    "data": {"size": 2048, "ratio": 0.5, "name": "clip.mp4", "tags": ["a", "b"], "ok": True, "none": None},
    "steps": {"my step": {"output": {"url": "u"}}},
    "now": datetime(2026, 3, 29, 0, 30, tzinfo=UTC),
}


def value(source: str, scope: dict[str, Any] | None = None) -> Any:
    return compile_expression(source)(SCOPE if scope is None else scope)


def failure(source: str, scope: dict[str, Any] | None = None) -> tuple[str, str]:
    with pytest.raises(EvaluationError) as caught:
        value(source, scope)
    return caught.value.code, str(caught.value)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("1 == true", False),
        ("data.ok == 1", False),
        ("1 == 1.0 && 1u == 1 && 1.0 == 1u", True),
        ("[1] == [true]", False),
        ("{'a': [1.0]} == {'a': [1]}", True),
        ("'1' == 1", False),
        ("null == data.none", True),
        ("timestamp(0) == 0", False),
        ("0 == duration('0s')", False),
        ("type(1) == 'int'", False),
        ("data.size > 2047.5 && data.ratio < 1", True),
        ("-7 / 2", -3),
        ("-7 % 2", -1),
        ("7 % -2", 1),
        ("1 + 2 * 3 - 4", 3),
        ("2.0 / 4.0", 0.5),
        ("'a' + 'b'", "ab"),
        ("[1] + [2]", [1, 2]),
        ("1 / 0 == 1 || true", True),
        ("true || 1 / 0 == 1", True),
        ("false && data.missing", False),
        ("data.missing && false", False),
        ("data.ok ? 1 : 1 / 0", 1),
        ("false || true ? false || true : false", True),
        ("false ? 1 : false || true ? 2 : 3", 2),
        ("1 + 1 == 2 && 2 * 3 > 5 || false", True),
        ("1 < 2 == true", True),
        ("!false && -1 < 0", True),
        ("'a' in {'a': 1} && !('b' in {'a': 1})", True),
        ("1 in [1.0] && !(1 in [true])", True),
        ("{true: 'yes', 1: 'one'}[1]", "one"),
        ("steps['my step'].output.url", "u"),
        ("has(data.size) && !has(data.siz)", True),
        ("has(steps['my step'])", True),
        ("data.tags.map(t, t == 'b', t + '!')", ["b!"]),
        ("data.tags.exists(t, t.missing || t == 'b')", True),
        ("data.tags.map(x, data.tags.map(x, x + x))", [["aa", "bb"], ["aa", "bb"]]),
        ("data.tags.map(x, data.tags.map(y, x + y))", [["aa", "ab"], ["ba", "bb"]]),
        ("data.tags.map(x, data.tags.map(x, x).size() > 1 ? x : '')", ["a", "b"]),
        ("data.`size`", 2048),
        ("1 // the rest is a comment", 1),
    ],
)
def test_the_rules_of_the_language(source: str, expected: Any) -> None:
    assert value(source) == expected
    assert type(value(source)) is type(expected)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("now", "2026-03-29T00:30:00Z"),
        ("now + duration('1h30m')", "2026-03-29T02:00:00Z"),
        ("timestamp('2026-01-01T00:00:00.25+02:00')", "2025-12-31T22:00:00.25Z"),
        ("duration('3500ms')", "3.5s"),
        ("now - timestamp('2026-03-29T00:00:00Z')", "1800s"),
        ("b'\\xff'", "/w=="),
        ("7u", 7),
        ("type(1)", "int"),
        ("ip('10.0.0.1')", "10.0.0.1"),
        ("cidr('10.0.0.0/8')", "10.0.0.0/8"),
        ("{1: 'a', true: 'b', 'c': null}", {"1": "a", "true": "b", "c": None}),
        ("data", SCOPE["data"]),
        ("{'at': now}", {"at": "2026-03-29T00:30:00Z"}),
    ],
)
def test_a_result_is_plain_json(source: str, expected: Any) -> None:
    assert value(source) == expected


def test_a_time_inside_the_data_becomes_text_in_the_result() -> None:
    scope = {"event": {"at": SCOPE["now"]}}

    assert value("event", scope) == {"at": "2026-03-29T00:30:00Z"}
    assert value("event.at < timestamp('2027-01-01T00:00:00Z')", scope) is True


def test_a_result_is_never_the_callers_own_container() -> None:
    given = {"data": {"list": [1]}}

    value("data", given)["list"].append(2)

    assert given == {"data": {"list": [1]}}


@pytest.mark.parametrize(
    ("source", "hours"),
    [
        ("now.getHours()", 0),
        ("now.getHours('Europe/Berlin')", 1),
        ("(now + duration('1h')).getHours('Europe/Berlin')", 3),
        ("now.getHours('-02:30')", 22),
        ("now.getDayOfWeek()", 0),
        ("now.getDate() * 100 + now.getMonth()", 2902),
        ("duration('90m').getMinutes()", 90),
        ("timestamp('2026-01-01T00:00:00.123Z').getMilliseconds()", 123),
    ],
)
def test_times_have_fields_in_a_time_zone(source: str, hours: int) -> None:
    assert value(source) == hours


@pytest.mark.parametrize(
    ("text", "pattern", "matches"),
    [
        ("a/b.mp4", "a/*.mp4", True),
        ("a/b/c.mp4", "a/*.mp4", False),
        ("a/b/c.mp4", "a/**/*.mp4", True),
        ("a/c.mp4", "a/**/*.mp4", True),
        ("c.mp4", "**/*.mp4", True),
        ("a/b/c", "a/**", True),
        ("ab", "a?", True),
        ("a/", "a?", False),
        ("clip.mov", "*.{mp4,mov}", True),
        ("clip.avi", "*.{mp4,m[oa]v}", False),
        ("file7", "file[0-9]", True),
        ("filex", "file[!0-9]", True),
        ("a/b", "a[!x]b", False),
        ("a.b", "a.b", True),
        ("axb", "a.b", False),
        ("a*b", "a\\*b", True),
        ("a\nb", "a*b", True),
        ("(x)+^$|", "(x)+^$|", True),
        ("a,b", "a,b", True),
        ("a^", "a[^x]", True),
        ("]", "[]]", True),
        ("-", "[a-]", True),
        ("a&b", "a[&]b", True),
        ("", "", True),
        ("a", "", False),
        ("x/a/b", "**/{a,b}/**", True),
        ("é", "?", True),
    ],
)
def test_a_glob_matches_the_whole_text(text: str, pattern: str, matches: bool) -> None:
    scope = {"text": text, "pattern": pattern}

    assert value("glob(text, pattern)", scope) is matches
    assert value(f"glob(text, r'{pattern}')", scope) is matches


@pytest.mark.parametrize(
    ("source", "inside"),
    [
        ("cidr('10.0.0.0/8').contains('10.2.3.4')", True),
        ("cidr('10.0.0.0/8').contains(ip('11.2.3.4'))", False),
        ("cidr('10.0.0.0/8').contains('::ffff:10.2.3.4')", True),
        ("cidr('2001:db8::/32').contains('2001:db8::1')", True),
        ("cidr('2001:db8::/32').contains('10.2.3.4')", False),
        ("ip('10.0.0.1') == ip('::ffff:10.0.0.1')", True),
        ("string(ip('2001:DB8::1')) == '2001:db8::1'", True),
    ],
)
def test_networks_hold_addresses(source: str, inside: bool) -> None:
    assert value(source) is inside


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("string(1.0)", "1"),
        ("string(0.1)", "0.1"),
        ("string(-0.0045)", "-0.0045"),
        ("string(1234567.5)", "1234567.5"),
        ("string(1e21)", "1e+21"),
        ("string(1.5e-7)", "1.5e-07"),
        ("string(0.0001) + ' ' + string(0.00001)", "0.0001 1e-05"),
        ("string(double('NaN')) + string(double('inf')) + string(-double('inf'))", "NaN+Inf-Inf"),
        ("string(-0.0) + string(0.0)", "-00"),
        ("string(duration('0'))", "0s"),
        ("string(duration('-1h1.5s'))", "-3601.5s"),
        ("string(timestamp(-1))", "1969-12-31T23:59:59Z"),
        ("'a,b,c'.split(',', 1)", ["a,b,c"]),
        ("'a,b,c'.split(',', 2)", ["a", "b,c"]),
        ("'a,b,c'.split(',', 0)", []),
        ("'abc'.split('', 2)", ["a", "bc"]),
        ("'abc'.split('')", ["a", "b", "c"]),
        ("['a', 'b'].join()", "ab"),
        ("'abab'.lastIndexOf('ab', 1)", 0),
        ("'abab'.lastIndexOf('')", 4),
        ("'abab'.indexOf('ab', 1)", 2),
        ("bytes('é') == b'\\xc3\\xa9'", True),
        ("string(b'\\xc3\\xa9')", "é"),
        ("uint('7') == 7 && uint(7.9) == 7u", True),
        ("uint('18446744073709551615') == 18446744073709551615u && uint(0) == 0u", True),
        ("int('9223372036854775807') == 9223372036854775807", True),
        ("duration(duration('1s')) == duration('1s') && timestamp(now) == now", True),
        ("cidr(cidr('10.0.0.0/8')).contains(ip(ip('10.0.0.1')))", True),
        ("string(now)", "2026-03-29T00:30:00Z"),
        ("int('42') + int(2.9) + int(-2.9)", 42),
        ("int(timestamp(5))", 5),
        ("bool('T')", True),
        ("double('1.5e1')", 15.0),
        ("' a b '.trim().upperAscii().split(' ').join('-')", "A-B"),
        ("'äA'.lowerAscii()", "äa"),
        ("'abcabc'.replace('b', 'x', 1).substring(1, 4)", "xca"),
        ("'abcabc'.lastIndexOf('b') - 'abcabc'.indexOf('b')", 3),
        ("'abc'.charAt(1) + 'abc'.charAt(3)", "b"),
        ("'héllo'.size()", 5),
    ],
)
def test_functions_of_text_and_conversions(source: str, expected: Any) -> None:
    assert value(source) == expected


def test_conditions_hold_or_do_not() -> None:
    assert compile_expression("data.size > 1000").holds(SCOPE) is True
    assert compile_expression("data.size < 1000").holds(SCOPE) is False


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("1", "an int"),
        ("'true'", "a string"),
        ("null", "null"),
        ("[true]", "a list"),
        ("data", "a map"),
        ("1.5", "a double"),
    ],
)
def test_a_condition_that_is_not_a_bool_is_an_error_and_no_branch(source: str, kind: str) -> None:
    with pytest.raises(EvaluationError) as caught:
        compile_expression(source).holds(SCOPE)

    assert caught.value.code == "not_bool"
    assert (
        str(caught.value) == f"Line 1, column 1: a condition must be true or false, and this one is {kind}."
    )


def test_python_is_out_of_reach() -> None:
    for name in ("__class__", "__init__", "keys", "constructor", "__proto__"):
        assert failure(f"data.{name}") == (
            "no_such_key",
            f"Line 1, column 6: `data` has no key `{name}`.",
        )
    assert value("data.__class__", {"data": {"__class__": "plain"}}) == "plain"
    assert failure("x", {"x": object()})[0] == "not_json"


@pytest.mark.parametrize(
    ("source", "units"),
    [
        ("data.size > 1 && data.ok", 0),
        ("data.tags.all(t, t != '')", 2),
        ("data.tags.exists(t, t == 'a')", 1),
        ("data.tags.map(t, data.tags.map(u, t + u))", 2 + 4 + 4),
        ("data.tags.all(t, " + " && ".join(["t != ''"] * 20) + ")", 2 * (1 + 61 // 16)),
        ("'0123456789' + '0123456789'", 1 + 20 // 8),
        ("'x' in data.tags", 1),
        ("data.tags == data.tags", 2),
        ("data.name.matches('clip')", 1 + 8),
        ("data.name.matches('cl' + 'ip')", 1 + 200 + 1 + 8),
        ("glob(data.name, '*')", 1 + 8),
        ("data.missing || true", 8),
        ("now.getHours('Europe/Berlin') > 0", 20),
        ("data.name.upperAscii()", 1),
        ("data.name.startsWith('clip')", 0),
        ("data.name.split('')", 1 + 8 // 4),
        ("data.name.split('.')", 1),
    ],
)
def test_work_has_a_price(source: str, units: int) -> None:
    expression = compile_expression(source)
    env = expression.env(SCOPE)

    expression.spend(env)

    assert env[1] == units


def test_an_expression_says_what_it_reads() -> None:
    expression = compile_expression(
        "data.size > 1 && steps['my step'].output.url != '' && events[item.name].x == 1"
        " && data.list[0].name == '' && has(data.opt.deep) && data.list.exists(r, r.size > limit)"
    )

    assert expression.reads == (
        ("data", "size"),
        ("steps", "my step", "output", "url"),
        ("events",),
        ("item", "name"),
        ("data", "list"),
        ("limit",),
    )
    assert expression.guards == (("data", "opt", "deep"),)
    assert expression.roots == {"data", "steps", "events", "item", "limit"}


def test_expressions_are_equal_and_hashed_by_their_source() -> None:
    assert {compile_expression("a + 1"), compile_expression("a + 1")} == {compile_expression("a + 1")}
    assert compile_expression("a + 1") != compile_expression("a + 2")


def test_a_name_of_the_scope_wins_over_the_name_of_a_type() -> None:
    assert compile_expression("type", names=["type"])({"type": "mine"}) == "mine"
    assert compile_expression("type(1) == int")({}) is True
