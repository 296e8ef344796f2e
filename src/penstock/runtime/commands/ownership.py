"""Workflows that an application runs for itself: what people do to their runs by hand would go past the application."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from penstock.runtime.commands.verbs import VERBS
from penstock.runtime.errors import Conflict

_ACTS: ContextVar[str | None] = ContextVar("penstock_manages", default=None)


class Managed(Conflict):
    """Only the application that a workflow belongs to may do this."""

    code = "managed"

    def __init__(self, workflow: str, by: str) -> None:
        super().__init__(f"'{workflow}' belongs to {by}: only there can this be done")


class Owners(dict[str, str]):
    """Who manages a workflow of this process, by its name; the tokens under `/custom/<workflow>/` are theirs, too."""

    def validate(self, workflow: str) -> None:
        """Raises Managed where the caller is not the application itself."""
        by = self.get(workflow)
        if by is not None and _ACTS.get() != workflow:
            raise Managed(workflow, by)

    def offer(self, incident: dict[str, Any]) -> dict[str, Any]:
        """An incident without what would be refused to people, and with whose it is."""
        by = self.get(incident.get("workflow") or "")
        if by is None:
            return incident
        allowed = [action for action in incident["actions"] if action in VERBS and VERBS[action].owned]
        return {**incident, "actions": allowed, "text": f"{incident['text']}. It belongs to {by}"}

    def under(self, beginning: str) -> list[str]:
        """The workflows that others than the caller manage and whose names begin so."""
        return [name for name in self if name.startswith(beginning) and _ACTS.get() != name]


@contextmanager
def acting_for(workflow: str) -> Iterator[None]:
    """What is done meanwhile is done by the application that manages the workflow."""
    token = _ACTS.set(workflow)
    try:
        yield
    finally:
        _ACTS.reset(token)
