"""Zenko's conditions in CEL: its operators on tags, and the simple part of its scripts."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from typing import Any

from penstock.expression import ExpressionError, compile_expression

_NUMBER = re.compile(r"\s*-?\d+(\.\d+)?\s*")
_TOKEN = re.compile(
    r"""\s+
      | (?P<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
      | (?P<number>\d+(?:\.\d+)?)
      | (?P<name>[A-Za-z_$][\w$]*(?:\s*\.\s*[A-Za-z_$][\w$]*|\s*\[\s*'[^'\\]*'\s*\]|\s*\[\s*"[^"\\]*"\s*\])*)
      | (?P<mark>===|!==|==|!=|<=|>=|&&|\|\||[<>!()+\-*/%?:,])""",
    re.X,
)
_PART = re.compile(r"""\.\s*([A-Za-z_$][\w$]*)|\[\s*['"]([^'"]*)['"]\s*\]""")
_MARKS = {"===": "==", "!==": "!="}
_FLIPPED = {"===": "===", "!==": "!==", "==": "==", "!=": "!=", "<": ">", ">": "<", "<=": ">=", ">=": "<="}
_WORDS = {"true": "true", "false": "false", "null": "null", "undefined": "null"}
_METHODS = {"startsWith": "startsWith", "endsWith": "endsWith", "includes": "contains"}


def text_of(value: Any) -> str:
    """A value as a text of CEL."""
    return json.dumps(value if isinstance(value, str) else json.dumps(value), ensure_ascii=False)


def basic_condition(key: str, operator: str, value: Any) -> str:
    """`key operator value` over the tags; a tag that is missing makes it false, as in Zenko."""
    if operator == "LIKE":
        return f"{_there(key, 'tags')} && {_word(key, 'tags')}.matches({text_of(_like(str(value)))})"
    if operator in ("==", "!="):
        shown = value if isinstance(value, str) else json.dumps(value)
        return f"{_there(key, 'tags')} && {_word(key, 'tags')} {operator} {text_of(shown)}"
    if _NUMBER.fullmatch(str(value)):
        return _number_is(key, "tags", operator, float(value))
    return f"{_there(key, 'tags')} && {_word(key, 'tags')} {operator} {text_of(value)}"


def _there(key: str, tags: str) -> str:
    return f"{text_of(key)} in {tags}"


def _word(key: str, tags: str) -> str:
    return f"string({tags}[{text_of(key)}])"


def _number_is(key: str, tags: str, operator: str, number: float) -> str:
    """A tag is a text: it is compared with a number where it is one."""
    word = _word(key, tags)
    numeric = f"{word}.matches({text_of('^-?[0-9]+([.][0-9]+)?$')})"
    return f"{_there(key, tags)} && {numeric} && double({word}) {operator} {number}"


def _like(pattern: str) -> str:
    """The pattern of a LIKE as a regular expression: `/…/flags` is one, `%` and `_` stand for any characters."""
    found = re.fullmatch(r"/(.*)/([a-z]*)", pattern, re.S)
    if found:
        return f"(?i){found[1]}" if "i" in found[2] else found[1]
    parts = {"%": ".*", "_": "."}
    return "(?s)^" + "".join(parts.get(each, re.escape(each)) for each in pattern) + "$"


def script_condition(script: str, variables: Mapping[str, str]) -> str | None:
    """A JavaScript condition in CEL; None where it is more than comparisons of these variables, each with our name."""
    text = script.strip().rstrip(";").strip().removeprefix("return ").strip()
    tokens = _tokens(text)
    if tokens is None:
        return None
    parts: list[str] = []
    while tokens:
        made = _next(tokens, variables)
        if made is None:
            return None
        parts.append(made)
    source = " ".join(parts)
    return source if _is_cel(source, {name.partition(".")[0] for name in variables.values()}) else None


def _tokens(text: str) -> list[re.Match[str]] | None:
    """The words of a script in order; None where it has something else."""
    found: list[re.Match[str]] = []
    at = 0
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None:
            return None
        if token[0].strip():
            found.append(token)
        at = token.end()
    return found


def _next(tokens: list[re.Match[str]], variables: Mapping[str, str]) -> str | None:
    """The first of the tokens in CEL, or the comparison that it begins; what is used is taken away."""
    if (made := _compared(tokens[:3], variables)) is not None:
        del tokens[:3]
        return made
    token = tokens.pop(0)
    if token["text"]:
        return text_of(_literal(token))
    if token["mark"]:
        return _MARKS.get(token["mark"], token["mark"])
    if not token["name"]:
        return token[0].strip()
    compared = bool(tokens) and tokens[0]["mark"] in _FLIPPED
    return _reference(token["name"], variables, compared)


def _compared(tokens: list[re.Match[str]], variables: Mapping[str, str]) -> str | None:
    """`tags.a >= 18`, either way round: what is missing is neither equal nor more nor less, as in JavaScript."""
    if len(tokens) < 3 or tokens[1]["mark"] not in _FLIPPED:
        return None
    one, operator, other = tokens[0], str(tokens[1]["mark"]), tokens[2]
    if one["text"] or one["number"]:
        one, operator, other = other, _FLIPPED[operator], one
    root, keys = _parts(one["name"]) if one["name"] else ("", [])
    if root not in variables or len(keys) != 1 or keys[0] in _METHODS:
        return None
    operator = _MARKS.get(operator, operator)
    made = _holds(keys[0], variables[root], "==" if operator == "!=" else operator, other)
    if made is None:
        return None
    return f"!({made})" if operator == "!=" else f"({made})"


def _holds(key: str, tags: str, operator: str, other: re.Match[str]) -> str | None:
    """A tag compared with a literal; None where the other side is none."""
    if other["number"]:
        return _number_is(key, tags, operator, float(other[0]))
    if other["text"]:
        return f"{_there(key, tags)} && {_word(key, tags)} {operator} {text_of(_literal(other))}"
    return f"!({_there(key, tags)})" if other["name"] in ("undefined", "null") and operator == "==" else None


def _literal(token: re.Match[str]) -> str:
    return str(token["text"])[1:-1].replace("\\'", "'").replace('\\"', '"')


def _parts(name: str) -> tuple[str, list[str]]:
    """A dotted name: its head, and what follows."""
    head = re.match(r"[A-Za-z_$][\w$]*", name)
    assert head is not None
    return head[0], [first or second for first, second in _PART.findall(name[head.end() :])]


def _reference(name: str, variables: Mapping[str, str], compared: bool) -> str | None:
    """A variable, a part of it, or a method that CEL has too. A part by itself: whether it is there and not empty."""
    root, parts = _parts(name)
    if root in _WORDS and not parts:
        return _WORDS[root]
    if root not in variables:
        return None
    ours = variables[root]
    method = _METHODS.get(parts[-1]) if parts else None
    keys = parts[:-1] if method else parts
    if len(keys) > 1 or (keys and compared):
        return None
    if not keys:
        return f"{ours}.{method}" if method else ours
    if method:
        return f'({_there(keys[0], ours)} ? {_word(keys[0], ours)} : "").{method}'
    return f'({_there(keys[0], ours)} && {_word(keys[0], ours)} != "")'


def _is_cel(source: str, names: Collection[str]) -> bool:
    try:
        compile_expression(source, names)
    except ExpressionError:
        return False
    return bool(source)
