"""Wrong expressions and the problem that each has, right ones that have none, and how long it takes."""

from __future__ import annotations

import time

import pytest
from tests.expression.static_types.scopes import SCOPE

from penstock.expression import compile_expression
from penstock.expression.syntax.parser import parse
from penstock.expression.types.checking import check, check_expression
from penstock.expression.types.problems import SENTENCES, Problem
from penstock.expression.types.types import (
    BOOL,
    DYN,
    MAX_WEIGHT,
    STRING,
    Field,
    Object,
    Type,
    name_of,
    union,
    weight_of,
)

E, W = "error", "warning"
WRONG = [
    # Names and fields
    ("dat.id", E, "unknown-name", "dat"),
    ("data.nmae", E, "no-field", "nmae"),
    ("data.prise * 2", E, "no-field", "prise"),
    ("data['prise']", E, "no-field", "'prise'"),
    ("data.`prise`", E, "no-field", "`prise`"),
    ("data.id.first", E, "no-fields", "first"),
    ("data.tags.first", E, "no-fields", "first"),
    ("data.tags['first']", E, "no-fields", "'first'"),
    ("data.files[0].nam", E, "no-field", "nam"),
    ("data.files.all(f, f.nam == 'x')", E, "no-field", "nam"),
    ("data.files.map(f, f.name.length)", E, "no-fields", "length"),
    ("data.count > 3", W, "optional-field", "count"),
    ("data.any.x", W, "optional-field", "any"),
    ("data.user.name", W, "maybe-no-fields", "name"),
    ("data.user == null && data.user.name == 'x'", E, "no-fields", "name"),
    ("data.user != null && data.user.mail == 'x'", W, "optional-field", "mail"),
    ("data.user != null && data.user.phone == 'x'", E, "no-field", "phone"),
    ("data.shape.radius", W, "optional-field", "radius"),
    ("data.shape.height", E, "no-field", "height"),
    ("data.shape.kind == 'circle' && data.shape.width > 1", E, "no-field", "width"),
    ("data.shape.kind == 'box' ? data.shape.width : data.shape.width", E, "no-field", "width"),
    ("data.shape.kind == 'box' && data.shape.label == 'x'", W, "optional-field", "label"),
    ("data.shape.kind in ['box'] ? data.shape.radius : 0", E, "no-field", "radius"),
    ("object.size > 3", W, "optional-field", "size"),
    ("object.bucket == 'x'", W, "undeclared-field", "bucket"),
    ("has(data.nmae)", W, "never-present", "nmae"),
    ("has(data.user.name)", W, "maybe-no-fields", "name"),
    ("has(data.id.first)", E, "no-fields", "first"),
    ("'nmae' in data", W, "never-present", "'nmae'"),
    ("!has(data.count) ? data.count : 0", E, "no-field", "count"),
    ("!has(data.count) && data.count > 3", E, "no-field", "count"),
    ("has(data.count) || data.count > 3", E, "no-field", "count"),
    ("data.count > 3 && (has(data.count) && int(data.id) > 3)", W, "optional-field", "count"),
    ("has(data.any) || has(data.count) ? data.count : 0", W, "optional-field", "count"),
    ("{'a': 1}.b", E, "no-field", "b"),
    ("{'a': {'b': 1}}.a.c", E, "no-field", "c"),
    ("[{'a': 1}].all(x, x.b > 1)", E, "no-field", "b"),
    # Operators
    ("data.id + 1", E, "operator", "+"),
    ("1 + data.id", E, "operator", "+"),
    ("data.id - 'x'", E, "operator", "-"),
    ("data.id * 2", E, "operator", "*"),
    ("data.price * 2", W, "maybe-operator", "*"),
    ("data.price / 2.0", W, "maybe-operator", "/"),
    ("data.files[0].size / 2.0", E, "operator", "/"),
    ("data.files[0].size * 1.5", E, "operator", "*"),
    ("1.5 % 2.0", E, "operator", "%"),
    ("data.tags + 'x'", E, "operator", "+"),
    ("data.tags - ['x']", E, "operator", "-"),
    ("null + 1", E, "operator", "+"),
    ("-data.id", E, "operator", "-"),
    ("-1u", E, "operator", "-"),
    ("!data.id", E, "operator", "!"),
    ("data.id > 3", E, "operator", ">"),
    ("data.tags > 3", E, "operator", ">"),
    ("data.user > 3", E, "operator", ">"),
    ("now > '2026-01-01'", E, "operator", ">"),
    ("now + 3", E, "operator", "+"),
    ("now + now", E, "operator", "+"),
    ("now - 3600", E, "operator", "-"),
    ("'a' in 'abc'", E, "operator", "in"),
    ("'a' in data.id", E, "operator", "in"),
    ("null in data.headers", E, "operator", "in"),
    ("1 + 2 + 'x'", E, "operator", "+"),
    ("size(data.tags) + ' tags'", E, "operator", "+"),
    ("(data.mode == 'fast' ? 1 : 'x') + 1", W, "maybe-operator", "+"),
    # Conditions
    ("data.id && true", E, "condition", "id"),
    ("true || data.files[0].size", E, "condition", "size"),
    ("data.id ? 1 : 2", E, "condition", "id"),
    ("data.tags.all(t, t)", E, "condition", "t"),
    ("data.tags.exists(t, t.size())", E, "condition", "size"),
    ("data.tags.filter(t, size(t))", E, "condition", "size"),
    ("data.tags.map(t, t, t)", E, "condition", "t"),
    ("(data.mode == 'fast' ? true : null) && true", W, "maybe-condition", "data"),
    # Comparisons that are never true
    ("data.id == 3", W, "never-equal", "=="),
    ("data.files[0].size == '3'", W, "never-equal", "=="),
    ("data.tags == 'x'", W, "never-equal", "=="),
    ("data.mode == 'fats'", W, "never-equal", "=="),
    ("data.mode != 'slo'", W, "never-equal", "!="),
    ("data.mode in ['fats', 'slo']", W, "never-equal", "in"),
    ("3 in data.tags", W, "never-equal", "in"),
    ("data.mode == 'fast' && data.mode == 'slow'", W, "never-equal", "=="),
    ("type(data.id) == 'string'", W, "never-equal", "=="),
    ("now == '2026-01-01T00:00:00Z'", W, "never-equal", "=="),
    # Functions
    ("size(data.price)", E, "argument", "size"),
    ("data.price.size()", E, "argument", "size"),
    ("data.tags.startsWith('x')", E, "argument", "startsWith"),
    ("data.id.startsWith(1)", E, "argument", "startsWith"),
    ("data.price.contains('x')", E, "argument", "contains"),
    ("data.id.split(1)", E, "argument", "split"),
    ("data.id.substring('x')", E, "argument", "substring"),
    ("data.id.join()", E, "argument", "join"),
    ("[1, 2].join(',')", W, "maybe-argument", "join"),
    ("data.files.join(',')", W, "maybe-argument", "join"),
    ("data.id.getHours()", E, "argument", "getHours"),
    ("now.getHours(2)", E, "argument", "getHours"),
    ("timestamp(1.5)", E, "argument", "timestamp"),
    ("duration(60)", E, "argument", "duration"),
    ("int(true)", E, "argument", "int"),
    ("double(null)", E, "argument", "double"),
    ("string(data.tags)", E, "argument", "string"),
    ("string(data.user)", E, "argument", "string"),
    ("glob(data.tags, '*')", E, "argument", "glob"),
    ("data.price.matches('x')", E, "argument", "matches"),
    ("duration('5 minutes')", E, "argument", "duration"),
    ("timestamp('tomorrow') < now", E, "argument", "timestamp"),
    ("int('1.5')", E, "argument", "int"),
    ("double('')", E, "argument", "double"),
    ("bool('yes')", E, "argument", "bool"),
    ("ip('10.0.0')", E, "argument", "ip"),
    ("cidr('10.0.0.1').contains(data.id)", E, "argument", "cidr"),
    ("now.getHours('Berlin')", E, "argument", "getHours"),
    # Indexes, keys and loops
    ("{'a': 1, 'a': 2}", E, "duplicate-key", "'a'"),
    ("data.tags[data.id]", E, "index", "["),
    ("data.tags[1.5]", W, "maybe-index", "["),
    ("data.id[0]", E, "index", "["),
    ("data[0]", E, "index", "["),
    ("{1: 'a'}[data.id]", E, "index", "["),
    ("data.user[data.id]", W, "maybe-index", "["),
    ("has(data.users[0].mail) && data.users[1].mail == data.id", W, "maybe-no-fields", "mail"),
    ("[1, 'a'][1] + 1", E, "operator", "+"),
    ("{1.5: 'a'}", E, "key", "1.5"),
    ("{null: 'a'}", E, "key", "null"),
    ("{data.price: 'a'}", W, "maybe-key", "price"),
    ("data.price.map(x, x)", E, "loop", "map"),
    ("data.id.all(x, true)", E, "loop", "all"),
    ("data.user.exists(x, true)", W, "maybe-loop", "exists"),
    ("data.tags.map(t, t + 1)", E, "operator", "+"),
    ("data.headers.all(value, data.headers[value] > 1)", E, "operator", ">"),
]
RIGHT = [
    ("data.id", "string"),
    ("data.id + '/' + data.tags[0]", "string"),
    ("data.price > 2", "bool"),
    ("data.price > 2.5 && data.price < 10", "bool"),
    ("double(data.price) * 1.5", "double"),
    ("data.files[0].size * 2 / 3 % 5", "int"),
    ("-data.files[0].size", "int"),
    ("-data.price", "number"),
    ("has(data.count) && data.count > 3", "bool"),
    ("data.count > 3 && has(data.count)", "bool"),
    ("!has(data.count) || data.count > 3", "bool"),
    ("data.count > 3 || !has(data.count)", "bool"),
    ("has(data.count) ? data.count : 0", "int"),
    ("!has(data.count) ? 0 : data.count", "int"),
    ("!(has(data.count) && data.count > 3)", "bool"),
    ("!(!has(data.count) || data.count < 3) && data.count < 9", "bool"),
    ("'count' in data && data.count > 3", "bool"),
    ("has(data.count) && (data.count > 3 || data.count < -3)", "bool"),
    ("has(data.count) && data.count > 3 ? data.count : 0", "int"),
    ("data.user != null && data.user.name == 'x'", "bool"),
    ("data.user == null || data.user.name == 'x'", "bool"),
    ("data.user == null ? 'nobody' : data.user.name", "string"),
    ("null != data.user && data.user.name != ''", "bool"),
    ("data.user != null && has(data.user.mail) && data.user.mail.endsWith('@a.org')", "bool"),
    ("data.user != null && has(data.user.mail) ? data.user.mail : data.id", "string"),
    ("type(data.user) == map && data.user.name == 'x'", "bool"),
    ("type(data.price) == int ? data.price + 1 : 0", "int"),
    ("type(data.price) != int ? data.price * 1.5 : 0.0", "double"),
    ("data.shape.kind == 'circle' && data.shape.radius > 1", "bool"),
    ("data.shape.kind == 'circle' ? data.shape.radius : data.shape.width", "int"),
    ("data.shape.kind != 'circle' ? data.shape.width : data.shape.radius", "int"),
    ("data.shape.kind in ['circle'] && data.shape.radius > 1", "bool"),
    ("has(data.shape.radius) ? data.shape.radius : data.shape.width", "int"),
    ("has(data.shape.label) && data.shape.label == data.id", "bool"),
    ("data.mode == 'fast' || data.mode == 'slow'", "bool"),
    ("data.mode == 'fast' ? 1 : data.mode == 'slow' ? 2 : 3", "int"),
    ("data.mode in ['fast', 'slow', 'other']", "bool"),
    ("data.id in ['a', 'b']", "bool"),
    ("data.id in data.tags", "bool"),
    ("data.id != null", "bool"),
    ("data.headers['x-real-ip'] + ''", "string"),
    ("'a' in data.headers && data.headers.a == data.headers.b", "bool"),
    ("data.headers.all(name, name.startsWith('x-') && data.headers[name] != '')", "bool"),
    ("data.files.all(f, f.size > 0)", "bool"),
    ("data.files.exists_one(f, f.name == 'a')", "bool"),
    ("data.files.filter(f, has(f.`has size`) && f.`has size`).map(f, f.name).join(',')", "string"),
    ("data.files.map(f, f.size > 1, {'name': f.name})[0].name", "string"),
    ("data.files.map(f, f.name) + data.tags", "list of string"),
    ("[data.user].filter(u, u != null).map(u, u.name)", "list of string"),
    ("[1, 'a', null].filter(x, type(x) == int).map(x, x + 1)", "list of int"),
    ("[].map(x, x.anything)", "list"),
    ("{'name': data.id, 'count': size(data.files)}.count + 1", "int"),
    ("{data.id: 1}[data.mode] + 1", "int"),
    ("{1: 'a', 2: 'b'}[2] + 'c'", "string"),
    ("now - timestamp('2026-01-31T08:00:00Z') > duration('2h')", "bool"),
    ("now + duration('1h') - duration('5m') < now", "bool"),
    ("now.getHours('Europe/Berlin') >= 8 && now.getDayOfWeek() in [0, 6]", "bool"),
    ("(now - now).getSeconds()", "int"),
    ("timestamp(data.id) < now", "bool"),
    ("string(now) + string(data.price) + string(true) + string(b'x')", "string"),
    ("int(data.id) + int(data.price) + int(now)", "int"),
    ("size(data) + data.tags.size() + size(data.id) + size(b'x')", "int"),
    ("glob(object.key, 'raw/**') && object.key.matches('^raw')", "bool"),
    ("has(object.size) && object.size > 3", "bool"),
    ("has(object.anything) && object.anything > 3", "bool"),
    ("cidr('10.0.0.0/8').contains(ip(data.id)) && cidr('10.0.0.0/8').contains(data.id)", "bool"),
    ("ip(data.id) == ip('192.0.2.7')", "bool"),
    ("has(data.any) && (data.any.a.b[3].c.startsWith('x') || data.any + 1 > 3)", "bool"),
    ("has(data.any) ? data.any : null", "any value"),
    ("has(data.users[0].mail) && data.users[0].mail == data.id", "bool"),
    ("data.users[1] != null ? data.users[1].name : ''", "string"),
    ("[1, 'a'][0] + 1", "int"),
    ("dyn(data.id) + 1 > 3", "bool"),
    ("data.price == 3 || data.price == 3.5 || data.files[0].size == 3.0", "bool"),
    ("true ? 1 : 'a'", 'int or "a"'),
    ("type(data.id) == string && type(type(1)) == type", "bool"),
    ("type(now) == google.protobuf.Timestamp", "bool"),
]


@pytest.mark.parametrize(("source", "severity", "variant", "token"), WRONG, ids=[each[0] for each in WRONG])
def test_a_wrong_expression_has_this_problem_alone(
    source: str, severity: str, variant: str, token: str
) -> None:
    compile_expression(source)

    problems = check_expression(source, SCOPE).problems

    found = [
        (each.severity, each.variant, source[each.offset : each.offset + each.length]) for each in problems
    ]
    assert found == [(severity, variant, token)]
    assert all(each.message.endswith((".", "?")) for each in problems)


@pytest.mark.parametrize(("source", "name"), RIGHT, ids=[each[0] for each in RIGHT])
def test_a_right_expression_has_no_problem_and_this_type(source: str, name: str) -> None:
    compile_expression(source)

    checked = check_expression(source, SCOPE)

    assert (checked.problems, name_of(checked.type)) == ((), name)


def test_the_tables_are_long_enough() -> None:
    assert len(WRONG) >= 80
    assert len(RIGHT) >= 60
    assert {variant for _, _, variant, _ in WRONG} == SENTENCES.keys()


def test_a_problem_says_what_was_found_what_is_there_and_what_is_nearest() -> None:
    (problem,) = check_expression("1 == 1 && data.user != null &&\n data.user.nam == 'x'", SCOPE).problems

    assert problem == Problem(
        code="unknown-field",
        severity="error",
        variant="no-field",
        offset=42,
        length=3,
        subject="nam",
        owner="data.user",
        found="object with `name`, `mail`",
        available=("name", "mail"),
        nearest="name",
    )
    assert problem.message == "`data.user` has no field `nam`; did you mean `name`?"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("data.id + 1", "`+` is not defined for string and int."),
        ("data.mode == 'fats'", '"fats" never equals "fast" or "slow"; did you mean `fast`?'),
        ("data.count > 1", "`data` may lack the field `count`: test it with `has` first."),
        ("data.user.name", "`data.user` may be of type null, which has no field `name`."),
        ("{'name': 1}.nam", "This value has no field `nam`; did you mean `name`?"),
        ("dat.x", "There is no `dat` here; did you mean `data`?"),
    ],
)
def test_a_message_is_one_plain_sentence(source: str, message: str) -> None:
    assert check_expression(source, SCOPE).problems[0].message == message


def test_keys_are_data_only_where_no_alternative_declares_fields() -> None:
    headers, person = Object({}, STRING), Object({"name": Field(STRING)})

    def variants(found: Type) -> list[str]:
        return [each.variant for each in check_expression("x.name", {"x": found}).problems]

    assert variants(headers) == []
    assert variants(person) == []
    assert variants(union((headers, person))) == ["undeclared-field"]


def test_what_a_warning_leaves_is_known_and_what_an_error_leaves_is_not() -> None:
    assert check_expression("data.count", SCOPE).type == check_expression("size('x')", SCOPE).type
    assert check_expression("data.id + 1", SCOPE).type == DYN
    assert check_expression("(data.nmae + 1).x.y > 'x'", SCOPE).type == BOOL


def test_types_that_grow_become_dyn() -> None:
    source = "[data]" + ".map(a, {'x': a, 'y': a})" * 30

    checked = check_expression(source, SCOPE)

    assert checked.problems == ()
    assert weight_of(checked.type) <= MAX_WEIGHT


@pytest.mark.parametrize(
    "source",
    [
        "true" + " && has(data.count)" * 190,
        "!(" * 30 + "has(data.count) && data.count > 1" + ")" * 30,
        " || ".join(f"data.id == '{n}'" for n in range(190)),
        "[" + ", ".join("data" for _ in range(600)) + "]",
        "data" + ".any" * 190,
        "".join(f"data.mode == '{n}' ? {n} : " for n in range(150)) + "0",
        "{" + ", ".join(f"'k{n}': data" for n in range(250)) + "}",
    ],
)
def test_a_long_expression_is_checked_in_no_time(source: str) -> None:
    node, _ = parse(source)

    started = time.process_time()
    check(node, SCOPE, source)

    assert time.process_time() - started < 0.5


def test_two_hundred_expressions_take_less_than_40_milliseconds() -> None:
    sources = [source for source, *_ in (*WRONG, *RIGHT)][:200]
    sources += sources[: 200 - len(sources)]
    trees = [(parse(source)[0], source) for source in sources]

    def once() -> float:
        started = time.process_time()
        for node, source in trees:
            check(node, SCOPE, source)
        return time.process_time() - started

    assert min(once() for _ in range(5)) < 0.040
