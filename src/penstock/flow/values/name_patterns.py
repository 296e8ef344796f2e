"""Patterns of names: which workflows and task lists somebody is bound to."""

from __future__ import annotations

from collections.abc import Sequence


def matches(patterns: Sequence[str] | None, name: str) -> bool:
    """Whether one of the patterns is the name; `*` stands for any characters. None is every name, () none."""
    return patterns is None or any(_match(pattern, name) for pattern in patterns)


def _match(pattern: str, name: str) -> bool:
    """Without backtracking: a pattern of many stars must not hold up a request."""
    if "*" not in pattern:
        return pattern == name
    first, *middle, last = pattern.split("*")
    if len(name) < len(first) + len(last) or not name.startswith(first) or not name.endswith(last):
        return False
    at, end = len(first), len(name) - len(last)
    for piece in middle:
        found = name.find(piece, at, end)
        if found < 0:
            return False
        at = found + len(piece)
    return True
