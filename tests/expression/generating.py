"""Random expressions: mostly well typed, sometimes not, always small.

They avoid what implementations of CEL differ in by design. Google's C++ converts a bool to an int, writes
large doubles with an exponent and fractions of a second with three digits, and goes over the keys of a
map in no order. Penstock refuses the first as the specification does, writes doubles out and a duration
as `2.5s`, and keeps the order of the keys.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

SCOPE: dict[str, object] = {
    "i": 7,
    "big": 9223372036854775807,
    "d": 2.5,
    "s": "héllo",
    "b": True,
    "n": None,
    "l": [1, 2.5, "a", True, None, [3]],
    "ints": [3, 1, 2],
    "m": {"a": 1, "s": "x", "deep": {"list": [{"k": "v"}], "z": 0.5}},
}
_LITERALS = {
    "int": ("0", "1", "-3", "i", "big", "7", "ints[0]", "m.a", "-9223372036854775808"),
    "uint": ("0u", "3u", "18446744073709551615u"),
    "double": ("0.0", "1.5", "-2.25", "d", "m.deep.z", "1e300", "3.0"),
    "string": ("''", "'a'", "s", "m.s", "'héllo'", "'12'", "'b,c'", "'true'", "'1.5'"),
    "bool": ("true", "false", "b"),
    "bytes": ("b'ab'", "b'\\xff'", "b''"),
    "list": ("[]", "ints", "l", "[1, 2]", "['a', 'b']", "[1.0, 2u]", "m.deep.list"),
    "map": ("m", "m.deep", "{'a': 1}", "{'x': [1]}", "{}", "{1: 'one', 2: 'two'}"),
    "timestamp": (
        "timestamp('2026-03-29T00:30:00Z')",
        "timestamp(0)",
        "timestamp('2024-02-29T23:59:59+02:00')",
    ),
    "duration": ("duration('90m')", "duration('-90s')", "duration('0s')", "duration('36h')"),
    "any": ("n", "null", "l[3]", "m.missing", "l[9]", "m['deep']", "dyn(1)"),
}
_KINDS = tuple(_LITERALS)
_NUMBERS = ("int", "uint", "double")


class Generator:
    """Makes expressions of a wanted kind, from one seed."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)

    def any(self, depth: int) -> str:
        """An expression of any kind."""
        return self.of(self.random.choice(_KINDS), depth)

    def of(self, kind: str, depth: int) -> str:
        """An expression of this kind, but for now and then."""
        if self.random.random() < 0.06:
            kind = self.random.choice(_KINDS)
        makers = _MAKERS.get(kind)
        if depth <= 0 or makers is None or self.random.random() < 0.15:
            return self.random.choice(_LITERALS[kind])
        return self.random.choice(makers)(self, kind, depth - 1)

    def one(self, *choices: str) -> str:
        """One of the choices."""
        return self.random.choice(choices)


Maker = Callable[[Generator, str, int], str]


def _arithmetic(g: Generator, kind: str, depth: int) -> str:
    return f"({g.of(kind, depth)} {g.one('+', '-', '*', '/', '%')} {g.of(kind, depth)})"


def _choice(g: Generator, kind: str, depth: int) -> str:
    return f"({g.of('bool', depth)} ? {g.of(kind, depth)} : {g.of(kind, depth)})"


def _conversion(g: Generator, kind: str, depth: int) -> str:
    value = g.of(g.one("int", "uint", "double", "string", "bool"), depth)
    avoided = {"int": "bool", "string": "double"}.get(kind)
    safe = f"{kind}({value})"
    return f"(type({value}) == {avoided} ? {g.of(kind, 0)} : {safe})" if avoided else safe


def _size(g: Generator, kind: str, depth: int) -> str:
    return f"size({g.of(g.one('string', 'list', 'map', 'bytes'), depth)})"


def _getter(g: Generator, kind: str, depth: int) -> str:
    if g.random.random() < 0.3:
        return f"{g.of('duration', depth)}.{g.one('getHours', 'getMinutes', 'getSeconds')}()"
    names = ("getFullYear", "getMonth", "getDate", "getDayOfMonth", "getDayOfWeek", "getDayOfYear")
    zone = g.one("", "'Europe/Berlin'", "'-08:30'", "'UTC'", "'America/New_York'")
    return f"{g.of('timestamp', depth)}.{g.one(*names, 'getHours', 'getMinutes', 'getSeconds')}({zone})"


def _negation(g: Generator, kind: str, depth: int) -> str:
    return f"{'!' if kind == 'bool' else '-'}({g.of(kind, depth)})"


def _index(g: Generator, kind: str, depth: int) -> str:
    if g.random.random() < 0.5:
        return f"{g.of('list', depth)}[{g.of('int', 0)}]"
    return f"{g.of('map', depth)}[{g.of('string', 0)}]"


def _comparison(g: Generator, kind: str, depth: int) -> str:
    sign = g.one("==", "!=", "<", "<=", ">", ">=")
    if sign in ("==", "!="):
        return f"({g.any(depth)} {sign} {g.any(depth)})"
    one = g.one("int", "uint", "double", "string", "bool", "bytes", "timestamp", "duration")
    other = g.one(*_NUMBERS) if one in _NUMBERS else one
    return f"({g.of(one, depth)} {sign} {g.of(other, depth)})"


def _logic(g: Generator, kind: str, depth: int) -> str:
    return f"({g.of('bool', depth)} {g.one('&&', '||')} {g.of('bool', depth)})"


def _membership(g: Generator, kind: str, depth: int) -> str:
    if g.random.random() < 0.3:
        return f"({g.of('string', depth)} in {g.of('map', depth)})"
    return f"({g.any(depth)} in {g.of('list', depth)})"


def _text_test(g: Generator, kind: str, depth: int) -> str:
    name = g.one("contains", "startsWith", "endsWith", "matches")
    part = g.one("'^h'", "'[0-9]+'", "'l{2}'") if name == "matches" else g.of("string", 0)
    return f"{g.of('string', depth)}.{name}({part})"


def _quantifier(g: Generator, kind: str, depth: int) -> str:
    over = g.of(g.one("list", "map"), depth)
    body = g.one("x == 1", "x > 1", "x == 'a' || b", "x != null", g.of("bool", depth))
    return f"{over}.{g.one('all', 'exists', 'exists_one')}(x, {body})"


def _has(g: Generator, kind: str, depth: int) -> str:
    return g.one("has(m.a)", "has(m.zz)", "has(m.deep.z)", "has(m.zz.z)", "has({'a': 1}.a)")


def _literal_list(g: Generator, kind: str, depth: int) -> str:
    return f"[{', '.join(g.any(depth) for _ in range(g.random.randrange(4)))}]"


def _filtered(g: Generator, kind: str, depth: int) -> str:
    body = g.one("filter(x, x != 1)", "map(x, [x])", "map(x, x == 2, x)", f"filter(x, {g.of('bool', depth)})")
    over = g.of("list", depth)
    return f"(type({over}) == list ? {over} : []).{body}"


def _literal_map(g: Generator, kind: str, depth: int) -> str:
    return "{" + ", ".join(f"'{key}': {g.any(depth)}" for key in g.one("", "a", "ab", "abc")) + "}"


def _joined(g: Generator, kind: str, depth: int) -> str:
    return f"({g.of(kind, depth)} + {g.of(kind, depth)})"


def _moment(g: Generator, kind: str, depth: int) -> str:
    return f"({g.of(kind, depth)} {g.one('+', '-')} {g.of('duration', depth)})"


_MAKERS: dict[str, tuple[Maker, ...]] = {
    "int": (_arithmetic, _arithmetic, _choice, _conversion, _size, _getter, _negation, _index),
    "uint": (_arithmetic, _choice, _conversion),
    "double": (_arithmetic, _arithmetic, _choice, _conversion, _negation),
    "string": (_joined, _choice, _conversion, _index),
    "bool": (
        _comparison,
        _comparison,
        _comparison,
        _logic,
        _logic,
        _membership,
        _text_test,
        _quantifier,
        _has,
        _negation,
    ),
    "list": (_literal_list, _filtered, _filtered, _joined, _choice),
    "map": (_literal_map, _literal_map, _choice),
    "timestamp": (_moment, _choice),
    "duration": (_moment, _choice),
    "any": (_index, _choice),
}
