"""Functions of text, by code points; their arguments are checked by exact type."""

from __future__ import annotations

from typing import Any

from penstock.expression.errors import Fault
from penstock.expression.functions.patterns import cidr_contains
from penstock.expression.limits import CHARGED_LENGTH, Env, charge
from penstock.expression.values import NETWORKS, spoken

_LOWER = {ord("A") + i: ord("a") + i for i in range(26)}
_UPPER = {ord("a") + i: ord("A") + i for i in range(26)}
_SPACES = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))


def _texts(env: Env, *values: Any) -> None:
    size = 0
    for value in values:
        if value.__class__ is not str:
            raise Fault("no_such_overload", f"this needs a string, not {spoken(value)}")
        size += len(value)
    charge(env, 1 + size // 64)


def _whole(value: Any) -> int:
    if value.__class__ is not int:
        raise Fault("no_such_overload", f"this needs an int, not {spoken(value)}")
    return int(value)


def _within(index: int, low: int, high: int) -> int:
    if low <= index <= high:
        return index
    raise Fault("index_out_of_range", f"the position {index} lies outside {low} to {high}")


def size(env: Env, value: Any) -> int:
    """How many characters, bytes, items or keys a value has."""
    kind = value.__class__
    if kind is str or kind is list or kind is dict or kind is bytes:
        return len(value)
    raise Fault("no_such_overload", f"{spoken(value)} has no size")


def contains(env: Env, value: Any, part: Any) -> bool:
    """Whether a text holds another, or a network an address."""
    if value.__class__ in NETWORKS:
        return cidr_contains(value, part)
    _texts(env, value, part)
    return part in value


def starts_with(env: Env, value: Any, part: Any) -> bool:
    """Whether a text begins with another."""
    if value.__class__ is not str or part.__class__ is not str or len(part) > CHARGED_LENGTH:
        _texts(env, value, part)
    return bool(value.startswith(part))


def ends_with(env: Env, value: Any, part: Any) -> bool:
    """Whether a text ends with another."""
    _texts(env, value, part)
    return bool(value.endswith(part))


def lower_ascii(env: Env, value: Any) -> str:
    """A to Z as a to z."""
    _texts(env, value)
    charge(env, len(value) // 16)
    return str(value.translate(_LOWER))


def upper_ascii(env: Env, value: Any) -> str:
    """a to z as A to Z."""
    _texts(env, value)
    charge(env, len(value) // 16)
    return str(value.translate(_UPPER))


def trim(env: Env, value: Any) -> str:
    """Without white space at either end."""
    _texts(env, value)
    return str(value.strip(_SPACES))


def char_at(env: Env, value: Any, index: Any) -> str:
    """The character at a position; nothing at the very end."""
    _texts(env, value)
    at = _within(_whole(index), 0, len(value))
    return str(value[at : at + 1])


def index_of(env: Env, value: Any, part: Any, start: Any = 0) -> int:
    """Where a text first holds another, or -1."""
    _texts(env, value, part)
    at = _within(_whole(start), 0, len(value)) if start != 0 or start.__class__ is not int else 0
    return at if part == "" else int(value.find(part, at))


def last_index_of(env: Env, value: Any, part: Any, start: Any = None) -> int:
    """Where a text last holds another, at or before `start`; or -1."""
    _texts(env, value, part)
    at = len(value) if start is None else _within(_whole(start), 0, len(value))
    # Not `rfind`: it takes time by the product of both lengths, and `find` does not.
    found = value[: at + len(part)][::-1].find(part[::-1]) if part else 0
    return -1 if found < 0 else min(at + len(part), len(value)) - found - len(part) if part else at


def substring(env: Env, value: Any, start: Any, end: Any = None) -> str:
    """The characters from one position up to another."""
    _texts(env, value)
    low = _within(_whole(start), 0, len(value))
    high = len(value) if end is None else _within(_whole(end), low, len(value))
    return str(value[low:high])


def replace(env: Env, value: Any, old: Any, new: Any, count: Any = -1) -> str:
    """With each occurrence (or the first `count`) replaced."""
    _texts(env, value, old, new)
    times = _whole(count)
    found = value.count(old) if times < 0 else min(times, value.count(old))
    charge(env, found * max(0, len(new) - len(old)) // 8)
    return str(value.replace(old, new, max(times, -1)))


def split(env: Env, value: Any, separator: Any, count: Any = -1) -> list[str]:
    """The parts between separators, at most `count`."""
    _texts(env, value, separator)
    limit = _whole(count)
    if limit == 0:
        return []
    charge(env, (len(value) if separator == "" else value.count(separator)) // 4)
    if separator == "":
        cut = len(value) if limit < 0 else min(limit - 1, len(value))
        rest = [value[cut:]] if cut < len(value) else []
        return [*value[:cut], *rest]
    return list(value.split(separator, -1 if limit < 0 else limit - 1))


def join(env: Env, values: Any, separator: Any = "") -> str:
    """The texts of a list, one after the other."""
    if values.__class__ is not list:
        raise Fault("no_such_overload", f"`join` needs a list of strings, not {spoken(values)}")
    charge(env, 1 + len(values) // 8 + len(values) * len(separator) // 8 if separator.__class__ is str else 1)
    _texts(env, separator, *values)
    return str(separator.join(values))
