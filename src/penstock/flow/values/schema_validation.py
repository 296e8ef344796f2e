"""Does a JSON value fit a JSON Schema? One plain sentence for each thing that does not."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import jsonschema_rs

from penstock.flow.values.schema_cost import TOO_COSTLY, is_too_costly, parts, widest

ValidationErrors = Callable[[Any], list[str]]
"""What is wrong with a value, each with its place; empty where it fits."""


def violations(schema: Any, value: Any) -> list[str]:
    """What is wrong with `value`, each with its place; empty where it fits or there is no schema."""
    return [] if schema is None else validator_of(schema)(value)


def validator_of(schema: Any, mask: str | None = None) -> ValidationErrors:
    """The check of a schema, made once for many values. Raises ValueError where it is none, or has no end.

    With `mask`, its sentences show that text instead of values, and only names that the schema knows: what a value
    has of its own may be secret.
    """
    if is_too_costly(schema):
        raise ValueError(TOO_COSTLY)
    try:
        checker = jsonschema_rs.validator_for(schema, retriever=_reject_remote_reference, mask=mask)
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, TypeError) as error:
        raise ValueError(str(error).partition("\n")[0]) from None
    names = None if mask is None else frozenset(_names(schema))
    return _Checker(checker, _size(schema, _NOTES), widest(schema), names)


def promise_of(schema: Any) -> ValidationErrors | None:
    """The check of what a task returns, if it declares a schema. It quotes nothing of it: that may be secret."""
    return None if schema is None else validator_of(schema, mask="the value")


MAX_REPORTED = 500_000
"""Parts of a schema times parts and letters of a value up to which all that is wrong is told.

Each thing that is wrong holds a copy of both, and they are all made before the first can be read: a list of a hundred
thousand wrong words and a schema of some hundred right ones would take gigabytes.
"""
MAX_LOOKS, NARROW = 5_000_000, 20
"""Parts of a value times those of a schema that look at each: about a second. What has few ways is not counted."""
TOO_LONG = "it has too many parts to be held against a schema of so many ways: send fewer of them"
MAX_SENTENCE = 600
"""Letters of one sentence: it begins with the value, which may be large."""


class _Checker:
    """Tells all that is wrong with a value, or of a large one the first thing."""

    def __init__(self, checker: Any, size: int, wide: int, names: frozenset[str] | None) -> None:
        """`names`: those that may be told; None: all."""
        self._checker, self._size, self._wide, self._names = checker, size, wide, names

    def __call__(self, value: Any) -> list[str]:
        if self._wide > NARROW and sum(1 for _ in parts(value)) * self._wide > MAX_LOOKS:
            return [TOO_LONG]
        if self._checker.is_valid(value):
            return []
        if _size(value) * self._size <= MAX_REPORTED:
            return [_sentence(error, self._names) for error in self._checker.iter_errors(value)]
        try:
            self._checker.validate(value)
        except jsonschema_rs.ValidationError as error:
            return [_sentence(error, self._names)]
        return []


_NOTES = frozenset({"$comment", "default", "description", "examples", "title"})
"""What a schema says to people: no value is held against it."""


def _size(value: Any, but: frozenset[str] = frozenset()) -> int:
    """How many parts a JSON value has, and letters in them; without what has one of the names in `but`."""
    size, todo = 0, [value]
    while todo:
        each = todo.pop()
        size += 1
        if isinstance(each, str):
            size += len(each)
        elif isinstance(each, Mapping):
            kept = [name for name in each if name not in but]
            size += sum(map(len, kept))
            todo.extend(each[name] for name in kept)
        elif isinstance(each, list | tuple):
            todo.extend(each)
    return size


DIALECT = re.compile(
    r"http://json-schema\.org/draft-0[467]/schema#?|https://json-schema\.org/draft/(?:2019-09|2020-12)/schema#?"
)
STRANGE_DIALECT = "`$schema` names no known draft of JSON Schema; leave it out for draft 2020-12"


def has_strange_dialect(schema: Any) -> bool:
    """Whether a schema is of a draft that would have to be fetched."""
    dialect = schema.get("$schema") if isinstance(schema, dict) else None
    return isinstance(dialect, str) and not DIALECT.fullmatch(dialect)


def schema_fault(schema: Any) -> str | None:
    """Why a value is no JSON Schema that can be used as it is: ` at PLACE: WHY`, or `: WHY`; None where it is one.

    A schema may be valid and still not be one to check by: a pattern that cannot be read, a reference to nowhere.
    """
    if has_strange_dialect(schema):
        return f": {STRANGE_DIALECT}"
    try:
        jsonschema_rs.meta.validate(schema)
        if is_too_costly(schema):
            raise ValueError(TOO_COSTLY)
        jsonschema_rs.validator_for(schema, retriever=_reject_remote_reference)
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError, TypeError) as error:
        said = str(getattr(error, "message", None) or error).splitlines()[0].rstrip(".")
        said = re.sub(r"Resource ('.*') is not present in a registry.*", r"\1 is outside this file", said)
        inside = "".join(f"/{each}" for each in getattr(error, "instance_path", ()))
        return f" at `{inside}`: {said}" if inside else f": {said}"
    return None


def _reject_remote_reference(address: str) -> Any:
    """A schema never reaches out to the network."""
    raise ValueError(f"the schema refers to {address}: put what it needs into the schema itself")


_PLAIN = re.compile(r"[\w-]+")
_PLACE = re.compile(r'((?:\.?[\w-]+|\[\d+\]|\["(?:[^"\\]|\\.)*"\])+): ')
_STEP = re.compile(r'\.?([\w-]+)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]')


def pointer_of(sentence: str) -> str:
    """The place that a sentence of a check begins with, such as `list[1]["a b"]: …`, as a JSON pointer."""
    place = _PLACE.match(sentence)
    if place is None:
        return ""
    names = (plain or number or json.loads(quoted) for plain, number, quoted in _STEP.findall(place[1]))
    return "".join(f"/{name.replace('~', '~0').replace('/', '~1')}" for name in names)


def _step(part: str | int) -> str:
    """A step into a value; a name that has more than letters, digits, `_` and `-` is quoted, so that it ends."""
    if isinstance(part, int):
        return f"[{part}]"
    return f".{part}" if _PLAIN.fullmatch(part) else f"[{json.dumps(part, ensure_ascii=False)}]"


def _names(schema: Any) -> Iterator[str]:
    """Every name in a schema."""
    return (name for each in parts(schema) if isinstance(each, Mapping) for name in each)


_STRANGE_NAMES = {
    "additionalProperties": "it has properties that are not allowed",
    "unevaluatedProperties": "it has properties that are not allowed",
    "propertyNames": "it has a property whose name is not allowed",
}
"""What is said, by the kind of error, where names of the value must not be told."""


def _sentence(error: jsonschema_rs.ValidationError, names: frozenset[str] | None) -> str:
    path, message = error.instance_path, str(error.message)
    if names is not None:
        path = [part if isinstance(part, int) or part in names else "…" for part in path]
        message = _STRANGE_NAMES.get(error.kind.name, message)
    where = "".join(map(_step, path))
    if len(message) > MAX_SENTENCE:
        message = f"{message[: MAX_SENTENCE // 2]} … {message[-MAX_SENTENCE // 2 :]}"
    return f"{where.lstrip('.')}: {message}" if where else message
