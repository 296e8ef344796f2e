"""A connection to a Penstock server over HTTP; its problems are raised as the original errors."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote, urlsplit

import aiohttp
import msgspec

from penstock.remote.errors import BadServer, NoServer, NotPenstock, RemoteError, ServerAway
from penstock.remote.problems import error_of

DEFAULT = "http://127.0.0.1:7777"
CALL_TIMEOUT = 60.0
"""Seconds after which a call that was not answered is given up."""
SILENCE = 45.0
"""Seconds without a word after which a stream is taken for dead: there is a comment every 15."""

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode


class StreamEvent(msgspec.Struct, frozen=True):
    """One event of a stream."""

    event: str
    id: str | None
    data: Any


def given(**values: Any) -> dict[str, Any]:
    """A body of what is not None."""
    return {name: value for name, value in values.items() if value is not None}


def path_of(*names: str) -> str:
    """A path whose parts are names of anything."""
    return "/" + "/".join(quote(name, safe="") for name in names)


class Connection:
    """Asks one server. Opened at the first call, closed by `close`."""

    def __init__(
        self, url: str = DEFAULT, token: str | None = None, *, timeout: float = CALL_TIMEOUT
    ) -> None:
        self.url = checked(url)
        self._token, self._timeout = token, timeout
        self._session: aiohttp.ClientSession | None = None

    async def get(self, path: str, query: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """A call that answers with a JSON object."""
        found: dict[str, Any] = await self.ask("GET", path, query=query)
        return found

    async def post(self, path: str, body: Any = None) -> dict[str, Any]:
        made: dict[str, Any] = await self.ask("POST", path, body)
        return made

    async def ask(self, method: str, path: str, body: Any = None, **how: Any) -> Any:
        """What the server answers, as plain values; None where it answers nothing. Takes and raises as `answer`."""
        return (await self.answer(method, path, body, **how))[0]

    async def answer(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float | None = None,
    ) -> tuple[Any, Mapping[str, str]]:
        """What the server answers, and the headers that came with it.

        `body` is sent as JSON, bytes as they are. Raises the error that the server tells of, NoServer, ServerAway,
        NotPenstock.
        """
        sent = {"accept": "application/json", **(headers or {})}
        if body is not None:
            sent.setdefault("content-type", "application/json")
        data = body if isinstance(body, bytes | None) else _encode(body)
        limit = aiohttp.ClientTimeout(total=timeout or self._timeout, connect=10)
        with self._telling():
            async with self._opened().request(
                method, self.url + path, data=data, params=_query(query), headers=sent, timeout=limit
            ) as answer:
                return self._read(answer, await answer.read()), answer.headers

    async def stream(
        self, path: str, *, query: Mapping[str, Any] | None = None
    ) -> AsyncIterator[StreamEvent]:
        """The events of a stream. Raises as `ask`, also when it breaks off."""
        sent = {"accept": "text/event-stream"}
        limit = aiohttp.ClientTimeout(total=None, connect=10, sock_read=SILENCE)
        with self._telling():
            async with self._opened().get(
                self.url + path, params=_query(query), headers=sent, timeout=limit
            ) as answer:
                if answer.status != 200 or answer.content_type != "text/event-stream":
                    self._read(answer, await answer.read())
                    raise NotPenstock(self.url, f"{path} is no stream")
                async for told in _events(answer.content):
                    yield told

    @contextmanager
    def _telling(self) -> Iterator[None]:
        """Raises NoServer or ServerAway where the line fails."""
        try:
            yield
        except aiohttp.ClientConnectorError as error:
            raise NoServer(self.url) from error
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise ServerAway(self.url, _why(error)) from error

    def _read(self, answer: aiohttp.ClientResponse, raw: bytes) -> Any:
        json = answer.content_type.endswith("json")
        try:
            value = _decode(raw) if json and raw else None
        except msgspec.DecodeError as error:
            raise NotPenstock(self.url, str(error)) from None
        if answer.status < 400:
            if raw and not json:
                raise NotPenstock(self.url, f"it answers {answer.content_type or 'something'}")
            return value
        if isinstance(value, dict) and "status" in value and "code" not in value:
            raise RemoteError(f"the Penstock at {self.url} is not ready ({value.get('detail')}): try again")
        if not isinstance(value, dict) or "code" not in value:
            raise NotPenstock(self.url, f"it answers {answer.status} without a reason")
        raise error_of(value)

    def _opened(self) -> aiohttp.ClientSession:
        if self._session is None:
            headers = {} if self._token is None else {"authorization": f"Bearer {self._token}"}
            self._session = aiohttp.ClientSession(headers=headers, auto_decompress=True)
        return self._session

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None


def checked(url: str) -> str:
    """An address that can be asked, without a slash at its end. Raises BadServer."""
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        raise BadServer(url, "is no address") from None
    if not usable:
        raise BadServer(url, "is no address of a server")
    if parts.username or parts.password:
        raise BadServer(parts.hostname or "", "came with a password: pass a token with --token instead")
    if parts.query or parts.fragment:
        raise BadServer(url, "has a query")
    return url.rstrip("/")


def _query(query: Mapping[str, Any] | None) -> dict[str, str]:
    """What is given, as text; a list as its items with commas between them."""
    given = {name: value for name, value in (query or {}).items() if value not in (None, (), [])}
    return {
        name: ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
        for name, value in given.items()
    }


def _why(error: BaseException) -> str:
    return "it did not answer in time" if isinstance(error, TimeoutError) else str(error) or "it hung up"


async def _events(content: asyncio.StreamReader | aiohttp.StreamReader) -> AsyncIterator[StreamEvent]:
    """Server-sent events, one after the other; comments are left out."""
    fields: dict[str, list[str]] = {}
    async for raw in content:
        line = raw.decode().rstrip("\r\n")
        if line.startswith(":"):
            continue
        if line:
            name, _, value = line.partition(":")
            fields.setdefault(name, []).append(value.removeprefix(" "))
            continue
        if "data" in fields:
            data = "\n".join(fields["data"])
            yield StreamEvent(
                fields.get("event", ["message"])[-1], fields.get("id", [None])[-1], _decode(data)
            )
        fields = {}
