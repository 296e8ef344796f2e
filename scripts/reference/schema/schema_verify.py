"""The part of the JSON Schema about `verify`: one description a method, as the editor's forms show it."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]

_TEXT: Schema = {"type": "string", "minLength": 1}
_SECRET: Schema = {"type": "string", "pattern": "^[A-Za-z0-9_.-]{1,128}$"}
_SHARED: Schema = {
    "secret": {
        "description": "The name of the secret that the sender has too; several while it is being changed.",
        "anyOf": [_SECRET, {"type": "array", "items": _SECRET}],
    },
    "origins": {
        "description": "Senders of CloudEvents that get consent when they ask for it.",
        "anyOf": [_TEXT, {"type": "array", "items": _TEXT}],
    },
}
_HEADER: Schema = {
    "header": {**_TEXT, "description": "The header that it comes in."},
    "prefix": {"type": "string", "description": "What stands before it in the header."},
}
_HASHED: Schema = {
    "algorithm": {"enum": ["sha256", "sha512", "sha1"], "description": "The hash.", "default": "sha256"},
    "encoding": {"enum": ["hex", "base64"], "description": "How it is written.", "default": "hex"},
}
_TOPICS: Schema = {
    "topics": {
        "description": "The topics that are taken, by their ARNs.",
        "anyOf": [_TEXT, {"type": "array", "items": _TEXT}],
    }
}


def _method(method: str, description: str, properties: Schema, *required: str) -> Schema:
    return {
        "type": "object",
        "description": description,
        "properties": {"method": {"const": method, "description": "How it is verified."}, **properties},
        "required": ["method", *required],
        "additionalProperties": False,
    }


VERIFY: Schema = {
    "description": "How the sender is verified: a map of a method and its settings, or sns alone.",
    "oneOf": [
        {"const": "sns"},
        _method("standard", "Standard Webhooks.", _SHARED, "secret"),
        _method("github", "As GitHub signs.", _SHARED, "secret"),
        _method("hmac", "An HMAC of the body in a header.", {**_SHARED, **_HEADER, **_HASHED}, "secret"),
        _method("token", "A secret in a header.", {**_SHARED, **_HEADER}, "secret"),
        _method("sns", "Amazon SNS.", _TOPICS),
    ],
}
