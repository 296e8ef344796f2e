"""Whether a call has made something durable: an error that comes after that must not say that nothing was changed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import ParamSpec, TypeVar

from msgspec import Struct

from penstock.store.errors import BadText, OutcomeUnknown, StoreRefused, StoreUnavailable

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
    around = CALL.get()
    if around is not None and not around.over:
        return await do(*args, **how)
    call = CallOutcome()
    CALL.set(call)
    try:
        return await do(*args, **how)
    except (StoreUnavailable, StoreRefused, BadText) as error:
        if not call.changed or isinstance(error, OutcomeUnknown):
            raise
        raise OutcomeUnknown(error.why, begun=True) from error
    finally:
        call.over = True
        CALL.set(around)


def note_change() -> None:
    """The current call, if any, has made something durable."""
    call = CALL.get()
    if call is not None:
        call.changed = True
