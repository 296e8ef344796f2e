"""Maps a message to input, key and event, by the expressions of its source or outside event."""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b
from typing import Any

from msgspec import Struct

from penstock.expression import EvaluationError, Expression, ExpressionError, compile_expression
from penstock.flow.compile.source_scopes import HOOK_SCOPE
from penstock.flow.model.definition import From
from penstock.flow.model.plan import Answer
from penstock.flow.model.run_input import Outside
from penstock.flow.values.payload import KEY, length_problem
from penstock.runtime.commands.commands import Commands
from penstock.runtime.node.trace_ids import LABEL, read_parent
from penstock.sources.errors import CallRefused
from penstock.sources.hooks.envelope import Message
from penstock.sources.triggers.trigger import Start

MAX_ID = KEY - 32
"""Characters of an id as it came: it is kept behind a word for where it came from."""


class EventAsked(Struct, frozen=True, kw_only=True):
    """An event to fire into the run that one of the keys finds."""

    id: str | None
    keys: dict[str, str]
    data: Any
    set: dict[str, Any] | None

    async def fire(self, commands: Commands, event: str, workflow: str, kind: str) -> Answer:
        """Fire it, and what came of it. Raises what `Commands.emit_by_key` raises."""
        outside = Outside(event=event, data=self.data, set=self.set, id=self.id, workflow=workflow)
        return await commands.emit_by_key(self.keys, outside, f"{kind}/{workflow}")


def start_asked(says: dict[str, Any], message: Message) -> Start | None:
    """By the options of a source; None where its `where` does not hold. Raises CallRefused."""
    if not _holds(says.get("where"), message):
        return None
    return Start(
        key=_id(says.get("id"), message),
        subject=None if "subject" not in says else _text("subject", says["subject"], message),
        input=message.body if "input" not in says else _value("input", says["input"], message),
        labels=_trace(message),
    )


def event_asked(says: From, message: Message) -> EventAsked | None:
    """By the `from` of an outside event; None where its `where` does not hold. Raises CallRefused."""
    if not _holds(says.where, message):
        return None
    keys = {name: _text(f"key.{name}", source, message) for name, source in (says.key or {}).items()}
    if not keys:
        raise CallRefused("key", "the hook has none: say which key finds the run, such as {job: body.id}")
    return EventAsked(
        id=_id(says.id, message),
        keys=keys,
        data=message.body if says.data is None else _value("data", says.data, message),
        set=None if says.set is None else _map("set", says.set, message),
    )


@lru_cache(maxsize=1024)
def _compiled(source: str) -> Expression:
    return compile_expression(source, HOOK_SCOPE)


def _value(key: str, source: str, message: Message) -> Any:
    try:
        return _compiled(source)(message.scope)
    except (EvaluationError, ExpressionError) as error:
        raise CallRefused(key, str(error)) from None


def _holds(source: str | None, message: Message) -> bool:
    if source is None:
        return True
    found = _value("where", source, message)
    if not isinstance(found, bool):
        raise CallRefused("where", "it must be true or false")
    return found


def _text(key: str, source: str, message: Message) -> str:
    found = _value(key, source, message)
    if isinstance(found, bool) or not isinstance(found, str | int) or found == "":
        raise CallRefused(key, "it must be a text that is not empty, or a whole number")
    return str(found)


def _id(source: str | None, message: Message) -> str | None:
    """The id by which a repeat is recognised; its digest if it is too long to store."""
    found = message.id if source is None else _text("id", source, message)
    if found is None or length_problem(found, MAX_ID) is None:
        return found
    return f"digest {blake2b(found.encode('utf-8', 'surrogatepass'), digest_size=32).hexdigest()}"


def _map(key: str, source: str, message: Message) -> dict[str, Any]:
    found = _value(key, source, message)
    if not isinstance(found, dict):
        raise CallRefused(key, "it must be a map")
    return found


def _trace(message: Message) -> dict[str, str] | None:
    """The trace that the sender says it is part of: of the event, or of the call."""
    event, headers = message.scope["event"], message.scope["headers"]
    said = event.get(LABEL) or headers.get(LABEL)
    return {LABEL: said} if isinstance(said, str) and read_parent(said) is not None else None
