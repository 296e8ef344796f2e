"""What is answered where something cannot be: in the shapes that clients of task services know."""

from __future__ import annotations

from typing import Any

from penstock import StoreUnavailable


class Refused(Exception):
    """An answer that is not good: its status and its body."""

    def __init__(self, status: int, body: Any) -> None:
        super().__init__(f"{status}: {body}")
        self.status, self.body = status, body


def unknown() -> Refused:
    """There is nothing with that id."""
    return Refused(404, {"detail": "Not found."})


def conflict(message: str) -> Refused:
    """It is not in a state for that."""
    return Refused(409, {"detail": message})


def busy() -> Refused:
    """Others changed the same thing again and again."""
    return Refused(503, {"detail": "Others change the same thing just now: try again."})


def made_but_not_begun(id: str, error: Exception) -> Refused:
    """A release was stored, and the database failed before it began."""
    why = error.why if isinstance(error, StoreUnavailable) else error
    made = f"Release {id} was made and will begin by itself, but not just now ({why})"
    return Refused(503, {"detail": f"{made}: do not make it again."})


class FieldErrors(Refused):
    """Fields that cannot be so, each with its sentences."""

    def __init__(self, errors: dict[str, list[str]]) -> None:
        super().__init__(400, errors)


def invalid(field: str, sentence: str) -> FieldErrors:
    """One field cannot be so."""
    return FieldErrors({field: [sentence]})
