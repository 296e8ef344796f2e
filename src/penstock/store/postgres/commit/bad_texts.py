"""Texts that PostgreSQL cannot store: one of them must not cost a whole batch its transaction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from penstock.store.errors import BadText
from penstock.store.rows.change import Change, NewRun, PendingEvent


def reject_bad_texts(changes: Sequence[Change]) -> None:
    """Raise BadText, which names the runs, where a change has a text with a NUL or half a surrogate pair."""
    # A plain change of a run that is there has no text from outside.
    some = [change for change in changes if change.has_extras or change.new is not None]
    if _is_bad(text for change in some for text in _texts(change)):
        raise BadText([change.run for change in some if _is_bad(_texts(change))])


def _is_bad(texts: Iterable[str]) -> bool:
    together = "".join(texts)
    if together.isascii():
        return "\0" in together
    try:
        return b"\0" in together.encode()
    except UnicodeEncodeError:
        return True


def _texts(change: Change) -> Iterator[str]:
    if change.new is not None:
        yield from _of_new(change.new)
    for name, value in change.keys:
        yield name
        yield value
    for seen in change.seen:
        yield seen.scope
        yield seen.id
    for pending_event in change.pending_events:
        yield from _of_pending_event(pending_event)
    for audit in change.audits:
        yield from (audit.actor, audit.ip or "", audit.action, audit.target, audit.reason or "")
    yield from (lock.key for lock in change.locks)
    yield from (unlock.key for unlock in change.unlocks)


def _of_new(new: NewRun) -> Iterator[str]:
    yield new.subject or ""
    if new.start_key is not None:
        yield new.start_key[0]
    yield new.labels
    if "\\u" in new.labels:  # an escape may stand for what cannot be kept
        for name, value in msgspec.json.decode(new.labels, type=dict[str, str]).items():
            yield name
            yield value


def _of_pending_event(pending_event: PendingEvent) -> Iterator[str]:
    yield pending_event.event
    for name, value in pending_event.keys:
        yield name
        yield value
    if pending_event.seen is not None:
        yield pending_event.seen.scope
        yield pending_event.seen.id
