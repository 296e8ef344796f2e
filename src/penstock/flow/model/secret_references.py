"""Secrets that a step names: only what is written in its definition is a reference, never what comes from data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Path = tuple[str | int, ...]
References = Mapping[Path, str]
"""Where in the parameters of a step `{secret: NAME}` is written, and the name."""


def reference(value: Any) -> str | None:
    """The name in `{secret: NAME}`."""
    if isinstance(value, Mapping) and len(value) == 1 and isinstance(name := value.get("secret"), str):
        return name
    return None


def references(value: Any) -> References:
    """Every reference in parameters as they are written; a name that is filled in later is none."""
    return {path: name for path, name in named(value) if "${" not in name}


def named(value: Any, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Every part of a value that looks like a reference."""
    if (name := reference(value)) is not None:
        yield path, name
        return
    parts = (
        value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, each in parts:
        yield from named(each, (*path, key))
