"""Map literals in an expression: what it makes by itself, whatever the data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from penstock.expression.syntax.parser import parse
from penstock.expression.syntax.syntax import Constant, Entries, Node


def map_literals(source: str) -> Iterator[tuple[Any, ...]]:
    """The keys of each map literal in an expression; None for a key that is worked out. Raises ExpressionError."""
    node, _ = parse(source)
    for each in _parts(node):
        if isinstance(each, Entries):
            yield tuple(key.value if isinstance(key, Constant) else None for key, _ in each.entries)


def _parts(value: Any) -> Iterator[Node]:
    """A node and all below it."""
    if isinstance(value, Node):
        yield value
        value = tuple(getattr(value, field) for field in value.__struct_fields__)
    if isinstance(value, tuple):
        for each in value:
            yield from _parts(each)
