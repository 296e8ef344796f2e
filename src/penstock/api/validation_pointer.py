"""The place of a validation error in a value, as a JSON pointer."""

from __future__ import annotations

import re
from typing import Any, Literal, get_args, get_origin

import msgspec

MAX_KEYS = 200
"""Keys of one map that are searched for the wrong one."""

SHAPES = {
    "^[^=]+=.+$": "must be NAME=VALUE",
    "^[^=]+$": "must be a name without `=`",
    r"^[^\\x00-\\x1f\\x7f]+$": "must be one line of text",
}
"""What a pattern asks for, to people."""

_PATTERN = re.compile(r"Expected `str` matching regex '(.*)'")
_FIELD = re.compile(r"Object .*?field `([^`]*)`")
_STEP = re.compile(r"\.([^.\[\]]+)|\[([^\]]*)\]")


def pointer_and_message(error: msgspec.ValidationError, value: Any, kind: Any) -> tuple[str, str]:
    """The pointer to what is wrong, and the sentence without the place."""
    message, _, place = str(error).partition(" - at `")
    path = place.rpartition("$")[2].rstrip("`")
    parts = [name or index for name, index in _STEP.findall(path)]
    for number, part in enumerate(parts):
        if part == "...":
            parts[number] = _key(str(error), value, kind, parts[:number])
    if found := _FIELD.match(message):
        parts.append(found[1])
    elif (pattern := _PATTERN.fullmatch(message)) and pattern[1] in SHAPES:
        message = SHAPES[pattern[1]]
    elif message.startswith("Invalid enum value") and (allowed := _choices(kind, parts)):
        message = f"{message}: it is one of {', '.join(allowed)}"
    escaped = (part.replace("~", "~0").replace("/", "~1") for part in parts if part)
    return "".join(f"/{part}" for part in escaped), message[:1].lower() + message[1:]


def _choices(kind: Any, parts: list[str]) -> list[str]:
    """The words that may stand at a place; none where that cannot be told."""
    if get_origin(kind) is Literal:
        return [str(each) for each in get_args(kind)] if not parts else []
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct) and parts:
        types = {field.encode_name: field.type for field in msgspec.structs.fields(kind)}
        return _choices(types.get(parts[0]), parts[1:])
    inside = parts[1:] if get_origin(kind) in (list, tuple, dict) else parts
    return next((found for each in get_args(kind) if (found := _choices(each, inside))), [])


def _key(message: str, value: Any, kind: Any, parts: list[str]) -> str:
    """The key of a map whose value is wrong, which msgspec does not tell; empty where it cannot be found."""
    held = value
    for part in parts:
        if not isinstance(held, dict | list):
            return ""
        held = held[int(part)] if isinstance(held, list) else held.get(part)
    for key in list(held)[:MAX_KEYS] if isinstance(held, dict) else ():
        try:
            msgspec.convert(_with(value, parts, {key: held[key]}), kind)
        except msgspec.ValidationError as error:
            if str(error) == message:
                return str(key)
    return ""


def _with(value: Any, parts: list[str], held: Any) -> Any:
    """The value with something else at a place."""
    if not parts:
        return held
    place: Any = int(parts[0]) if isinstance(value, list) else parts[0]
    made = value.copy()
    made[place] = _with(value[place], parts[1:], held)
    return made
