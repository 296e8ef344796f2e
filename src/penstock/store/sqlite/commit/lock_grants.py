"""Who holds a `serialize` key and who owns a correlation key after a change, and the letters that tell them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from penstock.store.rows.change import AT_HAND, Change, Message, PendingEvent
from penstock.store.sqlite.session import Session, unique
from penstock.store.sqlite.times import NEVER, length, micros

Key = tuple[str, str]


class Letters:
    """Messages that a piece of work makes; they are written together, in the order of their making."""

    __slots__ = ("_made", "_session")

    def __init__(self, session: Session) -> None:
        self._session = session
        self._made: list[tuple[str | None, bytes]] = []

    def post(self, run: str | None, body: bytes) -> None:
        self._made.append((run, body))

    def send(self, patience: timedelta = AT_HAND) -> list[Message]:
        """Write them. The caller has them now; others leave them alone for a while."""
        ids = self._session.numbers(len(self._made))
        messages = [Message(id, run, body) for id, (run, body) in zip(ids, self._made, strict=True)]
        ready_at = self._session.now + length(patience)
        self._session.many("insert_message", [(m.id, m.run, m.body, ready_at) for m in messages])
        return messages


def grant_locks(session: Session, changes: list[Change], letters: Letters) -> None:
    """Put elements into their queues and out of them, and give what is free to the first in line."""
    asked = [(c.run, lock) for c in changes for lock in c.locks]
    left = [(c.run, unlock) for c in changes for unlock in c.unlocks]
    over = [c.run for c in changes if c.over]
    if not (asked or left or over):
        return
    numbers = session.numbers(len(asked))
    session.many("drop_lock", [(unlock.key, run, unlock.firing, unlock.index) for run, unlock in left])
    rows = [
        (lock.key, run, lock.firing, lock.index, lock.most, lock.body, number)
        for (run, lock), number in zip(asked, numbers, strict=True)
    ]
    session.many("insert_lock", rows)
    freed = [str(key) for (key,) in session.rows_of_runs("drop_locks_of_runs", over)]
    touched = [lock.key for _, lock in asked] + [unlock.key for _, unlock in left] + freed
    granted = [row for key in set(touched) for row in _grant(session, key)]
    for _, run, body in sorted(granted):  # who asked first is told first
        letters.post(run, body)


def _grant(session: Session, key: str) -> list[tuple[int, str, bytes]]:
    """Give a key to the first in its line; their numbers, runs and letters."""
    found = session.row("locks_held", (key,))
    held: int = found[0] if found else 0
    granted, told = [], []
    # Row by row: a queue may be long, and only its first few are looked at.
    for number, run, firing, index, most, body in session.walk("locks_waiting", (key,)):
        if held >= most:
            break
        held += 1
        granted.append((run, firing, index, key))
        told.append((number, run, body))
    session.many("grant_lock", granted)
    return told


def hand_over_kept(session: Session, changes: list[Change], letters: Letters) -> None:
    """Queue runs for their keys, let go of those of ended runs, and give kept events to whoever owns a key now."""
    asked = [(name, value, c.run) for c in changes for name, value in c.keys]
    over = [c.run for c in changes if c.over]
    kept = [one for c in changes for one in c.kept]
    if not (asked or over or kept):
        return
    ownerless = [
        key for key in unique((name, value) for name, value, _ in asked) if not owner_of(session, [key])
    ]
    rows = [(*key, number) for key, number in zip(asked, session.numbers(len(asked)), strict=True)]
    session.many("insert_correlation", rows)
    freed = session.rows_of_runs("drop_correlations_of_runs", over)
    handed_on = [(name, value) for name, value, number in freed if _was_first(session, name, value, number)]
    deliver_kept(session, ownerless + handed_on, letters)
    for one in kept:
        if not note_seen(session, one):
            continue
        owner = owner_of(session, one.keys)
        if owner is None:
            insert_kept(session, one)
        else:
            letters.post(owner, one.body)


def note_seen(session: Session, kept: PendingEvent) -> bool:
    """Note the id of an event; False where it came before."""
    seen = kept.seen
    if seen is None:
        return True
    until = NEVER if seen.until is None else micros(seen.until)
    return session.run("insert_seen", (seen.scope, seen.id, until, None, session.now)) > 0


def _was_first(session: Session, name: str, value: str, number: int) -> bool:
    """Whether who left stood before all who are left: only then has the key a new owner."""
    first = session.row("first_in_line", (name, value))
    return first is not None and number < first[0]


def owner_of(session: Session, keys: Iterable[Key]) -> str | None:
    """The live run that one of the keys belongs to: the first key that has an owner decides."""
    for key in keys:
        found = session.row("key_owner", key)
        if found is not None:
            return str(found[0])
    return None


def deliver_kept(session: Session, keys: Iterable[Key], letters: Letters) -> None:
    """Give the events that are kept for these keys to their owners, each event once, the oldest first."""
    given: dict[int, tuple[str, bytes]] = {}
    for key in sorted(set(keys)):
        owner = session.row("key_owner", key)
        if owner is None:
            continue
        for id, body in session.rows("kept_for_key", (*key, session.now)):
            given.setdefault(id, (owner[0], body))
    for id, (run, body) in sorted(given.items()):
        drop_kept(session, id)
        letters.post(run, body)


def insert_kept(session: Session, kept: PendingEvent) -> None:
    """Keep an event for whoever will own one of its keys."""
    (id,) = session.numbers(1)
    session.run("insert_kept", (id, kept.event, kept.body, kept.reason, session.now, micros(kept.until)))
    session.many("insert_kept_key", [(name, value, id) for name, value in kept.keys])


def drop_kept(session: Session, id: int) -> None:
    """It is kept no longer."""
    session.run("drop_kept", (id,))
    session.run("drop_kept_keys", (id,))
