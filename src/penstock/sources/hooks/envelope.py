"""What a verified call carries: one message, or those of a batch, as the expressions of a hook see it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from penstock.runtime.json.strict_json import Unreadable, WrongType, read_json
from penstock.sources.hooks.cloudevents import CloudEvent, is_cloudevent, media_type, read_cloudevents
from penstock.sources.hooks.signatures import Headers
from penstock.sources.hooks.sns import SnsMessage
from penstock.sources.hooks.verification import Hmac, Rule, Token, Verified

_SECRET = frozenset(
    {
        "authorization",
        "proxy-authorization",
        "cookie",
        "webhook-signature",
        "x-hub-signature-256",
        "x-hub-signature",
    }
)


class Call(Struct, frozen=True):
    """One HTTP call of a hook: names of headers in lower case, the body as it came."""

    headers: Headers
    body: bytes
    query: Mapping[str, str] = {}


class Message(Struct, frozen=True):
    """One thing that a call says. `id`: by which its repeat is known, unless the hook says otherwise."""

    body: Any
    scope: dict[str, Any]
    id: str | None


def messages_of(call: Call, rule: Rule, verified: Verified) -> list[Message]:
    """The messages of a call. Raises Unreadable, WrongType.

    Where the body alone is signed, an event in headers is not looked at: whoever replays a call could write its id.
    """
    visible = _visible(call, rule)
    if isinstance(rule, Token):  # who has it may say all that the call says
        return _messages(call, visible, verified.id)
    covered = {name: value for name, value in call.headers.items() if not name.startswith("ce-")}
    found = _messages(Call(covered, call.body, call.query), visible, verified.id)
    if is_cloudevent(covered):
        return found
    return [replace(each, id=_cloudevent_id(each.body) or each.id) for each in found]


def _cloudevent_id(body: Any) -> str | None:
    """The id of a CloudEvent that was sent as plain JSON: nobody signs the type, and one event is one, as either."""
    if not isinstance(body, dict) or body.get("specversion") != "1.0":
        return None
    source, id = body.get("source"), body.get("id")
    return _event_id(source, id) if isinstance(source, str) and isinstance(id, str) else None


def _event_id(source: str, id: str) -> str:
    return f"{source} {id}"


def messages_of_topic(headers: Headers, body: bytes, id: str | None) -> list[Message]:
    """The messages in one of a broker: JSON, text that says so, or CloudEvents. Raises Unreadable, WrongType."""
    call = Call(headers, body)
    visible = {"headers": _shown(headers, frozenset()), "query": {}}
    if media_type(headers).startswith("text/") and not is_cloudevent(headers):
        try:
            return [_message(body.decode(), {"id": id}, visible, id)]
        except UnicodeDecodeError:
            raise Unreadable("invalid_text", "the message says that it is text, and is not UTF-8") from None
    return _messages(call, visible, id)


def _messages(call: Call, visible: dict[str, Any], id: str | None) -> list[Message]:
    if is_cloudevent(call.headers):
        return [_of_event(each, visible) for each in read_cloudevents(call.headers, call.body)]
    kind = media_type(call.headers)
    if call.body and kind not in ("", "application/json") and not kind.endswith("+json"):
        raise WrongType(f"application/json or CloudEvents are taken, not '{kind[:80]}'")
    body = read_json(call.body) if call.body else None
    return [_message(body, {"id": id}, visible, id)]


def message_of_sns(message: SnsMessage, call: Call, rule: Rule) -> Message:
    """What SNS delivers: the body is the message itself, as JSON where it is a map or a list."""
    event = {
        "id": message.id,
        "source": message.topic,
        "type": message.kind,
        "subject": message.subject,
        "time": message.at.isoformat(),
    }
    made = _message(_content(message.message), event, _visible(call, rule), message.id)
    if isinstance(made.body, dict):
        # The id of the delivery is in the envelope; people look for it in the body.
        made.scope["body"] = {"messageId": message.id, **made.body}
    return made


def _content(text: str) -> Any:
    if not text.lstrip().startswith(("{", "[")):
        return text
    try:
        return read_json(text.encode())
    except Unreadable as error:
        if error.code == "invalid_json":
            return text
        raise


def _of_event(event: CloudEvent, visible: dict[str, Any]) -> Message:
    named = {**event.attributes, **msgspec.to_builtins(event)}
    del named["attributes"], named["data"]
    return _message(event.data, named, visible, _event_id(event.source, event.id))


def _message(body: Any, event: dict[str, Any], visible: dict[str, Any], id: str | None) -> Message:
    return Message(body, {"body": body, "event": event, **visible}, id)


def _visible(call: Call, rule: Rule) -> dict[str, Any]:
    """What expressions may see besides the body; a secret that was sent must not end up in a run."""
    hidden = frozenset({rule.header.lower()}) if isinstance(rule, Token | Hmac) else frozenset()
    return {"headers": _shown(call.headers, hidden), "query": dict(call.query)}


def _shown(headers: Headers, hidden: frozenset[str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name not in _SECRET and name not in hidden}
