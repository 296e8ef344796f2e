"""Text to tokens, one at a time: whoever asks for the next decides where the expression ends."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from penstock.expression.errors import SourcePosition
from penstock.expression.limits import INT_HIGH, UINT_HIGH
from penstock.expression.values import UInt

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
    return _bytes(body, place) if "b" in prefix else _string(body, place)


def _whole(text: str, place: SourcePosition) -> int:
    unsigned = text[-1] in "uU"
    digits = text[:-1] if unsigned else text
    if len(digits) > 40:
        raise place.error("overflow", "this number does not fit 64 bits")
    value = int(digits, 16) if digits[:2] in ("0x", "0X") else int(digits)
    # One more than fits: `-9223372036854775808` is read as a minus and this number.
    if value > (UINT_HIGH if unsigned else INT_HIGH + 1):
        raise place.error("overflow", "this number does not fit 64 bits")
    return UInt(value) if unsigned else value


def _string(body: str, place: SourcePosition) -> str:
    return _ESCAPE.sub(lambda match: chr(_code_point(match, place)), body)


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
