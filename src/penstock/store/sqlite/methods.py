"""Methods of the store, made of functions on a session: one that reads, or one that writes, in a transaction."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, ParamSpec

from penstock.store.sqlite.session import Result, Session

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
