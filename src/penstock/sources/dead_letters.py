"""Messages and starts that cannot be taken, stored where people look for them.

A start is kept whole: once what was wrong is mended, `penstock redeliver` makes its run.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from hashlib import blake2b
from typing import Any

from msgspec import Struct, to_builtins

from penstock.flow.compile.compile import Flow
from penstock.flow.errors import PenstockError
from penstock.flow.model.run_input import Outside
from penstock.runtime.codec.decoder import CorruptRecord
from penstock.runtime.codec.messages import decode_message, encode_message
from penstock.runtime.commands.commands import Commands
from penstock.runtime.decisions.correlation import RETENTION
from penstock.runtime.errors import Conflict, IdempotencyMismatch, Invalid
from penstock.runtime.node.flow_cache import FlowCache
from penstock.sources.errors import CallRefused
from penstock.sources.hooks.envelope import Message as TopicMessage
from penstock.sources.hooks.envelope import messages_of_topic
from penstock.sources.message_mapping import event_asked, start_asked
from penstock.sources.triggers.lease import read_state
from penstock.sources.triggers.trigger import Start, Trigger
from penstock.store.protocol import InboundEvents
from penstock.store.rows.access import AuditRow
from penstock.store.rows.change import EventId, PendingEvent
from penstock.topics.bus import Message

TOPIC = "topic"
MAX_SHOWN_BYTES = 64 * 1024
"""Bytes of an unreadable message that are stored for people to read."""


class RefusedStart(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A run that could not be made, and all that it takes to make it."""

    workflow: str
    start_key: str
    subject: str | None = None
    input: Any = None
    tags: dict[str, str] = {}


class DeadLetter(Struct, frozen=True, kw_only=True):
    """What is kept of a message. `again`: it can be read, and all of it is here."""

    workflow: str
    again: bool
    external: str | None = None
    id: str | None = None
    headers: dict[str, str] = {}
    body: str | None = None
    body_base64: str | None = None

    @property
    def content(self) -> bytes:
        return b64decode(self.body_base64) if self.body_base64 is not None else (self.body or "").encode()


async def add_dead_start(
    store: InboundEvents, workflow: str, kind: str, start: Start, error: PenstockError, now: datetime
) -> None:
    """Store a start by a source of that kind, once, however often it is reported. Raises StoreError."""
    reason = f"no run of '{workflow}' was started for {(start.subject or '')[:200]}: {error}"
    key, tags = f"{kind}:{start.key}", dict(start.tags or {})
    said = RefusedStart(workflow=workflow, start_key=key, subject=start.subject, input=start.input, tags=tags)
    event = Outside(event=workflow, data=to_builtins(said), id=key)
    await _add(
        store, event, reason, now, EventId(f"aside/{workflow}//object", _digest_of(key), now + RETENTION)
    )


async def add_dead_notice(
    store: InboundEvents, name: str, record: Any, error: PenstockError, now: datetime
) -> str:
    """Keep what an object store told and cannot be read, once however often it is told; in which words.

    Raises StoreError.
    """
    reason = f"a record in a notification of store '{name}' was set aside: {error}"
    event = Outside(event=name, data={"store": name, "record": to_builtins(record)})
    seen = EventId(f"aside/s3/{name}", _digest(encode_message(event)), now + RETENTION)
    await _add(store, event, reason, now, seen)
    return reason


async def try_again(
    store: InboundEvents, flows: FlowCache, commands: Commands, id: int, audit: AuditRow | None
) -> bool:
    """Do what a start or a message that was set aside asks for; False: this is none. Raises why it cannot, also now."""
    for row in await store.undelivered(id - 1, 1):
        if row.id != id or row.keys:
            continue
        data = _data(row.body)
        start, message = read_state(data, RefusedStart), read_state(data, DeadLetter)
        if message is not None and message.again:
            return await _take_again(flows, commands, message) and await store.settle(
                id, deliver=False, audit=audit
            )
        if start is not None:
            with suppress(IdempotencyMismatch):  # it was reported again meanwhile, and taken
                await commands.start_once(
                    start.workflow,
                    subject=start.subject,
                    input=start.input,
                    tags=start.tags,
                    idempotency_key=start.start_key,
                )
            return await store.settle(id, deliver=False, audit=audit)
    return False


async def _take_again(flows: FlowCache, commands: Commands, dead_letter: DeadLetter) -> bool:
    """Do what the message asks of the newest version; False: that takes no messages. Raises why it cannot."""
    flow, _ = await flows.newest(dead_letter.workflow)
    messages = messages_of_topic(dead_letter.headers, dead_letter.content, dead_letter.id)
    if dead_letter.external is not None:
        return await _fire(flow, commands, dead_letter.external, messages)
    source = flow.definition.source
    if source is None or source.kind != TOPIC:
        return False
    for each in messages:
        if (asked := start_asked(source.options, each)) is None:
            continue
        with suppress(IdempotencyMismatch):  # it came again meanwhile, and was taken
            await asked.begin(commands, flow.name, TOPIC)
    return True


async def _fire(flow: Flow, commands: Commands, event: str, messages: list[TopicMessage]) -> bool:
    says = next((each.from_ for each in flow.definition.external or () if each.name == event), None)
    if says is None or says.kind != TOPIC:
        return False
    for each in messages:
        if (asked := event_asked(says, each)) is not None:
            await asked.fire(commands, event, flow.name, TOPIC)
    return True


def _data(body: bytes) -> Any:
    try:
        event = decode_message(body)
    except CorruptRecord:
        return None
    return event.data if isinstance(event, Outside) else None


async def add_dead_message(
    trigger: Trigger, message: Message, error: PenstockError, *, event: str | None, bus: str, topic: str
) -> str:
    """Keep a message of a broker; in which words. It may come again before it is done: it is listed once.

    Raises StoreError.
    """
    workflow, now = trigger.workflow, trigger.now()
    why = f"`{error.key}` cannot be worked out: {error.why}" if isinstance(error, CallRefused) else str(error)
    reason = f"the message of topic '{topic}' of bus '{bus}' was set aside: {why}"
    # An unreadable or truncated message cannot be taken, whatever is fixed.
    again = isinstance(error, Invalid | Conflict) and len(message.body) <= MAX_SHOWN_BYTES
    shown = {**_shown(message, workflow, bus, topic), "external": event, "again": again}
    dead = Outside(event=event or workflow, data=shown, id=message.id)
    seen = None
    if message.id is not None:
        scope = f"aside/{workflow}/{event or ''}/{bus}/{topic}"
        seen = EventId(scope, _digest_of(message.id), now + RETENTION)
    await _add(trigger.node.store, dead, reason, now, seen)
    return reason


async def _add(
    store: InboundEvents, event: Outside, reason: str, now: datetime, seen: EventId | None
) -> None:
    await store.keep(
        PendingEvent(
            keys=(),
            event=event.event,
            body=encode_message(event),
            reason=reason.encode(errors="replace").decode().replace("\0", "?")[:2000],
            until=now + RETENTION,
            seen=seen,
        )
    )


def _shown(message: Message, workflow: str, bus: str, topic: str) -> Mapping[str, Any]:
    """Everything known about a message; a body that is no text in base64."""
    part = message.body[:MAX_SHOWN_BYTES]
    try:
        body = {"body": part.decode()}
    except UnicodeDecodeError:
        body = {"body_base64": b64encode(part).decode()}
    said: dict[str, Any] = {"workflow": workflow, "bus": bus, "topic": topic}
    cut = {"cut": True} if len(message.body) > MAX_SHOWN_BYTES else {}
    return {**said, "id": message.id, "headers": dict(message.headers), **body, **cut}


def _digest_of(id: str) -> str:
    return _digest(id.encode(errors="replace"))


def _digest(body: bytes) -> str:
    return blake2b(body, digest_size=16).hexdigest()
