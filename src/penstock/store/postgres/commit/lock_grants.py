"""Updates the queues of `serialize` and correlation keys; `rules.lock_grants` decides the grants."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

from penstock.store.postgres.commit.column_arrays import advisory
from penstock.store.postgres.database import Work
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


async def insert_messages(
    work: Work, posts: Sequence[Post], now: datetime, timeout: timedelta = HANDOVER_TIMEOUT
) -> list[Message]:
    """Write messages, in this order. The caller has them now; others leave them alone for a while."""
    made = await work.many("insert_message", "run body", posts, ready_at=now + timeout)
    return sorted((Message(*row) for row in made), key=lambda message: message.id)


async def settle_keys(work: Work, changes: Sequence[Change], freed: Sequence[Any]) -> list[Post]:
    """Change the lines of all keys that the changes touch; the messages to those who gain by it.

    `freed` are the keys that ended runs leave, as name and value: a `serialize` key has no value.
    """
    lines = key_changes(changes)
    locks = {one.key for _, one in lines.locks} | {one.key for _, one in lines.unlocks}
    locks |= {row[0] for row in freed if row[1] is None}
    keys = dict.fromkeys(key for _, key in lines.asked)
    keys.update(dict.fromkeys((row[0], row[1]) for row in freed if row[1] is not None))
    if not (locks or keys or lines.pending):
        return []
    await lock_keys(work, locks, keys.keys() | {key for one in lines.pending for key in one.keys})
    posts = await _grant_locks(work, lines, sorted(locks)) if locks else []
    return posts + await _hand_over_events(work, lines, list(keys))


async def lock_keys(work: Work, locks: Iterable[str], keys: Iterable[Key]) -> None:
    """Be alone with these keys until the end of the transaction."""
    numbers = {advisory("lock", key) for key in locks} | {advisory("key", *key) for key in keys}
    await work.rows("lock_keys", keys=sorted(numbers))


async def _grant_locks(work: Work, lines: KeyChanges, keys: list[str]) -> list[Post]:
    """Put elements into their queues and out of them, and give what is free to the first in line."""
    left = [(one.key, run, one.firing, one.index) for run, one in lines.unlocks]
    await work.many("drop_lock", "key run firing idx", left)
    if lines.over:
        await work.rows("drop_locks_of_run", runs=lines.over)
    asked = [(one.key, run, one.firing, one.index, one.limit, one.body) for run, one in lines.locks]
    await work.many("insert_lock", "key run firing idx most body", asked)
    granted = await work.rows("grant_lock", keys=keys)
    return grants([(row["number"], row["run"], row["body"]) for row in granted])


async def _hand_over_events(work: Work, lines: KeyChanges, keys: list[Key]) -> list[Post]:
    """Queue runs for their keys, let go of those of ended runs, and give pending events to the new owners of keys."""
    posts: list[Post] = []
    if keys:
        before = await owners_of(work, keys)
        if lines.over:
            await work.rows("drop_correlations_of_run", runs=lines.over)
        asked = [(*key, run) for run, key in lines.asked]
        await work.many("insert_correlation", "name value run", asked)
        after = await owners_of(work, keys)
        # Only to a new owner: the former one may have left the event lying, and would be given it for ever.
        posts += await _deliver(work, {key: run for key, run in after.items() if before.get(key) != run})
    if lines.pending:
        fresh = await note_seen(work, lines.pending)
        passed_on, kept = placed(fresh, await owners_of(work, {key for one in fresh for key in one.keys}))
        await insert_pending(work, kept)
        posts += passed_on
    return posts


async def note_seen(work: Work, events: Sequence[PendingEvent]) -> list[PendingEvent]:
    """Note the ids of events; those that did not come before."""
    ids = {(one.seen.scope, one.seen.id): one.seen.until for one in reversed(events) if one.seen is not None}
    rows = [(*key, until, None) for key, until in ids.items()]
    new = {(row[0], row[1]) for row in await work.many("insert_seen", "scope id until run", rows)}
    fresh: list[PendingEvent] = []
    for one in events:
        key = None if one.seen is None else (one.seen.scope, one.seen.id)
        if key is None or key in new:
            fresh.append(one)
            new.discard(key)
    return fresh


async def owners_of(work: Work, keys: Iterable[Key]) -> dict[Key, str]:
    """Key → the live run that it belongs to, where there is one."""
    found = await work.many("key_owner", "name value", sorted(set(keys)))
    return {(row[0], row[1]): row[2] for row in found}


async def _deliver(work: Work, owners: dict[Key, str]) -> list[Post]:
    """Give the events that are pending for these keys to their owners."""
    waiting = await work.many("kept_for_key", "name value", owners)
    given = deliveries([tuple(row) for row in waiting], owners)
    if not given:
        return []
    # An event with another key may have been taken under that key meanwhile: only who deletes it has it.
    dropped = {row[0] for row in await work.rows("drop_kept", ids=[id for id, _, _ in given])}
    return [(run, body) for id, run, body in given if id in dropped]


async def insert_pending(work: Work, events: Sequence[PendingEvent]) -> None:
    """Store events for the future owners of their keys."""
    rows = [(one.event, one.body, one.reason, one.until) for one in events]
    ids = sorted(row[0] for row in await work.many("insert_kept", "event body reason until", rows))
    keys = [(*key, id) for id, one in zip(ids, events, strict=True) for key in one.keys]
    await work.many("insert_kept_key", "name value kept", keys)
