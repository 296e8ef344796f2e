"""Which events are duplicates: the id of an event may come once within its scope."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from penstock.store.rows.change import Change

Pair = tuple[str, str]
"""A scope and an id, or a workflow and a start key."""


def event_ids_of(changes: Sequence[Change]) -> list[Pair]:
    """The ids that must not come twice, each with its scope."""
    return [(one.scope, one.id) for change in changes for one in change.seen]


def is_duplicate(change: Change, known: AbstractSet[Pair]) -> bool:
    """Whether a change brings an event whose id is known, or one event twice."""
    ids = event_ids_of([change])
    return len(set(ids)) < len(ids) or not known.isdisjoint(ids)
