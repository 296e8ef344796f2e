"""JSON text as nodes: strict JSON, with the line and column of every value; duplicate keys are problems."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Callable
from json import decoder
from typing import Any

from penstock.flow.format.nodes import (
    BROKEN,
    OUT_OF_RANGE,
    Findings,
    Node,
    Place,
    check_scalar,
    too_deep,
)
from penstock.flow.model.definition import Json
from penstock.flow.model.names import shown
from penstock.flow.model.problems import DefinitionError
from penstock.flow.values.payload import MAX_DEPTH

_scan: Callable[[str, int, bool], tuple[str, int]] = decoder.scanstring  # type: ignore[attr-defined]
_SPACE = re.compile(r"[ \t\n\r]*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_WORD = re.compile(r"-?[A-Za-z]+")
_WORDS: dict[str, Json] = {"true": True, "false": False, "null": None}
_NOT_FINITE = frozenset({"NaN", "Infinity", "-Infinity"})


def read_json_text(text: str, findings: Findings) -> Node:
    """The tree of a JSON text. Raises DefinitionError where it is no JSON."""
    return _Scanner(text, findings).document()


class _Scanner:
    def __init__(self, text: str, findings: Findings) -> None:
        self.text = text
        self.findings = findings
        self.lines = [0, *(found.end() for found in re.finditer("\n", text))]

    def place(self, index: int) -> Place:
        line = bisect_right(self.lines, index)
        return line, index - self.lines[line - 1] + 1

    def skip(self, index: int) -> int:
        found = _SPACE.match(self.text, index)
        return found.end() if found else index

    def wrong(self, message: str, index: int) -> DefinitionError:
        return self.findings.stop("not_json", f"This is not JSON: {message}.", self.place(index))

    def document(self) -> Node:
        node, index = self.value(self.skip(0), 1)
        index = self.skip(index)
        if index < len(self.text):
            raise self.wrong("there is more text after the end", index)
        return node

    def value(self, index: int, depth: int) -> tuple[Node, int]:
        first = self.text[index : index + 1]
        if first in ("{", "["):
            if depth > MAX_DEPTH:
                raise too_deep(self.findings, self.place(index))
            return self.map(index, depth) if first == "{" else self.list(index, depth)
        value, end = self.string(index) if first == '"' else self.word(index)
        place = self.place(index)
        return Node(check_scalar(value, self.findings, place), place), end

    def string(self, index: int) -> tuple[str, int]:
        try:
            value, end = _scan(self.text, index + 1, True)
        except json.JSONDecodeError as error:
            raise self.wrong(
                _STRING.get(error.msg, error.msg[:1].lower() + error.msg[1:]), error.pos
            ) from None
        return value, end

    def word(self, index: int) -> tuple[Any, int]:
        number = _NUMBER.match(self.text, index)
        if number:
            return self.number(number), number.end()
        word = _WORD.match(self.text, index)
        if word and word[0] in _WORDS:
            return _WORDS[word[0]], word.end()
        if word and word[0] in _NOT_FINITE:
            return float(word[0].replace("Infinity", "inf")), word.end()
        if index >= len(self.text):
            raise self.wrong("it ends too early; a `}` or `]` is missing", index)
        raise self.wrong(
            f"a value cannot begin with {shown(self.text[index])}; text needs double quotes", index
        )

    def number(self, found: re.Match[str]) -> Any:
        if found[1] or found[2]:
            return float(found[0])
        if len(found[0]) > 20:  # int() refuses thousands of digits with an error of its own
            self.findings.add("number_out_of_range", "", OUT_OF_RANGE, self.place(found.start()))
            return BROKEN
        return int(found[0])

    def list(self, start: int, depth: int) -> tuple[Node, int]:
        items: list[Node] = []
        index = self.skip(start + 1)
        if self.text[index : index + 1] == "]":
            return Node(items, self.place(start)), index + 1
        while True:
            item, index = self.value(index, depth + 1)
            items.append(item)
            index, more = self.after(self.skip(index), "]")
            if not more:
                return Node(items, self.place(start)), index

    def map(self, start: int, depth: int) -> tuple[Node, int]:
        node = Node({}, self.place(start), {})
        index = self.skip(start + 1)
        if self.text[index : index + 1] == "}":
            return node, index + 1
        while True:
            if self.text[index : index + 1] != '"':
                raise self.wrong("a key in double quotes must stand here", index)
            at = self.place(index)
            key, index = self.string(index)
            index = self.skip(index)
            if self.text[index : index + 1] != ":":
                raise self.wrong(f"a `:` must follow the key {shown(key)}", index)
            value, index = self.value(self.skip(index + 1), depth + 1)
            if check_scalar(key, self.findings, at) is not BROKEN:
                put(node, key, value, at, self.findings)
            index, more = self.after(self.skip(index), "}")
            if not more:
                return node, index

    def after(self, index: int, end: str) -> tuple[int, bool]:
        """Where to go on after an item, and whether another one follows."""
        found = self.text[index : index + 1]
        if found == end:
            return index + 1, False
        if found == ",":
            return self.skip(index + 1), True
        early = "it ends too early; " if not found else ""
        raise self.wrong(f"{early}a `,` or `{end}` is missing", index)


_STRING = {
    "Unterminated string starting at": "this quote is never closed",
    "Invalid control character at": "text cannot hold a raw line break, tab or control character",
}


def put(node: Node, key: str, value: Node, at: Place, findings: Findings) -> None:
    """Keep one entry of a map; a key that is there already is a problem that names both lines."""
    if key in node.value:
        first = node.keys[key][0] if node.keys else at[0]
        message = f"The key {shown(key)} is here twice: on line {first} and on line {at[0]}; keep one."
        findings.add("duplicate_key", "", message, at)
    else:
        node.value[key] = value
        if node.keys is not None:
            node.keys[key] = at
