"""A message of a topic that was set aside, taken again: once what was wrong with the workflow is mended."""

from __future__ import annotations

from base64 import b64decode
from contextlib import suppress

from msgspec import Struct

from penstock.flow.compile.compile import Flow
from penstock.runtime.commands.commands import Commands
from penstock.runtime.errors import IdempotencyMismatch
from penstock.runtime.node.flow_cache import FlowCache
from penstock.sources.hooks.envelope import Message, messages_of_topic
from penstock.sources.message_mapping import event_asked, start_asked

KIND = "topic"


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


async def take_again(flows: FlowCache, commands: Commands, kept: DeadLetter) -> bool:
    """Do what the message asks of the newest version; False: that takes no messages. Raises why it cannot."""
    flow, _ = await flows.newest(kept.workflow)
    messages = messages_of_topic(kept.headers, kept.content, kept.id)
    if kept.external is not None:
        return await _fire(flow, commands, kept.external, messages)
    source = flow.definition.source
    if source is None or source.kind != KIND:
        return False
    for each in messages:
        if (asked := start_asked(source.options, each)) is None:
            continue
        with suppress(IdempotencyMismatch):  # it came again meanwhile, and was taken
            await asked.begin(commands, flow.name, KIND)
    return True


async def _fire(flow: Flow, commands: Commands, event: str, messages: list[Message]) -> bool:
    says = next((each.from_ for each in flow.definition.external or () if each.name == event), None)
    if says is None or says.kind != KIND:
        return False
    for each in messages:
        if (asked := event_asked(says, each)) is not None:
            await asked.fire(commands, event, flow.name, KIND)
    return True
