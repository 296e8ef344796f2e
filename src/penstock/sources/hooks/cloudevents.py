"""CloudEvents 1.0 over HTTP: one event in headers, one in the body, or a batch; and the handshake of webhooks."""

from __future__ import annotations

import re
from base64 import b64decode
from binascii import Error
from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any
from urllib.parse import unquote

from msgspec import Struct

from penstock.runtime.json.strict_json import Unreadable, read_json
from penstock.sources.hooks.signatures import Headers

SINGLE = "application/cloudevents+json"
BATCH = "application/cloudevents-batch+json"
MAX_BATCH = 500
"""Events that one batch may have."""

MAX_RATE = 120_000
"""Calls a minute that a sender is allowed, if it asks."""

_NAME = re.compile(r"[a-z0-9]{1,64}")
_KNOWN = frozenset(
    {"specversion", "id", "source", "type", "subject", "time", "datacontenttype", "dataschema"}
)
_DATA = frozenset({"data", "data_base64"})


class CloudEvent(Struct, frozen=True, kw_only=True):
    """One event; `attributes` are its extensions and the optional ones without a field."""

    id: str
    source: str
    type: str
    subject: str | None = None
    time: str | None = None
    data: Any = None
    attributes: dict[str, Any] = {}


class Handshake(Struct, frozen=True):
    """The answer to an OPTIONS call."""

    status: int
    headers: dict[str, str]


def media_type(headers: Headers) -> str:
    """The type of the body, without parameters, in lower case."""
    return headers.get("content-type", "").partition(";")[0].strip().lower()


def is_cloudevent(headers: Headers) -> bool:
    """Whether a call says that it carries CloudEvents, in any of the three modes."""
    return "ce-specversion" in headers or media_type(headers).startswith("application/cloudevents")


def read_cloudevents(headers: Headers, body: bytes) -> list[CloudEvent]:
    """The events of a call. Raises Unreadable: nothing of a batch is taken where one of it is bad."""
    kind = media_type(headers)
    if kind == BATCH:
        found = read_json(body)
        if not isinstance(found, list) or len(found) > MAX_BATCH:
            raise bad(f"a batch must be a list of at most {MAX_BATCH} events")
        return [_structured(each) for each in found]
    if kind == SINGLE:
        return [_structured(read_json(body))]
    if kind.startswith("application/cloudevents"):
        raise bad(f"the format '{kind}' is not taken: send {SINGLE} or {BATCH}")
    return [_binary(headers, body)]


def bad(why: str) -> Unreadable:
    return Unreadable("bad_event", f"this is no CloudEvent that can be taken: {why}")


def _structured(value: Any) -> CloudEvent:
    if not isinstance(value, dict):
        raise bad("an event must be a map")
    if "data" in value and "data_base64" in value:
        raise bad("it has both `data` and `data_base64`: send one")
    data = value.get("data")
    if "data_base64" in value:
        data = _checked_base64(value["data_base64"])
    return _event({name: item for name, item in value.items() if name not in _DATA}, data)


def _checked_base64(value: Any) -> str:
    """Binary data stays the text that it came as: JSON has no other form for it."""
    try:
        b64decode(value, validate=True)
    except (Error, ValueError, TypeError):
        raise bad("`data_base64` is not base64") from None
    return str(value)


def _binary(headers: Headers, body: bytes) -> CloudEvent:
    attributes = {
        name[3:]: unquote(value, errors="replace").strip('"')
        for name, value in headers.items()
        if name.startswith("ce-")
    }
    kind = media_type(headers)
    if kind:
        attributes["datacontenttype"] = headers["content-type"]
    if not kind or kind == "application/json" or kind.endswith("+json"):
        return _event(attributes, read_json(body) if body else None)
    try:
        return _event(attributes, body.decode("utf-8"))
    except UnicodeDecodeError:
        raise bad(f"its data is of type '{kind}': send JSON or text") from None


def _event(attributes: Mapping[str, Any], data: Any) -> CloudEvent:
    version = attributes.get("specversion")
    if version != "1.0":
        raise bad(f"its specversion is {str(version)[:20]!r}, and must be '1.0'")
    for name in ("id", "source", "type"):
        if not isinstance(attributes.get(name), str) or not attributes[name]:
            raise bad(f"it has no `{name}`")
    for name, value in attributes.items():
        if not _NAME.fullmatch(name) or isinstance(value, list | dict):
            raise bad(f"{name[:40]!r} is no name of an attribute, or has no plain value")
    for name in ("subject", "time"):
        if attributes.get(name) is not None and not isinstance(attributes[name], str):
            raise bad(f"its `{name}` must be text")
    return CloudEvent(
        id=attributes["id"],
        source=attributes["source"],
        type=attributes["type"],
        subject=attributes.get("subject"),
        time=_moment(attributes.get("time")),
        data=data,
        attributes={
            name: value for name, value in attributes.items() if name not in _KNOWN or name.startswith("data")
        },
    )


def _moment(text: str | None) -> str | None:
    if text is not None:
        try:
            aware = datetime.fromisoformat(text).tzinfo is not None
        except ValueError:
            aware = False
        if not aware:
            raise bad(f"its `time` is {text[:40]!r}, and must be like 2026-01-31T12:00:00Z")
    return text


def handshake(origins: Collection[str], headers: Headers) -> Handshake:
    """Consent to a sender that is listed. Its callback is never called: that would be a call to anywhere."""
    origin = headers.get("webhook-request-origin", "").strip()
    if not origin or origin not in origins:
        return Handshake(403, {})
    wanted = headers.get("webhook-request-rate", "")
    known = wanted.isascii() and wanted.isdigit() and len(wanted) < 10 and int(wanted) > 0
    rate = min(int(wanted), MAX_RATE) if known else MAX_RATE
    return Handshake(
        200, {"Allow": "POST", "WebHook-Allowed-Origin": origin, "WebHook-Allowed-Rate": str(rate)}
    )
