"""Object stores as people see them: nothing that is secret."""

from __future__ import annotations

from typing import Any

from msgspec import Struct


class LastEvent(Struct):
    """What a store told last."""

    event: str
    key: str
    at: str


class StoreSeen(Struct):
    """An object store; `counts` and `last_event` are of this process, since it began."""

    name: str
    kind: str
    bucket: str
    reachable: bool
    last_event: LastEvent | None
    counts: dict[str, int]
    error: str | None
    searches: list[dict[str, Any]] = []
