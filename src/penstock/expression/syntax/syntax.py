"""The parts of a parsed expression; `at` is the offset of a part in its source."""

from __future__ import annotations

from typing import Any

import msgspec


class Node(msgspec.Struct, frozen=True):
    """A part of an expression."""

    at: int


class Constant(Node, frozen=True):
    """A literal value."""

    value: Any


class Name(Node, frozen=True):
    """A variable."""

    name: str


class Select(Node, frozen=True):
    """`operand.field`; with `test` it is `has(operand.field)`."""

    operand: Node
    field: str
    test: bool = False


class Index(Node, frozen=True):
    """`operand[key]`."""

    operand: Node
    key: Node


class Call(Node, frozen=True):
    """`name(arguments)`, or `target.name(arguments)`."""

    name: str
    target: Node | None
    arguments: tuple[Node, ...]


class Items(Node, frozen=True):
    """A list literal."""

    items: tuple[Node, ...]


class Entries(Node, frozen=True):
    """A map literal."""

    entries: tuple[tuple[Node, Node], ...]


class Unary(Node, frozen=True):
    """`!operand` or `-operand`."""

    operator: str
    operand: Node


class Relation(Node, frozen=True):
    """A comparison, or `in`."""

    operator: str
    left: Node
    right: Node


class Chain(Node, frozen=True):
    """`first + a - b …` or `first * a / b …`, from left to right; each with the place of its operator."""

    first: Node
    rest: tuple[tuple[str, int, Node], ...]


class Logic(Node, frozen=True):
    """Terms joined by `&&` or by `||`."""

    operator: str
    terms: tuple[Node, ...]


class Choice(Node, frozen=True):
    """`condition ? value : condition ? value : … default`."""

    cases: tuple[tuple[Node, Node], ...]
    default: Node


class Loop(Node, frozen=True):
    """A macro over a list or the keys of a map: `all`, `exists`, `exists_one`, `filter` or `map`."""

    kind: str
    over: Node
    variable: str
    condition: Node | None
    transform: Node | None
