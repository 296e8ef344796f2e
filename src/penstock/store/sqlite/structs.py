"""Rows as structs: their columns are its fields, in the same order."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from msgspec import Struct

from penstock.store.sqlite.session import Row

Kind = TypeVar("Kind", bound=Struct)
Conversion = Callable[[Any], Any]


def struct(kind: type[Kind], row: Row, **conversions: Conversion) -> Kind:
    """A row as a struct; the columns named in `conversions` are converted."""
    values = dict(zip(kind.__struct_fields__, row, strict=True))
    for name, converted in conversions.items():
        values[name] = converted(values[name])
    return kind(**values)


def structs(kind: type[Kind], rows: Iterable[Row], **conversions: Conversion) -> list[Kind]:
    """Each row as a struct."""
    return [struct(kind, row, **conversions) for row in rows]
