"""`taken-address`: hooks that nobody could call."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.flow.checks.findings import Finding
from penstock.flow.model.definition import Definition

TAKEN = {"callback": "functions that call back", "s3": "object stores"}
"""What `/hooks/<name>/…` is for, where it is not for the events of a workflow of that name."""


def taken_addresses(definition: Definition) -> Iterator[Finding]:
    """Every event whose hook would be at an address that is for something else."""
    user = TAKEN.get(definition.name)
    for event in definition.external or () if user is not None else ():
        if event.from_ is None or event.from_.kind != "webhook":
            continue
        yield Finding(
            code="taken-address",
            severity="error",
            event=event.name,
            message=f"The hook of '{event.name}' could never be called: /hooks/{definition.name}/… is for {user}.",
            hint=f"Give the workflow another name than '{definition.name}'.",
        )
