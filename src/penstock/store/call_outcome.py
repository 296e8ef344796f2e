"""Whether a call has made something durable: an error that comes after that must not say that nothing was changed."""

from __future__ import annotations

from contextvars import ContextVar
from types import TracebackType

from penstock.store.errors import BadText, OutcomeUnknown, StoreRefused, StoreUnavailable

_CHANGELESS = (StoreUnavailable, StoreRefused, BadText)
"""Errors that speak of one access to the store, and say that it changed nothing."""


class CallOutcome:
    """One call, from its start to its answer. Within another it is a part of that one."""

    __slots__ = ("_around", "changed")

    def __init__(self) -> None:
        self.changed = False

    def __enter__(self) -> CallOutcome:
        self._around = _OUTCOME.get()
        _OUTCOME.set(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Raises OutcomeUnknown where a part of the call was done before the store failed."""
        _OUTCOME.set(self._around)
        if not self.changed:
            return
        if self._around is not None:
            self._around.changed = True
        if isinstance(error, _CHANGELESS) and not isinstance(error, OutcomeUnknown):
            raise OutcomeUnknown(error.why, begun=True) from error


_OUTCOME: ContextVar[CallOutcome | None] = ContextVar("penstock_outcome", default=None)


def current_call() -> CallOutcome | None:
    return _OUTCOME.get()


def note_change() -> None:
    """The call under way, if any, has made something durable."""
    call = _OUTCOME.get()
    if call is not None:
        call.changed = True
