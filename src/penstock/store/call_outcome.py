"""Whether a call has made something durable: an error that comes after that must not say that nothing was changed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import ParamSpec, TypeVar

from msgspec import Struct

from penstock.store.errors import OutcomeUnknown, StoreError

P = ParamSpec("P")
T = TypeVar("T")


class CallOutcome(Struct):
    """One call, from its start to its answer."""

    changed: bool = False
    over: bool = False  # tasks that it left behind have it still


CALL: ContextVar[CallOutcome | None] = ContextVar("penstock_call", default=None)
"""The current call."""


async def one_call(do: Callable[P, Awaitable[T]], *args: P.args, **how: P.kwargs) -> T:
    """What `do` answers, as one call or as a part of the current one.

    Raises OutcomeUnknown where the store failed after something was changed: its own error speaks of one access.
    """
    around = current_call()
    if around is not None:
        return await do(*args, **how)
    call = CallOutcome()
    CALL.set(call)
    try:
        return await do(*args, **how)
    except StoreError as error:
        if not call.changed or isinstance(error, OutcomeUnknown):
            raise
        raise OutcomeUnknown(getattr(error, "why", str(error)), begun=True) from error
    finally:
        call.over = True
        CALL.set(around)


def current_call() -> CallOutcome | None:
    call = CALL.get()
    return None if call is None or call.over else call


def note_change() -> None:
    """The current call, if any, has made something durable."""
    call = current_call()
    if call is not None:
        call.changed = True
