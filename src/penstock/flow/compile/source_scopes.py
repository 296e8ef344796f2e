"""What the expressions of sources and of events from outside may read."""

from __future__ import annotations

import msgspec

HOOK_SCOPE = ("body", "headers", "query", "event")
"""What the expressions of a hook may read: the call, and the envelope that it came in."""

OBJECT_SCOPE = (
    "object",
    "bucket",
    "key",
    "version",
    "size",
    "etag",
    "metadata",
    "system",
    "transport",
    "event",
    "tags",
)
"""What the conditions on objects may read: the context by its parts, and all of it as `object`."""


def glob_over_key(pattern: str) -> str:
    """The expression that a `glob` of a source stands for."""
    return f"glob(key, {msgspec.json.encode(pattern).decode()})"
