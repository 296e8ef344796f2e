"""Who holds a `serialize` key and who owns a correlation key after a change, and the letters that tell them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

from penstock.store.postgres.commit.column_arrays import Key, columns, key_number, lock_number
from penstock.store.postgres.database import Work
from penstock.store.rows.change import AT_HAND, Change, Message, PendingEvent


class Letters:
    """Messages that a piece of work makes; they are written together, in the order of their making."""

    __slots__ = ("_made",)

    def __init__(self) -> None:
        self._made: list[tuple[str | None, bytes]] = []

    def post(self, run: str | None, body: bytes) -> None:
        self._made.append((run, body))

    async def send(self, work: Work, now: datetime, patience: timedelta = AT_HAND) -> list[Message]:
        """Write them. The caller has them now; others leave them alone for a while."""
        if not self._made:
            return []
        made = await work.rows("insert_message", ready_at=now + patience, **columns("run body", self._made))
        return sorted((Message(*row) for row in made), key=lambda message: message.id)


async def pass_keys_on(work: Work, changes: list[Change], freed: list[Any], letters: Letters) -> None:
    """Change the lines of all keys that the changes touch; `freed` are those that ended runs leave, as name and value.

    A `serialize` key has no value.
    """
    locks = {one.key for c in changes for one in c.locks} | {one.key for c in changes for one in c.unlocks}
    locks |= {row[0] for row in freed if row[1] is None}
    names = dict.fromkeys(key for c in changes for key in c.keys)
    names.update(dict.fromkeys((row[0], row[1]) for row in freed if row[1] is not None))
    kept = {key for c in changes for one in c.kept for key in one.keys}
    if not (locks or names or any(c.kept for c in changes)):
        return
    await lock_keys(work, locks, names.keys() | kept)
    over = [c.run for c in changes if c.over]
    if locks:
        await _locks(work, changes, over, sorted(locks), letters)
    if names or any(c.kept for c in changes):
        await _correlations(work, changes, over, list(names), letters)


async def lock_keys(work: Work, locks: Iterable[str], keys: Iterable[Key]) -> None:
    """Be alone with these keys until the end of the transaction."""
    numbers = {lock_number(key) for key in locks} | {key_number(key) for key in keys}
    await work.rows("lock_keys", keys=sorted(numbers))


async def _locks(
    work: Work, changes: list[Change], over: list[str], keys: list[str], letters: Letters
) -> None:
    """Put elements into their queues and out of them, and give what is free to the first in line."""
    left = [(one.key, c.run, one.firing, one.index) for c in changes for one in c.unlocks]
    if left:
        await work.rows("drop_lock", **columns("key run firing idx", left))
    if over:
        await work.rows("drop_locks_of_run", runs=over)
    asked = [
        (one.key, c.run, one.firing, one.index, one.most, one.body)
        for c in changes
        if not c.over
        for one in c.locks
    ]
    if asked:
        await work.rows("insert_lock", **columns("key run firing idx most body", asked))
    granted = await work.rows("grant_lock", keys=keys)
    for row in sorted(granted, key=lambda row: int(row["number"])):
        letters.post(row["run"], row["body"])


async def _correlations(
    work: Work, changes: list[Change], over: list[str], keys: list[Key], letters: Letters
) -> None:
    """Queue runs for their keys, let go of those of ended runs, and give kept events to whoever owns a key now."""
    before = await owners_of(work, keys) if keys else {}
    if over:
        await work.rows("drop_correlations_of_run", runs=over)
    asked = [(*key, c.run) for c in changes if not c.over for key in c.keys]
    if asked:
        await work.rows("insert_correlation", **columns("name value run", asked))
    if keys:
        after = await owners_of(work, keys)
        # Only to a new owner: the former one may have left the event lying, and would be given it for ever.
        gained = {key: run for key, run in after.items() if before.get(key) != run}
        await _deliver_kept(work, gained, letters)
    looking = [one for c in changes for one in c.kept]
    if looking:
        await _keep_or_post(work, await note_seen(work, looking), letters)


async def note_seen(work: Work, kept: Sequence[PendingEvent]) -> list[PendingEvent]:
    """Note the ids of events; those that did not come before."""
    ids = {(one.seen.scope, one.seen.id): one.seen.until for one in reversed(kept) if one.seen is not None}
    if not ids:
        return list(kept)
    rows = [(*key, until, None) for key, until in ids.items()]
    new = {(row[0], row[1]) for row in await work.rows("insert_seen", **columns("scope id until run", rows))}
    fresh: list[PendingEvent] = []
    for one in kept:
        key = None if one.seen is None else (one.seen.scope, one.seen.id)
        if key is None or key in new:
            fresh.append(one)
            new.discard(key)
    return fresh


async def _keep_or_post(work: Work, looking: list[PendingEvent], letters: Letters) -> None:
    """An event goes to the owner of its key, or is kept."""
    owners = await owners_of(work, {key for one in looking for key in one.keys})
    keep: list[PendingEvent] = []
    for one in looking:
        owner = first_owner(owners, one.keys)
        if owner is None:
            keep.append(one)
        else:
            letters.post(owner, one.body)
    if keep:
        await insert_kept(work, keep)


async def owners_of(work: Work, keys: Iterable[Key]) -> dict[Key, str]:
    """Key → the live run that it belongs to, where there is one."""
    found = await work.rows("key_owner", **columns("name value", sorted(set(keys))))
    return {(row[0], row[1]): row[2] for row in found}


def first_owner(owners: dict[Key, str], keys: Iterable[Key]) -> str | None:
    """The first key that has an owner decides."""
    return next((owners[key] for key in keys if key in owners), None)


async def _deliver_kept(work: Work, owners: dict[Key, str], letters: Letters) -> None:
    """Give the events that are kept for these keys to their owners, each event once."""
    if not owners:
        return
    waiting = await work.rows("kept_for_key", **columns("name value", list(owners)))
    given: dict[int, tuple[str, bytes]] = {}
    for id, body, name, value in waiting:
        given.setdefault(id, (owners[name, value], body))
    if not given:
        return
    # An event with another key may have been taken under that key meanwhile: only who deletes it has it.
    dropped = {row[0] for row in await work.rows("drop_kept", ids=sorted(given))}
    for id, (run, body) in sorted(given.items()):
        if id in dropped:
            letters.post(run, body)


async def insert_kept(work: Work, kept: Sequence[PendingEvent]) -> None:
    """Keep events for whoever will own one of their keys."""
    rows = [(one.event, one.body, one.reason, one.until) for one in kept]
    ids = sorted(row[0] for row in await work.rows("insert_kept", **columns("event body reason until", rows)))
    keys = [(*key, id) for id, one in zip(ids, kept, strict=True) for key in one.keys]
    if keys:
        await work.rows("insert_kept_key", **columns("name value kept", keys))
