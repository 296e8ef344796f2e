"""How the methods of the store are made: of functions on a session, whose rows become structs."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from msgspec import Struct

from penstock.store.sqlite.session import Result, Row, Session

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


P = ParamSpec("P")
Method = Callable[Concatenate[Any, P], Coroutine[Any, Any, Result]]


def reads(work: Callable[Concatenate[Session, P], Result]) -> Method[P, Result]:
    """A method that does this work with `Writer.read`."""

    @wraps(work)
    async def method(store: Any, /, *args: P.args, **values: P.kwargs) -> Result:
        answer: Result = await store._writer.read(lambda session: work(session, *args, **values))
        return answer

    return method


def writes(work: Callable[Concatenate[Session, P], Result]) -> Method[P, Result]:
    """A method that does this work with `Writer.write`."""

    @wraps(work)
    async def method(store: Any, /, *args: P.args, **values: P.kwargs) -> Result:
        answer: Result = await store._writer.write(lambda session: work(session, *args, **values))
        return answer

    return method
