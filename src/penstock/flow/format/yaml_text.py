"""YAML text as nodes: the core schema of YAML 1.2, one document, no foreign tags, few aliases.

Built from parser events, not from composed nodes: composing recurses in C and would fall over on deep input.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import yaml
from msgspec import Struct

from penstock.flow.format.nodes import (
    BROKEN,
    OUT_OF_RANGE,
    Findings,
    Node,
    Place,
    check_scalar,
    place_of,
    put,
    too_deep,
)
from penstock.flow.format.yaml_mistakes import explain
from penstock.flow.model.definition import Json
from penstock.flow.model.names import shown, shown_character
from penstock.flow.values.payload import MAX_DEPTH

MAX_ALIASES = 100
MAX_REPEATED_NODES = 10_000
"""Nodes that aliases may stand for, all together."""

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_CORE = "tag:yaml.org,2002:"
_TYPES: dict[str, tuple[type, ...]] = {
    "str": (str,),
    "int": (int,),
    "float": (int, float),
    "bool": (bool,),
    "null": (type(None),),
}
_WORDS: dict[str, Json] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_FIRST = frozenset("+-.0123456789~nNtTfF") | {""}
_WHOLE = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_REAL = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_BREAKS = re.compile("[\x85\u2028\u2029]")
_UNPRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ufffd\U00010000-\U0010ffff]")


def read_yaml_text(text: str, findings: Findings) -> Node:
    """The tree of a YAML text. Raises DefinitionError where it is no YAML or repeats itself without end."""
    found = _UNPRINTABLE.search(text)
    if found:
        shape = shown_character(found[0])
        message = f"The file holds the control character {shape}; is it a text file in UTF-8?"
        raise findings.stop("invalid_unicode", message, place_of(text, found.start()))
    found = _BREAKS.search(text)
    if found:
        shape = f"{ord(found[0]):04x}"
        message = (
            f'Some programs take U+{shape.upper()} for a line break; write "\\u{shape}", in double quotes.'
        )
        raise findings.stop("invalid_unicode", message, place_of(text, found.start()))
    return _Builder(text, findings).document()


class _Open(Struct):
    """A list or map whose end has not come yet."""

    node: Node
    anchor: str | None = None
    key: Any = None
    key_place: Place | None = None  # None: a key comes next
    merges: bool = False  # the key is a plain `<<`


class _Builder:
    def __init__(self, text: str, findings: Findings) -> None:
        self.text = text
        self.findings = findings
        self.root = Node([])
        self.stack = [_Open(self.root)]
        self.anchors: dict[str, Node | None] = {}  # None: not closed yet
        self.documents = self.aliases = self.repeated = 0

    def document(self) -> Node:
        acts: dict[type[Any], Callable[[Any], None]] = {
            yaml.ScalarEvent: self.scalar,
            yaml.MappingStartEvent: lambda event: self.open(event, Node({}, _place(event), {}), "map"),
            yaml.SequenceStartEvent: lambda event: self.open(event, Node([], _place(event)), "seq"),
            yaml.MappingEndEvent: self.close,
            yaml.SequenceEndEvent: self.close,
            yaml.AliasEvent: self.alias,
            yaml.DocumentStartEvent: self.begin,
        }
        for event in self.events():
            act = acts.get(type(event))
            if act is not None:
                act(event)
        if not self.root.value:
            raise self.findings.stop("empty", "The definition is empty; begin with `penstock: 1`.", (1, 1))
        node: Node = self.root.value[0]
        return node

    def events(self) -> Iterator[Any]:
        loader = _LOADER(self.text)
        try:
            while loader.check_event():
                yield loader.get_event()
        except yaml.YAMLError as error:
            raise explain(error, self.text, self.findings) from None
        finally:
            loader.dispose()

    def begin(self, event: Any) -> None:
        self.documents += 1
        if self.documents > 1:
            message = "A file holds one definition; a second document begins here."
            raise self.findings.stop("several_documents", message, _place(event))

    def open(self, event: Any, node: Node, tag: str) -> None:
        if len(self.stack) > MAX_DEPTH:
            raise too_deep(self.findings, node.place)
        if event.tag is not None and event.tag not in ("!", _CORE + tag):
            self.foreign_tag(event)
        if event.anchor:
            self.anchors[event.anchor] = None
        self.add(node, node.place)
        self.stack.append(_Open(node, event.anchor))

    def close(self, event: Any) -> None:
        done = self.stack.pop()
        if done.anchor:
            self.anchors[done.anchor] = done.node

    def scalar(self, event: Any) -> None:
        place, value = _place(event), event.value
        if event.tag is not None or event.style == '"' or (value[:1] in _FIRST and event.implicit[0]):
            value = check_scalar(self.resolve(event, place), self.findings, place)
        node = Node(value, place)
        if event.anchor:
            self.anchors[event.anchor] = node
        self.add(node, place, value == "<<" and not event.style)

    def alias(self, event: Any) -> None:
        place = _place(event)
        name = f"`*{event.anchor}`"
        if event.anchor not in self.anchors:
            raise self.findings.stop(
                "alias", f"{name} repeats `&{event.anchor}`, which is nowhere above.", place
            )
        node = self.anchors[event.anchor]
        if node is None:
            raise self.findings.stop(
                "alias", f"{name} stands inside what it repeats and would never end.", place
            )
        size, height = _measure(node)
        self.aliases += 1
        self.repeated += size
        if self.aliases > MAX_ALIASES or self.repeated > MAX_REPEATED_NODES:
            message = (
                f"Aliases repeat too much: {MAX_ALIASES} of them and {MAX_REPEATED_NODES} values at most."
            )
            raise self.findings.stop("alias", message, place)
        if len(self.stack) + height > MAX_DEPTH + 1:
            raise too_deep(self.findings, place)
        self.add(node, place)

    def add(self, node: Node, place: Place | None, merges: bool = False) -> None:
        """Put a value where it belongs: a list, or a key or value of a map."""
        top = self.stack[-1]
        if top.node.keys is None:
            top.node.value.append(node)
        elif top.key_place is None:
            top.key, top.key_place, top.merges = node.value, place, merges
        else:
            self.entry(top, node, top.key_place)
            top.key_place = None

    def entry(self, top: _Open, value: Node, place: Place) -> None:
        key = top.key
        if top.merges:
            message = "The merge key `<<` is not read; write the keys out, or use `defaults`."
            self.findings.add("merge_key", "", message, place)
        elif isinstance(key, str):
            put(top.node, key, value, place, self.findings)
        elif isinstance(key, dict | list):
            kind = "a map" if isinstance(key, dict) else "a list"
            self.findings.add("key_not_text", "", f"A key must be text, not {kind}.", place)
        elif key is not BROKEN:
            word = "null" if key is None else str(key).lower()
            message = f'A key must be text; put it in quotes: "{word}".'
            self.findings.add("key_not_text", "", message, place)

    def resolve(self, event: Any, place: Place) -> Json:
        """The value of a scalar by the core schema; quoted ones are text."""
        tag: str | None = event.tag
        if tag is None:
            return self.plain_value(event.value, place) if event.implicit[0] else event.value
        name = tag.removeprefix(_CORE)
        if tag == "!" or name == "str":
            return event.value
        if name not in _TYPES or name == tag:
            return self.foreign_tag(event)
        value = self.plain_value(event.value, place)
        if not isinstance(value, _TYPES[name]) or (isinstance(value, bool) and name != "bool"):
            message = f"The tag `!!{name}` does not fit {shown(event.value)}; leave the tag out."
            self.findings.add("tag", "", message, place)
            return BROKEN
        return float(value) if name == "float" and isinstance(value, int) else value

    def plain_value(self, text: str, place: Place) -> Json:
        if text[:1] not in _FIRST:
            return text
        if text in _WORDS:
            return _WORDS[text]
        if _WHOLE.fullmatch(text):
            if len(text) > 40:  # int() refuses thousands of digits with an error of its own
                self.findings.add("number_out_of_range", "", OUT_OF_RANGE, place)
                return BROKEN
            return int(text, {"0o": 8, "0x": 16}.get(text[:2], 10))
        if _REAL.fullmatch(text):
            return float(text)
        if _NOT_FINITE.fullmatch(text):
            return float("nan" if text[-1] in "nN" else "inf")
        return text

    def foreign_tag(self, event: Any) -> Any:
        shape = event.tag.replace(_CORE, "!!")
        message = f"The tag {shown(shape)} is not allowed; a definition holds plain values only."
        self.findings.add("tag", "", message, _place(event))
        return BROKEN


def _measure(node: Node) -> tuple[int, int]:
    """How many values `node` stands for (counted until it is too many) and how deep they are nested."""
    size, height, rest = 0, 0, [(node, 0)]
    while rest and size <= MAX_REPEATED_NODES:
        found, depth = rest.pop()
        size += 1
        if isinstance(found.value, dict | list):
            height = max(height, depth + 1)
            inner = found.value.values() if isinstance(found.value, dict) else found.value
            rest.extend((child, depth + 1) for child in inner)
    return size, height


def _place(event: Any) -> Place:
    mark = event.start_mark
    return mark.line + 1, mark.column + 1
