"""Whether a call has made something durable: a later error must not claim that nothing was changed."""

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


_CALL: ContextVar[CallOutcome | None] = ContextVar("penstock_call", default=None)

current_call = _CALL.get
"""The call that this code is part of, or was: see `over`."""


async def one_call(do: Callable[P, Awaitable[T]], *args: P.args, **how: P.kwargs) -> T:
    """What `do` answers, as one call.

    Raises OutcomeUnknown where the store failed after something was changed: its own error speaks of one access.
    """
    around, call = _CALL.get(), CallOutcome()
    _CALL.set(call)
    try:
        return await do(*args, **how)
    except StoreError as error:
        if not call.changed or isinstance(error, OutcomeUnknown):
            raise
        raise OutcomeUnknown(getattr(error, "why", str(error)), begun=True) from error
    finally:
        call.over = True
        _CALL.set(around)


def note_change() -> None:
    """The current call, if any, has made something durable."""
    call = current_call()
    if call is not None:
        call.changed = True
