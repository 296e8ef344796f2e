"""Correlation: events that look for a run by its keys, as the store keeps them."""

from __future__ import annotations

from datetime import datetime, timedelta

from penstock.flow.model.plan import Emission
from penstock.flow.model.run_input import Outside
from penstock.runtime.codec.messages import encode_message
from penstock.store.rows.change import EventId, PendingEvent

RETENTION = timedelta(days=7)
NO_RUN = "no live run has its key"


def pending_event_of(emission: Emission, now: datetime) -> PendingEvent:
    """What a run fires into another."""
    event = Outside(event=emission.event, data=emission.data, set=emission.set, id=emission.id)
    return keep(emission.key, event, now)


def keep(key: dict[str, str], event: Outside, now: datetime, source: str | None = None) -> PendingEvent:
    """An event that looks for a run by its keys."""
    return PendingEvent(
        keys=tuple(key.items()),
        event=event.event,
        body=encode_message(event),
        reason=NO_RUN,
        until=now + RETENTION,
        seen=seen_by_key(event, now, source),
    )


def seen_by_key(event: Outside, now: datetime, source: str | None = None) -> EventId | None:
    """Found by key, an id is unique within its source and event."""
    scope = f"key/{event.event}" if source is None else f"key/{event.event}/from/{source}"
    return None if event.id is None else EventId(scope, event.id, now + RETENTION)
