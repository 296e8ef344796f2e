"""Tokens to syntax: a Pratt parser of CEL whose nesting and chains are bounded."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

from penstock.expression.errors import ExpressionError, SourcePosition
from penstock.expression.limits import MAX_CHAIN, MAX_INT, MAX_NESTING, MAX_SOURCE, MAX_UINT
from penstock.expression.syntax.syntax import (
    Call,
    Chain,
    Choice,
    Constant,
    Entries,
    Index,
    Items,
    Logic,
    Loop,
    Name,
    Node,
    Relation,
    Select,
    Unary,
)
from penstock.expression.values import UInt

T = TypeVar("T")
_TOKEN = re.compile(
    r"""
    (?P<space>(?:[ \t\r\n\f]|//[^\n]*)+)
    |(?P<raw>(?:[rR][bB]?|[bB][rR])(?:\"{3}.*?\"{3}|'{3}.*?'{3}|"[^"\r\n]*"|'[^'\r\n]*'))
    |(?P<text>[bB]?(?:\"{3}(?:[^\\]|\\.)*?\"{3}|'{3}(?:[^\\]|\\.)*?'{3}|"(?:[^"\\\r\n]|\\.)*"|'(?:[^'\\\r\n]|\\.)*'))
    |(?P<double>[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\.[0-9]+(?:[eE][+-]?[0-9]+)?)
    |(?P<uint>(?:0[xX][0-9a-fA-F]+|[0-9]+)[uU])
    |(?P<int>0[xX][0-9a-fA-F]+|[0-9]+)
    |(?P<name>[A-Za-z_][A-Za-z0-9_]*)
    |(?P<quoted>`[A-Za-z0-9_./\- ]+`)
    |(?P<sign>&&|\|\||[=!<>]=|[-+*/%<>!?:.,()\[\]{}])
    """,
    re.VERBOSE | re.DOTALL | re.ASCII,
)
_ESCAPE = re.compile(
    r"\\(?:[xX](?P<byte>[0-9a-fA-F]{2})|u(?P<short>[0-9a-fA-F]{4})|U(?P<long>[0-9a-fA-F]{8})"
    r"|(?P<octal>[0-3][0-7]{2})|(?P<letter>[abfnrtv\\?\"'`])|(?P<bad>.?))",
    re.DOTALL,
)
_ESCAPES = dict(zip("abfnrtv\\?\"'`", "\a\b\f\n\r\t\v\\?\"'`", strict=True))


class Token(msgspec.Struct, frozen=True):
    """A piece of the text; for a literal, `value` is its value."""

    kind: str
    text: str
    start: int
    end: int
    value: Any = None


def next_token(source: str, position: int) -> Token:
    """The token at or after `position`; a token of kind `end` when there is no more."""
    match = _TOKEN.match(source, position)
    if match is not None and match.lastgroup == "space":
        position = match.end()
        match = _TOKEN.match(source, position)
    if match is None:
        if position >= len(source):
            return Token("end", "", position, position)
        raise _unreadable(source, position)
    kind, text = match.lastgroup or "", match.group()
    value = _literal(kind, text, SourcePosition(source, position)) if kind in _LITERALS else None
    return Token(_LITERALS.get(kind, kind), text, position, match.end(), value)


_LITERALS = {"raw": "literal", "text": "literal", "double": "literal", "uint": "literal", "int": "int"}


def _unreadable(source: str, position: int) -> Exception:
    place, char = SourcePosition(source, position), source[position]
    if char in "\"'":
        return place.error("syntax", "this string is not closed")
    if char in "&|=":
        return place.error("syntax", f"`{char}` is not an operator; write `{char * 2}`")
    shown = char if char.isprintable() else f"U+{ord(char):04X}"
    return place.error("syntax", f"the character `{shown}` has no meaning here")


def _literal(kind: str, text: str, place: SourcePosition) -> Any:
    if kind == "double":
        return float(text)
    if kind in ("int", "uint"):
        return _whole(text, place)
    cut = next(index for index, char in enumerate(text) if char in "\"'")
    prefix, quoted = text[:cut].lower(), text[cut:]
    width = 3 if len(quoted) >= 6 and quoted[:3] == quoted[0] * 3 else 1
    body = quoted[width:-width]
    if kind == "raw":
        return _encoded(body, place) if "b" in prefix else body
    if "b" in prefix:
        return _bytes(body, place)
    return _ESCAPE.sub(lambda match: chr(_code_point(match, place)), body)


def _whole(text: str, place: SourcePosition) -> int:
    unsigned = text[-1] in "uU"
    digits = text[:-1] if unsigned else text
    if len(digits) > 40:
        raise place.error("overflow", "this number does not fit 64 bits")
    value = int(digits, 16) if digits[:2] in ("0x", "0X") else int(digits)
    # One more than fits: `-9223372036854775808` is read as a minus and this number.
    if value > (MAX_UINT if unsigned else MAX_INT + 1):
        raise place.error("overflow", "this number does not fit 64 bits")
    return UInt(value) if unsigned else value


def _bytes(body: str, place: SourcePosition) -> bytes:
    parts, done = [], 0
    for match in _ESCAPE.finditer(body):
        parts.append(_encoded(body[done : match.start()], place))
        if match.group("short") or match.group("long"):
            raise place.error("syntax", f"`{match.group()}` has no meaning in bytes; write them as `\\x…`")
        parts.append(bytes([_code_point(match, place)]))
        done = match.end()
    return b"".join([*parts, _encoded(body[done:], place)])


def _encoded(body: str, place: SourcePosition) -> bytes:
    try:
        return body.encode()
    except UnicodeEncodeError:
        raise place.error("syntax", "this text holds half a character (a lone surrogate)") from None


def _code_point(match: re.Match[str], place: SourcePosition) -> int:
    found = match.groupdict()
    if found["letter"]:
        return ord(_ESCAPES[found["letter"]])
    if found["octal"]:
        return int(found["octal"], 8)
    digits = found["byte"] or found["short"] or found["long"]
    code = int(digits, 16) if digits else -1
    if not 0 <= code <= 0x10FFFF or 0xD800 <= code <= 0xDFFF:
        shown = match.group().encode("ascii", "backslashreplace").decode()
        message = f"`{shown}` is not an escape that strings know; write a backslash as `\\\\`"
        raise place.error("syntax", message)
    return code


# -- tokens to syntax -----------------------------------------------------------------------------------------


_LOOPS = {"all": (2,), "exists": (2,), "exists_one": (2,), "existsOne": (2,), "filter": (2,), "map": (2, 3)}
_RELATION = 3
_LEVELS = {
    "||": 1,
    "&&": 2,
    **dict.fromkeys(("<", "<=", ">", ">=", "==", "!=", "in"), _RELATION),
    **dict.fromkeys(("+", "-"), 4),
    **dict.fromkeys(("*", "/", "%"), 5),
}
_WORDS = {"true": True, "false": False, "null": None}
_RESERVED = frozenset(
    (
        *("as", "break", "const", "continue", "else", "for", "function", "if", "import", "in", "let", "loop"),
        *("namespace", "package", "return", "var", "void", "while"),
    )
)


def parse(source: str, start: int = 0, closing: str = "") -> tuple[Node, int]:
    """The expression from `start` to the end of the text, or to the sign `closing`; and where that ended."""
    parser = _Parser(source, start, closing)
    if parser.at_end():
        raise parser.error("the expression is empty")
    try:
        node = parser.expression()
    except RecursionError:
        raise parser.error("parts are nested too deep", "too_deep") from None
    if not parser.at_end():
        raise parser.unexpected("an operator" if not closing else f"an operator or `{closing}`")
    return node, parser.token.end


class _Parser:
    def __init__(self, source: str, start: int, closing: str) -> None:
        self.source, self.start, self.closing, self.depth = source, start, closing, 0
        if not closing and len(source) > MAX_SOURCE:
            message = f"an expression has at most {MAX_SOURCE:,} characters, this one {len(source):,}"
            raise SourcePosition(source, MAX_SOURCE).error("too_long", message)
        self.token = next_token(source, start)

    # Moving on

    def at_end(self) -> bool:
        return self.sees(self.closing) if self.closing else self.token.kind == "end"

    def sees(self, text: str) -> bool:
        token = self.token
        return token.text == text and (token.kind == "sign" or token.kind == "name")

    def take(self) -> Token:
        token = self.token
        if token.end - self.start > MAX_SOURCE:
            raise self.error(f"an expression has at most {MAX_SOURCE:,} characters", "too_long")
        self.token = next_token(self.source, token.end)
        return token

    def accept(self, text: str) -> bool:
        if self.sees(text):
            self.take()
            return True
        return False

    def expect(self, text: str, wanted: str = "") -> Token:
        if not self.sees(text):
            raise self.unexpected(wanted or f"`{text}`")
        return self.take()

    # Refusing

    def error(self, message: str, code: str = "syntax") -> ExpressionError:
        return SourcePosition(self.source, self.token.start).error(code, message)

    def unexpected(self, wanted: str) -> ExpressionError:
        found = f"`{self.token.text[:40]}`" if self.token.kind != "end" else "the end"
        return self.error(f"{wanted} should come here, not {found}")

    def bounded(self, count: int) -> None:
        if count > MAX_CHAIN:
            raise self.error(f"more than {MAX_CHAIN} parts in a row", "too_deep")

    # Operators, the loosest first

    def expression(self) -> Node:
        self.depth += 1
        if self.depth > MAX_NESTING:
            raise self.error(f"parts are nested more than {MAX_NESTING} deep", "too_deep")
        at, cases = self.token.start, []
        node = self.binary(0)
        while self.accept("?"):
            value = self.binary(0)
            self.expect(":")
            cases.append((node, value))
            self.bounded(len(cases))
            node = self.binary(0)
        self.depth -= 1
        return Choice(at, tuple(cases), node) if cases else node

    def level(self) -> int:
        token = self.token
        return _LEVELS.get(token.text, 0) if token.kind == "sign" or token.kind == "name" else 0

    def binary(self, floor: int) -> Node:
        """Operands joined by operators that bind more tightly than `floor`."""
        at = self.token.start
        node = self.unary()
        while (level := self.level()) > floor:
            node = self.row(at, node, level)
        return node

    def row(self, at: int, first: Node, level: int) -> Node:
        """`first` and all that follows it on the same level, side by side and not nested."""
        if level == _RELATION:
            sign = self.take()
            return Relation(sign.start, sign.text, first, self.binary(level))
        rest: list[tuple[str, int, Node]] = []
        while self.level() == level:
            sign = self.take()
            rest.append((sign.text, sign.start, self.binary(level)))
            self.bounded(len(rest) + 1)
        if level < _RELATION:
            return Logic(at, rest[0][0], (first, *(term for _, _, term in rest)))
        return Chain(at, first, tuple(rest))

    def unary(self) -> Node:
        signs: list[Token] = []
        while self.sees("!") or self.sees("-"):
            signs.append(self.take())
            if len(signs) > MAX_NESTING or signs[-1].text != signs[0].text:
                raise self.error(f"too many `{signs[0].text}` in a row", "too_deep")
        negative = bool(signs) and signs[-1].text == "-" and self.token.kind in ("int", "literal")
        if negative and type(self.token.value) in (int, float):
            node = self.member(-self.token.value, signs.pop().start)
        else:
            node = self.member()
        for sign in reversed(signs):
            node = Unary(sign.start, sign.text, node)
        return node

    # Selections, indexes and calls

    def member(self, negated: float | None = None, at: int = 0) -> Node:
        if negated is None:
            node = self.primary()
        else:
            self.take()
            node = Constant(at, negated)
        count = 0
        while True:
            if self.accept("."):
                node = self.selection(node)
            elif self.sees("["):
                sign = self.take()
                key = self.expression()
                self.expect("]")
                node = Index(sign.start, node, key)
            elif self.sees("{") and isinstance(node, Name | Select):
                raise self.error("messages are not part of this language; write a map as `{'name': value}`")
            else:
                return node
            count += 1
            self.bounded(count)

    def selection(self, operand: Node) -> Node:
        token = self.token
        if token.kind not in ("quoted", "name"):
            raise self.unexpected("the name of a field")
        self.take()
        if token.kind == "quoted":
            return Select(token.start, operand, token.text[1:-1])
        if self.accept("("):
            return self.called(token, operand)
        if token.text in _WORDS or token.text == "in":
            message = f'`{token.text}` is a word of the language; write `["{token.text}"]`'
            raise SourcePosition(self.source, token.start).error("syntax", message)
        return Select(token.start, operand, token.text)

    def called(self, name: Token, target: Node | None) -> Node:
        arguments = tuple(self.listed(")", self.expression))
        call = Call(name.start, name.text, target, arguments)
        if target is None:
            return _has_argument(call, self.source) if name.text == "has" else call
        return _expand(call, target, self.source)

    def listed(self, closing: str, item: Callable[[], T]) -> list[T]:
        items: list[T] = []
        while not self.accept(closing):
            if items:
                self.expect(",", f"`,` or `{closing}`")
                if closing != ")" and self.accept(closing):
                    break
            items.append(item())
        return items

    # Literals, names and what is in brackets

    def primary(self) -> Node:
        token = self.token
        if token.kind in ("int", "literal"):
            if token.kind == "int" and token.value > MAX_INT:
                raise self.error("this number does not fit 64 bits", "overflow")
            self.take()
            return Constant(token.start, token.value)
        if token.kind == "name":
            return self.name()
        opened = token.text if token.kind == "sign" else ""
        if opened not in ("(", "[", "{", "."):
            raise self.unexpected("a value")
        self.take()
        if opened == "(":
            node = self.expression()
            self.expect(")")
            return node
        if opened == "[":
            return Items(token.start, tuple(self.listed("]", self.expression)))
        if opened == "{":
            return Entries(token.start, tuple(self.listed("}", self.entry)))
        if self.token.kind != "name" or self.token.text in _WORDS:
            raise self.unexpected("a name")
        return self.name()

    def name(self) -> Node:
        token = self.token
        if token.text in _WORDS:
            self.take()
            return Constant(token.start, _WORDS[token.text])
        if token.text in _RESERVED:
            raise self.error(f"`{token.text}` is a reserved word and cannot be a name")
        self.take()
        return self.called(token, None) if self.accept("(") else Name(token.start, token.text)

    def entry(self) -> tuple[Node, Node]:
        key = self.expression()
        self.expect(":")
        return key, self.expression()


# -- macros: calls that are syntax and no functions ---------------------------------------------------------


def _has_argument(call: Call, source: str) -> Node:
    """`has(a.b)` as the test of a selection."""
    argument = call.arguments[0] if len(call.arguments) == 1 else None
    if isinstance(argument, Index) and isinstance(argument.key, Constant) and type(argument.key.value) is str:
        return Select(argument.key.at, argument.operand, argument.key.value, test=True)
    if not isinstance(argument, Select) or argument.test:
        message = "`has` takes one selection such as `has(data.size)`"
        raise SourcePosition(source, call.at).error("bad_macro", message)
    return Select(argument.at, argument.operand, argument.field, test=True)


def _expand(call: Call, target: Node, source: str) -> Node:
    """The loop that a call of a macro stands for; any other call as it is."""
    counts = _LOOPS.get(call.name)
    if counts is None:
        return call
    place = SourcePosition(source, call.at)
    if len(call.arguments) not in counts:
        message = f"`{call.name}` takes a variable and an expression, as in `list.{call.name}(x, x > 1)`"
        raise place.error("bad_macro", message)
    variable, *bodies = call.arguments
    if not isinstance(variable, Name):
        message = f"the first argument of `{call.name}` must be a plain name for each item"
        raise place.error("bad_macro", message)
    kind = "exists_one" if call.name == "existsOne" else call.name
    transform = bodies[-1] if kind == "map" else None
    condition = bodies[0] if kind != "map" or len(bodies) == 2 else None
    return Loop(call.at, kind, target, variable.name, condition, transform)
