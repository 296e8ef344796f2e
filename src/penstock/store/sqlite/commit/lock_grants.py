"""Updates the queues of `serialize` and correlation keys; `rules.lock_grants` decides the grants."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import timedelta

from penstock.store.rows.change import HANDOVER_TIMEOUT, Change, Message, PendingEvent
from penstock.store.rules.lock_grants import (
    Key,
    KeyChanges,
    Post,
    deliveries,
    grants,
    key_changes,
    placed,
)
from penstock.store.sqlite.session import NEVER, Session, length, micros, unique


def insert_messages(
    session: Session, posts: Sequence[Post], timeout: timedelta = HANDOVER_TIMEOUT
) -> list[Message]:
    """Write messages, in this order. The caller has them now; others leave them alone for a while."""
    if not posts:
        return []
    ids = session.numbers(len(posts))
    messages = [Message(id, run, body) for id, (run, body) in zip(ids, posts, strict=True)]
    ready_at = session.now + length(timeout)
    session.many("insert_message", [(m.id, m.run, m.body, ready_at) for m in messages])
    return messages


def settle_keys(session: Session, changes: Sequence[Change]) -> list[Post]:
    """Change the lines of all keys that the changes touch; the messages to those who gain by it."""
    lines = key_changes(changes)
    return _grant_locks(session, lines) + _hand_over_events(session, lines)


def _grant_locks(session: Session, lines: KeyChanges) -> list[Post]:
    """Put elements into their queues and out of them, and give what is free to the first in line."""
    if not (lines.locks or lines.unlocks or lines.over):
        return []
    session.many("drop_lock", [(one.key, run, one.firing, one.index) for run, one in lines.unlocks])
    numbers = session.numbers(len(lines.locks))
    rows = [
        (one.key, run, one.firing, one.index, one.limit, one.body, number)
        for (run, one), number in zip(lines.locks, numbers, strict=True)
    ]
    session.many("insert_lock", rows)
    keys = {one.key for _, one in lines.locks} | {one.key for _, one in lines.unlocks}
    keys |= {key for (key,) in session.rows_of_runs("drop_locks_of_runs", lines.over)}
    return grants([row for key in keys for row in _grant(session, key)])


def _grant(session: Session, key: str) -> list[tuple[int, str, bytes]]:
    """Give a key to the first in its line; their numbers, runs and messages."""
    found = session.row("locks_held", (key,))
    held: int = found[0] if found else 0
    granted, told = [], []
    # Row by row: a queue may be long, and only its first few are looked at.
    for number, run, firing, index, limit, body in session.walk("locks_waiting", (key,)):
        if held >= limit:
            break
        held += 1
        granted.append((run, firing, index, key))
        told.append((number, run, body))
    session.many("grant_lock", granted)
    return told


def _hand_over_events(session: Session, lines: KeyChanges) -> list[Post]:
    """Queue runs for their keys, let go of those of ended runs, and give pending events to the new owners of keys."""
    if not (lines.asked or lines.over or lines.pending):
        return []
    asked = [key for _, key in lines.asked]
    owners = owners_of(session, asked)
    gained = [key for key in unique(asked) if key not in owners]
    rows = [
        (*key, run, number)
        for (run, key), number in zip(lines.asked, session.numbers(len(asked)), strict=True)
    ]
    session.many("insert_correlation", rows)
    freed = session.rows_of_runs("drop_correlations_of_runs", lines.over)
    gained += [(name, value) for name, value, number in freed if _was_first(session, name, value, number)]
    posts = _deliver(session, gained)
    fresh = [one for one in lines.pending if note_seen(session, one)]
    passed_on, kept = placed(fresh, owners_of(session, [key for one in fresh for key in one.keys]))
    for one in kept:
        insert_pending(session, one)
    return posts + passed_on


def note_seen(session: Session, event: PendingEvent) -> bool:
    """Note the id of an event; False where it came before."""
    seen = event.seen
    if seen is None:
        return True
    until = NEVER if seen.until is None else micros(seen.until)
    return session.run("insert_seen", (seen.scope, seen.id, until, None, session.now)) > 0


def _was_first(session: Session, name: str, value: str, number: int) -> bool:
    """Whether who left stood before all who are left: only then has the key a new owner."""
    first = session.row("first_in_line", (name, value))
    return first is not None and number < first[0]


def owners_of(session: Session, keys: Iterable[Key]) -> dict[Key, str]:
    """Key → the live run that it belongs to, where there is one."""
    found = ((key, session.row("key_owner", key)) for key in keys)
    return {key: row[0] for key, row in found if row is not None}


def _deliver(session: Session, keys: Sequence[Key]) -> list[Post]:
    """Give the events that are pending for these keys to their owners."""
    owners = owners_of(session, keys)
    waiting = [(*row, *key) for key in owners for row in session.rows("kept_for_key", (*key, session.now))]
    posts: list[Post] = []
    for id, run, body in deliveries(waiting, owners):
        drop_pending(session, id)
        posts.append((run, body))
    return posts


def insert_pending(session: Session, event: PendingEvent) -> None:
    """Store an event for the future owner of one of its keys."""
    (id,) = session.numbers(1)
    session.run("insert_kept", (id, event.event, event.body, event.reason, session.now, micros(event.until)))
    session.many("insert_kept_key", [(name, value, id) for name, value in event.keys])


def drop_pending(session: Session, id: int) -> None:
    """It is pending no longer."""
    session.run("drop_kept", (id,))
    session.run("drop_kept_keys", (id,))
