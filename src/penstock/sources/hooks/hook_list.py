"""The list of hooks: which `/hooks/…` addresses the published workflows serve."""

from __future__ import annotations

from urllib.parse import quote

from msgspec import Struct

from penstock.runtime.node.flow_cache import FlowCache


class HookLine(Struct, frozen=True):
    """An address that takes calls; `event` is null where a call starts a run, which it does while it is `started`."""

    workflow: str
    title: str | None
    event: str | None
    path: str
    started: bool


async def list_hooks(flows: FlowCache) -> list[HookLine]:
    """Those of the newest versions, by workflow: the source, then the events from outside."""
    found = []
    for state in await flows.states():
        definition = (await flows.get(state.name, state.latest)).definition
        at = f"/hooks/{quote(state.name, safe='')}"
        if definition.source is not None and definition.source.kind == "webhook":
            found.append(HookLine(state.name, definition.title, None, at, state.started))
        found += [
            HookLine(state.name, definition.title, each.name, f"{at}/{quote(each.name, safe='')}", True)
            for each in definition.external or ()
            if each.from_ is not None and each.from_.kind == "webhook"
        ]
    return found
