"""Reading a request: headers, the raw body within its cap, strict JSON, and values of the types that a call takes."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Protocol, TypeVar, get_args, get_origin

import msgspec
from msgspec import UNSET
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request
from starlette.types import Receive, Scope

from penstock.api.validation_pointer import pointer_and_message
from penstock.flow.errors import PenstockError
from penstock.flow.values.payload import MAX_DEPTH, MAX_KEYS, payload_limit
from penstock.runtime.errors import Invalid
from penstock.runtime.json.strict_json import Unreadable as Unreadable
from penstock.runtime.json.strict_json import WrongType as WrongType
from penstock.runtime.json.strict_json import read_json as read_json

MAX_BODY = 1024 * 1024
MAX_ENVELOPE = 64 * 1024
"""What a body may have in addition to its payload."""
MAX_DRAINED, DRAIN_TIMEOUT = 8 * 1024 * 1024, 1.0
"""Bytes and seconds for which a body that is too large is read on."""
BODY_TIMEOUT = 30.0
"""Seconds in which a body must arrive."""

EXCHANGE = "penstock.exchange"
"""The extension of a scope by which a server offers an `Exchange`."""

T = TypeVar("T")


class Exchange(Protocol):
    """A request and its answer, for who does without messages where both are whole."""

    def whole_body(self) -> bytes | None:
        """The body where all of it has come, once; None: it must be received, in messages."""
        ...

    def answer(self, status: int, head: bytes, body: bytes) -> bool:
        """Write an answer, with the lines of its head as they are; False: it must be sent, in messages."""
        ...


def exchange_of(scope: Scope) -> Exchange | None:
    extensions = scope.get("extensions")
    found: Exchange | None = None if extensions is None else extensions.get(EXCHANGE)
    return found


class Heads(Headers):
    """Headers of a request, found by name without looking through all of them; of several the first counts."""

    def __init__(self, raw: list[tuple[bytes, bytes]]) -> None:
        self._list = raw
        self._first = dict(reversed(raw))

    def __getitem__(self, key: str) -> str:
        return self._first[key.lower().encode("latin-1")].decode("latin-1")

    def get(self, key: str, default: Any = None) -> Any:
        found = self._first.get(key.lower().encode("latin-1"))
        return default if found is None else found.decode("latin-1")


class Asked(Request):
    """A request whose headers are found quickly."""

    def __init__(self, scope: Scope, receive: Receive) -> None:
        super().__init__(scope, receive)
        self._headers = Heads(scope["headers"])


class BodyTooLarge(PenstockError):
    """The body is over the cap."""

    code = "body_too_large"

    def __init__(self, max_body: int) -> None:
        super().__init__(
            f"the body is larger than {max_body} bytes: send less, or a reference to where it lies"
        )


class TooSlow(PenstockError):
    """The body did not come in time."""

    code = "too_slow"

    def __init__(self) -> None:
        super().__init__(f"the body did not come within {BODY_TIMEOUT:g} seconds: send it again")


class NotFitting(Invalid):
    """The body can be read and does not fit. `errors`: path, code and message of each thing."""

    code = "invalid_request"

    def __init__(self, path: str, message: str) -> None:
        super().__init__(f"{path or 'the body'}: {message}")
        self.errors = [{"path": path, "code": "invalid", "message": message}]


def largest_body() -> int:
    """Bytes that a body may have: any payload must fit into it."""
    return max(MAX_BODY, payload_limit() + MAX_ENVELOPE)


async def raw_body(request: Request, max_body: int | None = None) -> bytes:
    """The body as it came. Raises BodyTooLarge, TooSlow, and WrongType where it is compressed."""
    if request.headers.get("content-encoding", "identity") != "identity":
        raise WrongType("the body is compressed: send it plain, without Content-Encoding")
    length = request.headers.get("content-length", "")
    if length.isdigit() and (cap := _exceeded(int(length[:20]), max_body)):
        await _throw_away(request)
        raise BodyTooLarge(cap)
    exchange = exchange_of(request.scope)
    whole = None if exchange is None else exchange.whole_body()
    if whole is None:
        return await _received(request, max_body or largest_body())
    if cap := _exceeded(len(whole), max_body):
        raise BodyTooLarge(cap)
    return whole


def _exceeded(size: int, max_body: int | None) -> int | None:
    """The cap that a body is over."""
    if size <= (max_body or MAX_BODY):
        return None
    cap = max_body or largest_body()
    return cap if size > cap else None


async def _received(request: Request, max_body: int) -> bytes:
    """The body from its parts."""
    parts: list[bytes] = []
    size, more = 0, True
    try:
        async with asyncio.timeout(BODY_TIMEOUT):
            while more:
                part, more = await _part(request)
                parts.append(part)
                size += len(part)
                if size > max_body:
                    break
    except TimeoutError:
        raise TooSlow from None
    if size > max_body:
        parts.clear()
        await _throw_away(request, more)
        raise BodyTooLarge(max_body)
    return parts[0] if len(parts) == 1 else b"".join(parts)


async def _part(request: Request) -> tuple[bytes, bool]:
    """Some of the body, and whether there is more."""
    message = await request.receive()
    if message["type"] == "http.disconnect":
        raise ClientDisconnect
    return message.get("body", b""), message.get("more_body", False)


async def disconnected(receive: Receive) -> None:
    """Wait until the client has hung up."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def _throw_away(request: Request, more: bool = True) -> None:
    """Read on for a moment: who is cut off while sending does not see the answer."""
    size = 0
    with suppress(TimeoutError):
        async with asyncio.timeout(DRAIN_TIMEOUT):
            while more and size < MAX_DRAINED:
                part, more = await _part(request)
                size += len(part)


def media_type(request: Request) -> str:
    """The type of the body, without its parameters."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def validate_content_type(request: Request, accepts: tuple[str, ...]) -> None:
    """Raises WrongType where the body is of another type than these, or of another character set than UTF-8."""
    kind, _, parameters = request.headers.get("content-type", "").partition(";")
    if not parameters and kind in accepts:
        return
    charset = re.search(r"charset\s*=\s*\"?([^\s\";]+)", parameters, re.I)
    if kind.strip().lower() not in accepts:
        raise WrongType(f"Content-Type must be {' or '.join(accepts)}, not '{kind.strip()}'")
    if charset and charset[1].lower() not in ("utf-8", "utf8"):
        raise WrongType(f"the body must be in UTF-8, not {charset[1]}")


# -- strict JSON -------------------------------------------------------------------------------------------


def value_of(raw: bytes) -> Any:
    """The value of a JSON text, at once where it is plain. Raises Unreadable."""
    value = quick_json(raw)
    return read_json(raw) if value is UNSET else value


def quick_json(raw: bytes) -> Any:
    """The value of a JSON text that is surely right; UNSET where somebody must look closer.

    The quick parser keeps the last of two equal keys: what it made has then fewer colons than the text had.
    """
    colons = raw.count(b":")
    if (
        colons > MAX_KEYS
        or raw.find(b"\\u") >= 0
        or raw.translate(_ANY_DIGIT).find(_LONG_NUMBER) >= 0
        or (raw.count(b"[") + raw.count(b"{") > MAX_DEPTH and not _is_flat(raw))
    ):
        return UNSET
    try:
        value = _decode(raw)
        return value if _encode(value).count(b":") == colons else UNSET
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return UNSET


def _is_flat(raw: bytes) -> bool:
    """Whether brackets, those in texts aside, are nested no deeper than allowed: each round takes the innermost."""
    plain = raw.replace(b"\\\\", b"").replace(b'\\"', b"") if b"\\" in raw else raw
    left = b"".join(plain.split(b'"')[::2]).translate(_BRACKETS, _NO_BRACKET)
    for _ in range(MAX_DEPTH):
        if not left:
            return True
        left = left.replace(b"[]", b"")
    return not left


_ANY_DIGIT, _LONG_NUMBER = bytes.maketrans(b"123456789", b"000000000"), b"0" * 19
_BRACKETS = bytes.maketrans(b"{}", b"[]")
_NO_BRACKET = bytes(set(range(256)) - set(b"[]{}"))
_decode, _encode = msgspec.json.Decoder().decode, msgspec.json.Encoder().encode


# -- values ------------------------------------------------------------------------------------------------


def fit(value: Any, kind: type[T]) -> T:
    """A value as what a call takes. Raises NotFitting."""
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise NotFitting(*pointer_and_message(error, value, kind)) from None


def read_query(request: Request, kind: type[T]) -> T:
    """The query as what a call takes. Raises Unreadable: a parameter that is not known, or wrong."""
    fields = {field.encode_name: field for field in msgspec.structs.fields(kind)}  # type: ignore[arg-type]
    found: dict[str, Any] = {}
    for name, value in request.query_params.multi_items():
        if name not in fields:
            known = ", ".join(fields) or "none"
            raise Unreadable("unknown_parameter", f"there is no such parameter: there is {known}", name[:80])
        if "\0" in value:
            raise Unreadable("invalid_parameter", "has a NUL character: leave it out", name)
        if get_origin(fields[name].type) in (list, tuple):
            found.setdefault(name, []).extend(part for part in value.split(",") if part)
        elif name in found:
            raise Unreadable("invalid_parameter", "is given twice: give it once", name)
        else:
            _validate_type(name, value, fields[name].type)
            found[name] = value
    try:
        return msgspec.convert(found, kind, strict=False)
    except msgspec.ValidationError as error:
        path, message = pointer_and_message(error, found, kind)
        raise Unreadable("invalid_parameter", message, path.split("/")[1] if path else "query") from None


def _validate_type(name: str, text: str, kind: Any) -> None:
    """A text may stand for a number; it never stands for null, nor a number for a time. Raises Unreadable."""
    if text.lower() != "null" and {int, float, bool} & set(_kinds(kind)):
        return
    try:
        msgspec.convert(text, kind)
    except msgspec.ValidationError as error:
        raise Unreadable("invalid_parameter", pointer_and_message(error, text, kind)[1], name) from None


def _kinds(kind: Any) -> Iterator[Any]:
    """The plain types of which one is wanted."""
    yield kind
    for each in get_args(kind):
        yield from _kinds(each) if isinstance(each, type) or get_args(each) else ()
