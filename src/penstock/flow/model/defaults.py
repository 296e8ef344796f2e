"""Defaults: what holds for a step where neither it nor the workflow's `defaults` says anything."""

from __future__ import annotations

from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import asdict

from penstock.flow.model import definition, retry_policy

T = TypeVar("T")


def pick(own: T | None, default: T | None, otherwise: T) -> T:
    """The step's own word, else that of the workflow, else the standard."""
    if own is not None:
        return own
    return otherwise if default is None else default


def written(own: Struct | None, default: Struct | None) -> dict[str, Any]:
    """The fields that a step or the workflow's `defaults` gives; the step's own value counts."""
    found = {}
    for each in (default, own):
        pairs = asdict(each).items() if each is not None else ()
        found.update({name: value for name, value in pairs if value is not None})
    return found


def backoff_of(own: definition.Backoff | None, default: definition.Backoff | None) -> retry_policy.Backoff:
    return retry_policy.Backoff(**written(own, default))


def timeouts_of(
    own: definition.Timeouts | None, default: definition.Timeouts | None
) -> retry_policy.Timeouts:
    return retry_policy.Timeouts(**written(own, default))
