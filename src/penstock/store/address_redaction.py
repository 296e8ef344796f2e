"""Addresses as they may be shown: without their passwords, in whatever form."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import unquote

MASK = "***"

_USER = re.compile(r"(://[^:/?#@\s]*:)\S*@")
"""A password may hold any character: up to the last `@`."""
_SAID = re.compile(r"""([^\s?&;,=]+)(\s*=\s*)('(?:[^'\\]|\\.)*'?|"[^"]*"?|[^&\s;,]*)""")
"""`name=value`, of a query or of the words of a connection."""
_SECRET = re.compile(
    r"pass(word|wd|phrase)?$|pwd|secret|token|signature|credential|(access|api)[_-]?key", re.I
)


def without_password(value: Any) -> Any:
    """A text, or whatever holds texts, without passwords."""
    if isinstance(value, str):
        return _SAID.sub(_masked, _USER.sub(rf"\g<1>{MASK}@", value))
    if isinstance(value, dict):
        return {
            name: MASK if isinstance(each, str) and _SECRET.search(str(name)) else without_password(each)
            for name, each in value.items()
        }
    if isinstance(value, list | tuple):
        return type(value)(without_password(each) for each in value)
    return value


def _masked(found: re.Match[str]) -> str:
    return f"{found[1]}{found[2]}{MASK}" if _SECRET.search(unquote(found[1])) else found[0]
