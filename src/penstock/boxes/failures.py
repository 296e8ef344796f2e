"""How a built-in task fails: one plain sentence, its kind, and whether a retry could help."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from penstock.flow.model.run import Failure
from penstock.flow.model.run_input import Failed
from penstock.flow.values.duration import parse_duration


class Failing(Exception):
    """Ends the attempt of a built-in task. `kind` is one of those of R3."""

    def __init__(
        self,
        message: str,
        kind: str = "error",
        *,
        retry: bool = True,
        retry_after: timedelta | None = None,
        detail: Any = None,
    ) -> None:
        super().__init__(message)
        self.outcome = Failed(error=Failure(kind, message, detail), retry=retry, retry_after=retry_after)


class Unusable(Failing):
    """The call was made, but its answer is unusable: the work may have been done."""


class Unready(Failing):
    """The call was never made: something that it needs is unavailable at the moment."""


def wrong(message: str) -> Failing:
    """What the step asks for cannot be: another try would not help."""
    return Failing(message, "fatal", retry=False)


def span_of(value: Any, name: str) -> timedelta:
    """A duration among the parameters. Raises Failing."""
    try:
        return parse_duration(value)
    except ValueError as error:
        raise wrong(f"`{name}` {value!r} {error}") from None
