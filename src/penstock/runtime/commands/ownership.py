"""Workflows that an application runs for itself: people may not change their runs behind its back."""

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
    """The owner of each workflow of this process that has one; it also owns the tokens under `/custom/<workflow>/`."""

    def authorize(self, workflow: str) -> None:
        """Raises Managed if the workflow has an owner and the caller is somebody else."""
        by = self.get(workflow)
        if by is not None and _ACTS.get() != workflow:
            raise Managed(workflow, by)

    def offer(self, incident: dict[str, Any]) -> dict[str, Any]:
        """An incident with only the actions that people may take, and with the owner of its workflow."""
        by = self.get(incident.get("workflow") or "")
        if by is None:
            return incident
        allowed = [action for action in incident["actions"] if action in VERBS and VERBS[action].owned]
        return {**incident, "actions": allowed, "text": f"{incident['text']}. It belongs to {by}"}

    def under(self, beginning: str) -> list[str]:
        """The workflows with this prefix that belong to an owner other than the caller."""
        return [name for name in self if name.startswith(beginning) and _ACTS.get() != name]


@contextmanager
def acting_for(workflow: str) -> Iterator[None]:
    """Act as the application that owns the workflow."""
    token = _ACTS.set(workflow)
    try:
        yield
    finally:
        _ACTS.reset(token)
