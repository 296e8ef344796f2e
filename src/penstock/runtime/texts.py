"""Texts that callers give and that become columns: checked before anything happens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.runtime.errors import Invalid


def refuse_no_text(**texts: Any) -> None:
    """Each is a text that a database can keep, or None. Raises Invalid."""
    for name, text in texts.items():
        if text is not None and not _keepable(text):
            _refuse(name, text, f"`{name}` must be a text, not {_shown(text)}")


def refuse_no_texts(**maps: Any) -> None:
    """Each is a map from texts to texts, or None. Raises Invalid."""
    for name, texts in maps.items():
        if texts is None:
            continue
        if not isinstance(texts, Mapping):
            raise Invalid(f"`{name}` must be a map from texts to texts, not {_shown(texts)}")
        for key, text in texts.items():
            if not _keepable(key):
                _refuse(name, key, f"`{name}` must be a map from texts to texts: {_shown(key)} is no text")
            if not _keepable(text):
                otherwise = f"`{name}` must be a map from texts to texts: that of '{key}' is {_shown(text)}"
                _refuse(name, text, otherwise)


def _refuse(name: str, text: Any, otherwise: str) -> None:
    """Say what is wrong with a text that cannot be kept."""
    if not isinstance(text, str):
        raise Invalid(otherwise)
    raise Invalid(f"`{name}` has a character that cannot be kept (NUL, or half of a pair): leave it out")


def _keepable(text: Any) -> bool:
    """Whether it is a text without NUL and without half of a surrogate pair, which is no text in UTF-8."""
    if not isinstance(text, str) or "\0" in text:
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _shown(value: Any) -> str:
    text = ascii(value)
    return f"{text if len(text) <= 40 else text[:37] + '...'} ({type(value).__name__})"
