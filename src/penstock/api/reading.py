"""Reading a request: the raw body within its cap, strict JSON, and values of the types that a call takes."""

from __future__ import annotations

import json
import re
from math import isfinite
from typing import Any, TypeVar, get_origin

import msgspec
from starlette.requests import Request

from penstock.flow.errors import PenstockError
from penstock.runtime.errors import Invalid

BODY = 1024 * 1024
DEEPEST = 64
MOST_KEYS = 10_000

T = TypeVar("T")


class Unreadable(PenstockError):
    """The request cannot be read. `code` says in which way."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class BodyTooLarge(PenstockError):
    """The body is over the cap."""

    code = "body_too_large"

    def __init__(self, most: int) -> None:
        super().__init__(f"the body is larger than {most} bytes: send less, or a reference to where it lies")


class WrongType(PenstockError):
    """The body is of a type that is not taken here."""

    code = "unsupported_media_type"


class NotFitting(Invalid):
    """The body can be read and does not fit. `errors`: path, code and message of each thing."""

    code = "invalid_request"

    def __init__(self, path: str, message: str) -> None:
        super().__init__(f"{path or 'the body'}: {message}")
        self.errors = [{"path": path, "code": "invalid", "message": message}]


async def raw_body(request: Request, most: int = BODY) -> bytes:
    """The body as it came. Raises BodyTooLarge after at most `most` bytes, WrongType where it is compressed."""
    if request.headers.get("content-encoding", "identity") != "identity":
        raise WrongType("the body is compressed: send it plain, without Content-Encoding")
    length = request.headers.get("content-length")
    if length is not None and length.isdigit() and int(length) > most:
        raise BodyTooLarge(most)
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > most:
            raise BodyTooLarge(most)
        parts.append(part)
    return b"".join(parts)


def media_type(request: Request) -> str:
    """The type of the body, without its parameters."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def refuse_type(request: Request, accepts: tuple[str, ...]) -> None:
    """Raises WrongType where the body is of another type than these, or of another character set than UTF-8."""
    kind, _, parameters = request.headers.get("content-type", "").partition(";")
    charset = re.search(r"charset\s*=\s*\"?([^\s\";]+)", parameters, re.I)
    if kind.strip().lower() not in accepts:
        raise WrongType(f"Content-Type must be {' or '.join(accepts)}, not '{kind.strip()}'")
    if charset and charset[1].lower() not in ("utf-8", "utf8"):
        raise WrongType(f"the body must be in UTF-8, not {charset[1]}")


# -- strict JSON -------------------------------------------------------------------------------------------


def read_json(raw: bytes) -> Any:
    """The value of a JSON text. Raises Unreadable with the codes of bad input."""
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        raise Unreadable("invalid_unicode", "the body is not text in UTF-8") from None
    _refuse_depth(text)
    if "\\u" in text and _half_pair(text):
        raise Unreadable("invalid_unicode", "a text has half of a surrogate pair: write whole characters")
    if "\\u0000" in text:
        raise Unreadable("invalid_unicode", "a text has a NUL character, which cannot be kept: leave it out")
    try:
        return _decode(text)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise Unreadable("invalid_json", f"the body is not JSON: {error.msg} at {where}") from None
    except RecursionError:
        raise Unreadable("too_deep", f"the body is nested deeper than {DEEPEST} levels") from None


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise Unreadable("duplicate_key", f"the key '{twice[:80]}' is there twice: keep one")
    if len(made) > MOST_KEYS:
        raise Unreadable("too_many_keys", f"an object has more than {MOST_KEYS} keys")
    return made


def _whole(text: str) -> int:
    number = int(text) if len(text) <= 20 else 2**63
    if not -(2**63) <= number < 2**63:
        raise Unreadable("number_out_of_range", "a whole number does not fit into 64 bits: send it as text")
    return number


def _fraction(text: str) -> float:
    number = float(text)
    if not isfinite(number):
        raise Unreadable("number_out_of_range", "a number is too large: send it as text")
    return number


def _constant(word: str) -> Any:
    raise Unreadable("invalid_number", f"{word} is no number of JSON: use null or a text")


_decode = json.JSONDecoder(
    object_pairs_hook=_pairs, parse_int=_whole, parse_float=_fraction, parse_constant=_constant
).decode

_STRUCTURE = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}]', re.S)
_ESCAPES = re.compile(r"\\(?:u([dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.S)


def _refuse_depth(text: str) -> None:
    """Before parsing: the parser itself gives up at some thousand levels, and not in our words."""
    if text.count("[") + text.count("{") <= DEEPEST:
        return
    depth = 0
    for found in _STRUCTURE.finditer(text):
        mark = found[0]
        if mark in "[{":
            depth += 1
            if depth > DEEPEST:
                raise Unreadable("too_deep", f"the body is nested deeper than {DEEPEST} levels")
        elif mark in "]}":
            depth -= 1


def _half_pair(text: str) -> bool:
    """Whether some escaped surrogate stands alone."""
    end, high = -1, False
    for found in _ESCAPES.finditer(text):
        if found[1] is None:
            continue
        low = found[1][1] in "cCdDeEfF"
        if low != (high and found.start() == end):
            return True
        high, end = not low, found.end()
        if high and not text.startswith("\\u", end):
            return True
    return False


# -- values ------------------------------------------------------------------------------------------------


def fit(value: Any, kind: type[T]) -> T:
    """A value as what a call takes. Raises NotFitting."""
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        message, _, path = str(error).partition(" - at `$")
        raise NotFitting(_pointer(path.rstrip("`")), message[:1].lower() + message[1:]) from None


def _pointer(path: str) -> str:
    """`.a[0].b` as a JSON pointer: `/a/0/b`."""
    return re.sub(r"\[([^\]]*)\]|\.", lambda found: f"/{found[1]}" if found[1] else "/", path)


def read_query(request: Request, kind: type[T]) -> T:
    """The query as what a call takes. Raises Unreadable: a parameter that is not known, or wrong."""
    fields = {field.encode_name: field for field in msgspec.structs.fields(kind)}  # type: ignore[arg-type]
    found: dict[str, Any] = {}
    for name, value in request.query_params.multi_items():
        if name not in fields:
            known = ", ".join(fields) or "none"
            raise Unreadable("unknown_parameter", f"there is no parameter '{name[:80]}': there is {known}")
        if "\0" in value:
            raise Unreadable("invalid_parameter", f"{name}: has a NUL character: leave it out")
        if get_origin(fields[name].type) in (list, tuple):
            found.setdefault(name, []).extend(part for part in value.split(",") if part)
        elif name in found:
            raise Unreadable("invalid_parameter", f"{name}: is given twice: give it once")
        else:
            found[name] = value
    try:
        return msgspec.convert(found, kind, strict=False)
    except msgspec.ValidationError as error:
        message, _, path = str(error).partition(" - at `$.")
        where = path.rstrip("`") or "the query"
        if where == "cursor":
            wrong = "this is no cursor of this list: take `next` of an answer, or leave it out"
            raise Unreadable("bad_cursor", wrong) from None
        raise Unreadable("invalid_parameter", f"{where}: {message[:1].lower() + message[1:]}") from None
