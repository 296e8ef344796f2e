"""The part of the JSON Schema about `notify`: one description a key, as the editor's forms show it."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]

_EVENT: Schema = {"$ref": "#/$defs/awaited_event"}
_STATUS: Schema = {"enum": ["succeeded", "failed", "canceled", "timed_out"]}


def _some(item: Schema, description: str) -> Schema:
    return {"description": description, "anyOf": [item, {"type": "array", "items": item, "minItems": 1}]}


_TOPIC: Schema = {
    "bus": {"type": "string", "minLength": 1, "description": "The broker, by its name in the settings."},
    "topic": {"type": "string", "minLength": 1, "description": "The topic to publish to."},
}
_WEBHOOK: Schema = {
    "url": {
        "type": "string",
        "pattern": "^https?://[^\\s#]+$",
        "maxLength": 1000,
        "description": "The address that is called, which must be on the allow-list.",
    },
    "secret": {
        "type": "string",
        "pattern": "^[A-Za-z0-9_.-]{1,128}$",
        "description": "The name of the secret that calls are signed with: base64, mostly written whsec_….",
    },
}


def _notice(description: str, place: Schema) -> Schema:
    return {
        "type": "object",
        "description": description,
        "properties": {**place, **_TOLD},
        "required": list(place),
        "additionalProperties": False,
    }


_TOLD: Schema = {
    "events": _some(_EVENT, "The events of a run that are told."),
    "statuses": _some(
        _STATUS, "The ends of a run that are told; all of them where there are no `events` either."
    ),
    "data": {
        "$ref": "#/$defs/expression",
        "description": "The data of the message: that of the event, or the end of the run, where none is given.",
    },
}
_ENTRIES = [
    _notice("One topic to which messages are published.", _TOPIC),
    _notice("One webhook that is called, signed as Standard Webhooks are.", _WEBHOOK),
]

NOTIFY: Schema = {
    "description": "Who is told of events and ends of runs.",
    "anyOf": [*_ENTRIES, {"type": "array", "items": {"anyOf": _ENTRIES}, "maxItems": 20}],
}
