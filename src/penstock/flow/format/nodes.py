"""One tree for YAML text, JSON text and decoded JSON, in which every value knows its line and column."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
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


class Findings:
    """Collects the problems of one document; `elsewhere` tells which level a key belongs to.

    Of what is `unfinished` it is no problem that there is no step yet.
    """

    def __init__(
        self,
        file: str | None = None,
        elsewhere: Mapping[str, str] | None = None,
        unfinished: bool = False,
    ) -> None:
        self.file = file
        self.unfinished = unfinished
        self.elsewhere = elsewhere or {}
        self.problems: list[Problem] = []

    def add(self, code: str, path: str, message: str, place: Place | None = None) -> None:
        """Record a problem; raises where there are so many that telling more would help nobody."""
        if len(self.problems) == MAX_PROBLEMS:
            code, message = "too_many", f"There are more than {MAX_PROBLEMS} problems; mend these first."
        line, column = place or (None, None)
        self.problems.append(Problem(code, path, message, line, column))
        if len(self.problems) > MAX_PROBLEMS:
            raise self.error()

    def stop(self, code: str, message: str, place: Place | None = None, path: str = "") -> DefinitionError:
        """The error to raise where nothing more can be read: this problem after all found so far."""
        self.add(code, path, message, place)
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


class PlainTree:
    """Makes nodes of decoded JSON, which has no places: problems name paths instead."""

    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        self.count = 0

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
