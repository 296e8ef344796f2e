"""Names, fields and functions that may follow at a place of an expression, finished or not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import msgspec

from penstock.expression.errors import ExpressionError
from penstock.expression.functions import functions
from penstock.expression.functions.times import GETTERS
from penstock.expression.limits import MAX_SOURCE
from penstock.expression.syntax.parser import Token, next_token
from penstock.expression.types.checking import check_expression, items_of
from penstock.expression.types.narrowing import Scope
from penstock.expression.types.signatures import FUNCTIONS, Overloads
from penstock.expression.types.types import DYN, Object, Scalar, Type, kind_of, members_of, name_of, union

MAX_ITEMS: Final = 200
_PLAIN: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_QUOTABLE: Final = re.compile(r"[A-Za-z0-9_./\- ]+", re.ASCII)
_OPEN: Final = re.compile(r"\$?\$\{")
MACROS: Final = {
    "all": "Whether a condition holds for every item",
    "exists": "Whether a condition holds for at least one item",
    "exists_one": "Whether a condition holds for exactly one item",
    "filter": "The items for which a condition holds",
    "map": "A new list, made of each item",
}
_DOCS: Final = {
    **dict.fromkeys(GETTERS, "A field of a time, in a time zone if one is given"),
    "matches": "Whether a regular expression is found in a text",
    "glob": "Whether a glob matches a whole text",
    "type": "The type of a value",
    "dyn": "The value itself, of which nothing is known before",
}
"""Of the functions that say nothing themselves."""


class Item(msgspec.Struct, frozen=True):
    """One proposal: what a list shows, and the text that replaces the word before the cursor."""

    label: str
    type: str
    doc: str
    insert: str


def complete(text: str, cursor: int, scope: Scope) -> tuple[Item, ...]:
    """What may be written at an offset of an expression and begins like the word before it; never raises."""
    start = max(0, cursor - MAX_SOURCE)
    tokens, quote = _tokens(text[start:cursor])
    text, cursor = text[start:cursor], cursor - start
    if quote is not None:
        return _select(_quoted(text, tokens, quote, scope), text[quote + 1 :])
    word = tokens.pop() if tokens and tokens[-1].kind == "name" and tokens[-1].end == cursor else None
    inner = _bound(text, tokens, scope)
    if tokens and tokens[-1].text == ".":
        begin = _operand(tokens, len(tokens) - 1)
        owner = _type_of(text[begin : tokens[-1].start], inner)
        found = (*_fields(owner), *_methods(owner))
    else:
        found = (*_variables(inner), *_functions())
    return _select(found, word.text if word else "")


def complete_template(text: str, cursor: int, scope: Scope) -> tuple[Item, ...]:
    """The same within a text with `${ … }`; nothing outside of them."""
    opened = [found.end() for found in _OPEN.finditer(text, 0, cursor) if found.group() == "${"]
    if not opened:
        return ()
    start = opened[-1]
    tokens, quote = _tokens(text[start:cursor])
    depth = sum((each.text == "{") - (each.text == "}") for each in tokens if each.kind == "sign")
    return complete(text[start:cursor], cursor - start, scope) if quote is not None or depth >= 0 else ()


def _select(found: Iterator[Item] | tuple[Item, ...], prefix: str) -> tuple[Item, ...]:
    wanted = prefix.lower()
    return tuple(each for each in found if each.label.lower().startswith(wanted))[:MAX_ITEMS]


# -- reading the text ----------------------------------------------------------------------------------------


def _tokens(text: str) -> tuple[list[Token], int | None]:
    """The tokens, and where a string begins that is not closed; what cannot be read is left out."""
    tokens: list[Token] = []
    at = 0
    while True:
        try:
            token = next_token(text, at)
        except ExpressionError as error:
            at = max(at, _offset(text, error))
            if text[at] in "\"'":
                return tokens, at
            at += 1
            continue
        if token.kind == "end":
            return tokens, None
        tokens.append(token)
        at = token.end


def _offset(text: str, error: ExpressionError) -> int:
    return sum(len(line) + 1 for line in text.split("\n")[: error.line - 1]) + error.column - 1


def _operand(tokens: list[Token], end: int) -> int:
    """Where the value begins that ends before the token at `end`: names, calls and indexes joined by dots."""
    at, begin = end - 1, end
    while at >= 0:
        token = tokens[at]
        if token.kind == "sign" and token.text in ")]}":
            at = begin = max(0, _opening(tokens, at))
            if (
                at > 0
                and tokens[at].text != "{"
                and (tokens[at - 1].kind == "name" or tokens[at - 1].text in ")]")
            ):
                at -= 1
                continue
        elif token.kind in ("name", "quoted", "literal"):
            begin = at
        else:
            break
        if at < 2 or tokens[at - 1].text != ".":
            break
        at -= 2
    return tokens[begin].start


def _opening(tokens: list[Token], at: int) -> int:
    """The bracket that belongs to the closing one at `at`; -1 where there is none."""
    depth = 0
    while at >= 0:
        if tokens[at].kind == "sign":
            depth += (tokens[at].text in ")]}") - (tokens[at].text in "([{")
            if depth == 0:
                return at
        at -= 1
    return -1


def _bound(text: str, tokens: list[Token], scope: Scope) -> Scope:
    """The scope with the variables of the loops that are open at the end, outer ones first."""
    opened: list[int] = []
    for index, token in enumerate(tokens):
        if token.kind == "sign" and token.text in "([{":
            opened.append(index)
        elif token.kind == "sign" and token.text in ")]}" and opened:
            opened.pop()
    for index in opened:
        head = tokens[max(0, index - 2) : index + 3]
        if [each.kind for each in head] == ["sign", "name", "sign", "name", "sign"] and head[
            1
        ].text in MACROS:
            over = _type_of(text[_operand(tokens, index - 2) : head[0].start], scope)
            items = [items_of(member) for member in members_of(over)]
            scope = {**scope, head[3].text: union(each for each in items if each is not None)}
    return scope


def _type_of(source: str, scope: Scope) -> Type:
    try:
        return check_expression(source, scope).type
    except ExpressionError:
        return DYN


# -- what to propose ------------------------------------------------------------------------------------------


def _variables(scope: Scope) -> Iterator[Item]:
    for name, found in scope.items():
        yield Item(name, name_of(found), "", name)


def _functions() -> Iterator[Item]:
    for name, each in functions.FUNCTIONS.items():
        if each.free:
            yield Item(name, _gives(FUNCTIONS[name]), _doc_of(name), f"{name}(")
    yield Item("has", "bool", "Whether a field exists", "has(")
    for word in ("true", "false", "null"):
        yield Item(word, "null" if word == "null" else "bool", "", word)


def _fields(owner: Type) -> Iterator[Item]:
    objects = [each for each in members_of(owner) if isinstance(each, Object)]
    for name in dict.fromkeys(name for each in objects for name in each.names):
        found = [field for each in objects if (field := each.field(name)) is not None]
        optional = len(found) < len(members_of(owner)) or not all(field.required for field in found)
        shown = name_of(union(field.type for field in found)) + (" (optional)" if optional else "")
        if _PLAIN.fullmatch(name) or _QUOTABLE.fullmatch(name):
            insert = name if _PLAIN.fullmatch(name) else f"`{name}`"
            yield Item(name, shown, next((field.doc for field in found if field.doc), ""), insert)


def _methods(owner: Type) -> Iterator[Item]:
    kinds = {kind_of(member) for member in members_of(owner)}
    for name, each in functions.FUNCTIONS.items():
        if each.method and ("dyn" in kinds or any(wanted[0] in kinds for wanted in FUNCTIONS[name])):
            alone = all(len(wanted) == 1 for wanted in FUNCTIONS[name])
            yield Item(name, _gives(FUNCTIONS[name]), _doc_of(name), f"{name}()" if alone else f"{name}(")
    if kinds & {"list", "map", "dyn"}:
        for name, doc in MACROS.items():
            yield Item(name, "list" if name in ("filter", "map") else "bool", doc, f"{name}(")


def _quoted(text: str, tokens: list[Token], quote: int, scope: Scope) -> Iterator[Item]:
    """What a string can be that is not closed: a key after `[`, or a known word after a comparison."""
    if not tokens or tokens[-1].text not in ("[", "==", "!="):
        return
    end = len(tokens) - 1
    owner = _type_of(text[_operand(tokens, end) : tokens[end].start], _bound(text, tokens[:-1], scope))
    if tokens[-1].text == "[":
        for field in _fields(owner):
            yield msgspec.structs.replace(field, insert=field.label)
        return
    values = (each.values or () for each in members_of(owner) if isinstance(each, Scalar))
    for word in sorted(each for known in values for each in known if isinstance(each, str)):
        yield Item(word, "string", "", word)


def _gives(overloads: Overloads) -> str:
    results = {each for each in overloads.values() if isinstance(each, Scalar)}
    return name_of(union(results)) if len(results) == 1 else "list of string" if not results else "any value"


def _doc_of(name: str) -> str:
    """The first sentence about a function."""
    said = _DOCS.get(name) or functions.FUNCTIONS[name].run.__doc__ or ""
    return said.partition("\n")[0].rstrip(".").replace("`", "")
