"""The roles and what each may do."""

from __future__ import annotations

from typing import Literal

Role = Literal["viewer", "operator", "author", "admin", "worker"]
Action = Literal["public", "read", "operate", "repair", "author", "admin", "work"]

_ALLOWED: dict[str, frozenset[str]] = {
    "viewer": frozenset({"read"}),
    "operator": frozenset({"read", "operate", "repair"}),
    "author": frozenset({"read", "operate", "repair", "author"}),
    "admin": frozenset({"read", "operate", "repair", "author", "admin", "work"}),
    "worker": frozenset({"work"}),
}


def allows(role: str, action: str) -> bool:
    return action == "public" or action in _ALLOWED.get(role, ())
