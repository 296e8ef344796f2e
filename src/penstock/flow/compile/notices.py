"""What a definition may say of topics: events that can happen, and messages that find their run; who is told."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.flow.model.definition import Definition, Notice
from penstock.flow.model.names import Hints
from penstock.kernel.net import RESERVED, Net

NOTICE_SCOPE = ("run", "data", "tags", "event", "status", "result", "error")
"""What `data` of `notify` may read: `event` is null where a run ended."""

WEBHOOKS = "(webhooks)"
"""What stands for the bus of a webhook where messages wait; no bus of the settings can be called so."""


def place_of(notice: Notice) -> tuple[str, str]:
    """The bus and the topic that a message waits for; that of a webhook is its address and the name of its secret."""
    if notice.url is not None:
        return WEBHOOKS, f"{notice.url}#{notice.secret}"
    return notice.bus or "", notice.topic or ""


def webhook_of(topic: str) -> tuple[str, str]:
    """The address, and the name of the secret, of such a topic."""
    url, _, secret = topic.rpartition("#")
    return url, secret


def topic_problems(definition: Definition, net: Net) -> Iterator[tuple[str, str, str]]:
    """Code, path and sentence of whatever is wrong: an event that nothing fires, a message without a key."""
    for number, external in enumerate(definition.external or ()):
        if external.from_ is not None and external.from_.kind == "topic" and not external.from_.key:
            message = (
                f"event '{external.name}' needs `key`: what finds its run, such as {{order: body.order}}"
            )
            yield "missing_key", f"external[{number}].from", message
    fired = {name for step in net.steps for exit in step.exits for name in exit.fires}
    known = fired | {event.name for event in net.outside} | RESERVED
    hints = Hints()
    for number, notice in enumerate(definition.notify or ()):
        for name in (name for name in notice.events or () if name not in known):
            near = hints.nearest(name, known)
            hint = f"; did you mean '{near}'?" if near else ""
            message = f"`notify` names the event '{name}', which nothing in the workflow fires{hint}"
            yield "unknown_event", f"notify[{number}].events", message
