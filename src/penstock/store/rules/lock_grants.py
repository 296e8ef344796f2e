"""Which waiting element gets a `serialize` key next, and which owner of a correlation key gets an event."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from msgspec import Struct

from penstock.store.rows.change import Change, Lock, PendingEvent, Unlock

Key = tuple[str, str]
Row = TypeVar("Row")
Post = tuple[str | None, bytes]
"""A message: its run and its body."""


class KeyChanges(Struct, frozen=True):
    """What a batch does to the lines of keys, each with the run that does it."""

    locks: list[tuple[str, Lock]]
    unlocks: list[tuple[str, Unlock]]
    asked: list[tuple[str, Key]]
    pending: list[PendingEvent]
    over: list[str]  # runs that ended: they leave every line


def key_changes(changes: Sequence[Change]) -> KeyChanges:
    """A run that ends joins no line: whoever tells it of a key would tell nobody."""
    return KeyChanges(
        [(c.run, one) for c in changes if not c.over for one in c.locks],
        [(c.run, one) for c in changes for one in c.unlocks],
        [(c.run, key) for c in changes if not c.over for key in c.keys],
        [one for c in changes for one in c.pending_events],
        [c.run for c in changes if c.over],
    )


def grants(granted: Iterable[tuple[int, str, bytes]]) -> list[Post]:
    """Notify runs that hold a key now, in the order in which they asked."""
    return [(run, body) for _, run, body in sorted(granted)]


def first_owner(owners: Mapping[Key, str], keys: Iterable[Key]) -> str | None:
    """The live run that one of the keys belongs to: the first key that has an owner decides."""
    return next((owners[key] for key in keys if key in owners), None)


def deliveries(
    waiting: Iterable[tuple[int, bytes, str, str]], owners: Mapping[Key, str]
) -> list[tuple[int, str, bytes]]:
    """Give pending events to the owners of their keys: each once, to that of its first key, the oldest event first.

    `waiting` says id, body, and name and value of the key.
    """
    given: dict[int, tuple[str, bytes]] = {}
    for id, body, name, value in sorted(waiting):
        given.setdefault(id, (owners[name, value], body))
    return [(id, run, body) for id, (run, body) in given.items()]


def placed(
    pending: Iterable[PendingEvent], owners: Mapping[Key, str]
) -> tuple[list[Post], list[PendingEvent]]:
    """Events that go to the owner of one of their keys, and those that are kept because there is none."""
    posts: list[Post] = []
    pending_events: list[PendingEvent] = []
    for one in pending:
        owner = first_owner(owners, one.keys)
        if owner is None:
            pending_events.append(one)
        else:
            posts.append((owner, one.body))
    return posts, pending_events
