"""What can go wrong with an expression: its text is bad, or its evaluation fails."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from itertools import islice

import msgspec

_MAX_COMPARED, _MAX_LENGTH = 200, 48


class Located(Exception):
    """An error with a stable code and a 1-based place in the source text; its text is one plain sentence."""

    def __init__(
        self, code: str, message: str, line: int = 1, column: int = 1, source: str = "", path: str = ""
    ) -> None:
        super().__init__(code, message, line, column, source, path)
        self.code, self.message, self.line, self.column = code, message, line, column
        self.source, self.path = source, path

    def __str__(self) -> str:
        where = f"line {self.line}, column {self.column}"
        where = f"In `{self.path}`, {where}" if self.path else where.capitalize()
        return f"{where}: {self.message}" + ("" if self.message.endswith("?") else ".")


class ExpressionError(Located):
    """The source text is not an expression that Penstock takes."""


class EvaluationError(Located):
    """The expression is well formed, but has no value in this scope."""


class SourcePosition(msgspec.Struct, frozen=True):
    """A place in a source text; line and column are only worked out when an error needs them."""

    source: str
    at: int

    def position(self) -> tuple[int, int]:
        """The 1-based line and column."""
        start = self.source.rfind("\n", 0, self.at) + 1
        return self.source.count("\n", 0, self.at) + 1, self.at - start + 1

    def error(self, code: str, message: str) -> ExpressionError:
        """The error that says why the text at this place is refused."""
        return ExpressionError(code, message, *self.position(), source=self.source)


class Fault(Exception):
    """An evaluation error on its way up: cheap to make, for `||` may yet absorb it."""

    def __init__(
        self,
        code: str,
        message: str,
        place: SourcePosition | None = None,
        known: Iterable[object] = (),
        key: str = "",
    ) -> None:
        super().__init__(code)
        self.code, self.message, self.place = code, message, place
        self.known, self.key = known, key

    @property
    def final(self) -> bool:
        """Whether no `||` or `&&` may absorb it."""
        return self.code == "cost_exceeded"

    def error(self) -> EvaluationError:
        """The public error, with the place, and with the nearest known key where a key was missing."""
        place = self.place or SourcePosition("", 0)
        message = self.message + nearest(self.key, self.known) if self.key else self.message
        return EvaluationError(self.code, message, *place.position(), source=place.source)


def nearest(name: str, known: Iterable[object]) -> str:
    """`; did you mean …?` where a known name is close to `name`, else nothing."""
    close = nearest_name(name, known)
    return "" if close is None else f"; did you mean `{close}`?"


def nearest_name(name: str, known: Iterable[object]) -> str | None:
    """The known name that is close to `name`, if any."""
    # Long names and many of them would take seconds to compare.
    alike = (each for each in known if type(each) is str and abs(len(each) - len(name)) <= 4)
    compared = islice(alike, _MAX_COMPARED if len(name) <= _MAX_LENGTH else 0)
    lowered = {each.lower(): each for each in compared}
    close = get_close_matches(name.lower(), lowered, n=1, cutoff=0.6)
    return lowered[close[0]] if close else None
