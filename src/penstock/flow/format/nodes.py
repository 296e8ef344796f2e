"""One tree for YAML text, JSON text and decoded JSON, in which every value knows its place; and how JSON is read."""

from __future__ import annotations

import json
import math
import re
from bisect import bisect_right
from collections.abc import Callable, Mapping
from json import decoder
from typing import Any

from msgspec import Struct

from penstock.flow.model.definition import Json
from penstock.flow.model.names import shown, shown_character
from penstock.flow.model.problems import DefinitionError, Problem
from penstock.flow.values.payload import MAX_DEPTH

MAX_SIZE = 512 * 1024
MAX_NODES = 200_000
MAX_PROBLEMS = 200
INT64 = range(-(2**63), 2**63)

Place = tuple[int, int]
"""Line and column, both from 1."""

_UNSOUND = re.compile("[\0\ud800-\udfff]")


BROKEN = object()
"""The value of a scalar that was refused already, so that nobody complains about it twice."""


class Node(Struct, frozen=True):
    """A scalar, a list of nodes or a dict of nodes; `keys` tells where each key of a dict stands."""

    value: Any
    place: Place | None = None
    keys: dict[str, Place] | None = None


class Findings(Struct):
    """Collects the problems of one document; `elsewhere` tells which level a key belongs to.

    Of what is `unfinished` it is no problem that there is no step yet.
    """

    file: str | None = None
    elsewhere: Mapping[str, str] = {}
    unfinished: bool = False
    problems: list[Problem] = []

    def add(self, code: str, path: str, message: str, place: Place | None = None) -> None:
        """Record a problem; raises where there are so many that telling more would help nobody."""
        if len(self.problems) == MAX_PROBLEMS:
            code, message = "too_many", f"There are more than {MAX_PROBLEMS} problems; mend these first."
        line, column = place or (None, None)
        self.problems.append(Problem(code, path, message, line, column))
        if len(self.problems) > MAX_PROBLEMS:
            raise self.error()

    def stop(self, code: str, message: str, place: Place | None = None) -> DefinitionError:
        """The error to raise where nothing more can be read: this problem after all found so far."""
        self.add(code, "", message, place)
        return self.error()

    def error(self) -> DefinitionError:
        ordered = sorted(self.problems, key=lambda each: (each.line or 0, each.column or 0))
        return DefinitionError(list(dict.fromkeys(ordered)), self.file)


def plain(node: Node) -> Json:
    """The JSON value that `node` holds."""
    value = node.value
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, list):
        return [plain(each) for each in value]
    return value


def describe(node: Node) -> str:
    """What was found, for the end of a sentence: "the text 'two'", "a list"."""
    value = node.value
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f"the text {shown(value)}"
    if isinstance(value, int | float):
        return f"the number {value}"
    return "a list" if isinstance(value, list) else "a map"


def check_scalar(value: Json, findings: Findings, place: Place | None, path: str = "") -> Any:
    """`value`, or BROKEN with a problem where no store could keep it."""
    wrong = _wrong_scalar(value)
    if wrong is None:
        return value
    findings.add(wrong[0], path, wrong[1], place)
    return BROKEN


def _wrong_scalar(value: Json) -> tuple[str, str] | None:
    if isinstance(value, str):
        found = _UNSOUND.search(value)
        if found is None:
            return None
        return (
            "invalid_unicode",
            f"This text holds {shown_character(found[0])}, which cannot be stored; take it out.",
        )
    if isinstance(value, float) and not math.isfinite(value):
        return "invalid_number", "Numbers must be finite: no .inf, .nan, NaN or Infinity."
    if isinstance(value, int) and value not in INT64:
        return "number_out_of_range", OUT_OF_RANGE
    return None


OUT_OF_RANGE = "This whole number needs more than 64 bits; write it as text, in quotes."


def check_text(text: str, findings: Findings) -> str:
    """`text` without a byte order mark; raises where it is too long or holds what no text may hold."""
    if len(text) > MAX_SIZE or len(text.encode("utf-8", "surrogatepass")) > MAX_SIZE:
        raise findings.stop(
            "too_large", f"A definition has at most {MAX_SIZE // 1024} KiB; split the workflow."
        )
    text = text.removeprefix("\ufeff")
    found = _UNSOUND.search(text)
    if found:
        message = f"The file holds the character {shown_character(found[0])}; is it a text file in UTF-8?"
        raise findings.stop("invalid_unicode", message, place_of(text, found.start()))
    if not text.strip():
        raise findings.stop("empty", "The definition is empty; begin with `penstock: 1`.", (1, 1))
    return text


def place_of(text: str, index: int) -> Place:
    """Line and column of a position in `text`."""
    return text.count("\n", 0, index) + 1, index - (text.rfind("\n", 0, index) + 1) + 1


def too_deep(findings: Findings, place: Place | None) -> DefinitionError:
    return findings.stop("too_deep", f"Lists and maps are nested more than {MAX_DEPTH} deep here.", place)


class PlainTree(Struct):
    """Makes nodes of decoded JSON, which has no places: problems name paths instead."""

    findings: Findings
    count: int = 0

    def node(self, value: Json, path: str = "", depth: int = 1) -> Node:
        self.count += 1
        if self.count > MAX_NODES:
            raise self.findings.stop("too_large", f"A definition has at most {MAX_NODES} values; split it.")
        if isinstance(value, dict | list | tuple):
            if depth > MAX_DEPTH:
                raise too_deep(self.findings, None)
            return self._collection(value, path, depth)
        if value is None or isinstance(value, bool | int | float | str):
            return Node(check_scalar(value, self.findings, None, path))
        self.findings.add("wrong_type", path, f"A {type(value).__name__} is no JSON value.")
        return Node(BROKEN)

    def _collection(self, value: Any, path: str, depth: int) -> Node:
        if not isinstance(value, dict):
            return Node([self.node(each, f"{path}[{index}]", depth + 1) for index, each in enumerate(value)])
        entries = {}
        for key, each in value.items():
            if not isinstance(key, str):
                self.findings.add("key_not_text", path, f"The key {key!r} must be text.")
            elif check_scalar(key, self.findings, None, path) is not BROKEN:
                entries[key] = self.node(each, f"{path}.{key}" if path else key, depth + 1)
        return Node(entries)


# -- JSON: strict, with the line and column of every value ----------------------------------------------------


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
