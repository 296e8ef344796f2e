"""Frequent S3 calls, for objects and listings: signed here and sent over asynchronous connections.

boto3 takes a millisecond of Python for each call, and a tenth of one for each key of a listing; whatever is not
answered plainly is asked again through it.
"""

from __future__ import annotations

import asyncio
import hashlib
import ssl
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from urllib.parse import quote, urlsplit
from urllib.request import getproxies, proxy_bypass

from msgspec import Struct

from penstock.objects.s3_signature import Keys, authorization

NOTHING = hashlib.sha256(b"").hexdigest()
PARALLEL = 64
SECONDS = 10.0
MAX_OBJECT = 16 * 1024 * 1024
"""Bytes of an answer; a page of a listing has a tenth of it."""


class Said(Struct, frozen=True):
    """A plain answer, names of headers in lower case."""

    headers: Mapping[str, str]
    body: bytes


Line = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class QuickLines:
    """Asks one bucket, over lines that are kept open. None: ask in another way."""

    def __init__(self, endpoint: str, bucket: str, region: str) -> None:
        parts = urlsplit(endpoint)
        self._host, self._name = parts.netloc, parts.hostname or ""
        self._port = parts.port or (443 if parts.scheme == "https" else 80)
        self._tls = ssl.create_default_context() if parts.scheme == "https" else None
        self._bucket = f"{parts.path.rstrip('/')}/{bucket}"
        self._proxied = parts.scheme in getproxies() and not proxy_bypass(self._name)
        self._region = region
        self._idle: list[Line] = []
        self._room = asyncio.Semaphore(PARALLEL)
        self._loop: asyncio.AbstractEventLoop | None = None

    async def head(self, key: str, version: str | None, keys: Keys) -> Mapping[str, str] | None:
        """The headers of an object."""
        query = {} if version is None else {"versionId": version}
        said = await self._asked("HEAD", f"{self._bucket}/{key}", query, keys)
        return None if said is None else said.headers

    async def listed(self, query: Mapping[str, str], keys: Keys) -> bytes | None:
        """A page of the listing of the bucket, as XML."""
        said = await self._asked("GET", self._bucket, query, keys)
        return None if said is None else said.body

    async def close(self) -> None:
        while self._idle:
            self._idle.pop()[1].close()

    async def _asked(self, method: str, path: str, query: Mapping[str, str], keys: Keys) -> Said | None:
        loop = asyncio.get_running_loop()
        self._loop = self._loop or loop
        if self._proxied or self._loop is not loop:
            return None  # its lines belong to another loop
        path = quote(path, safe="/-_.~")
        asks = "&".join(f"{name}={quote(query[name], safe='-_.~')}" for name in sorted(query))
        headers = signed(method, self._host, path, asks, self._region, keys, datetime.now(UTC))
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        asked = f"{method} {path}{'?' if asks else ''}{asks} HTTP/1.1\r\n{lines}\r\n"
        try:
            async with self._room, asyncio.timeout(SECONDS):
                return await self._answer(asked.encode("latin-1", "replace"), method == "GET")
        except (OSError, TimeoutError, EOFError, asyncio.LimitOverrunError, ValueError, KeyError):
            return None

    async def _answer(self, asked: bytes, wants_body: bool) -> Said | None:
        while self._idle:
            line = self._idle.pop()
            try:
                return await self._ask(line, asked, wants_body)
            except (OSError, EOFError):
                line[1].close()  # the other side did not keep it: try the next
        opened = await asyncio.open_connection(self._name, self._port, ssl=self._tls)
        return await self._ask(opened, asked, wants_body)

    async def _ask(self, line: Line, asked: bytes, wants_body: bool) -> Said | None:
        reader, writer = line
        kept = False
        try:
            writer.write(asked)
            status, headers = _read(await reader.readuntil(b"\r\n\r\n"))
            body = await _body(reader, headers) if wants_body else b""
            kept = headers.get("connection", "").lower() != "close" and status >= 200
        finally:
            self._idle.append(line) if kept else writer.close()
        return Said(headers, body) if status == 200 else None


def _read(head: bytes) -> tuple[int, dict[str, str]]:
    """Status and headers of an answer. Raises ValueError."""
    first, *lines = head.decode("utf-8", "replace").split("\r\n")
    version, status, *_ = first.split(" ", 2)
    if version != "HTTP/1.1":
        raise ValueError(version)
    pairs = (line.partition(":") for line in lines if line)
    return int(status), {name.lower(): value.strip() for name, _, value in pairs}


async def _body(reader: asyncio.StreamReader, headers: Mapping[str, str]) -> bytes:
    """All of it, of known length or in chunks. Raises ValueError where it is neither, or too large."""
    coding = headers.get("transfer-encoding", "").lower()
    if not coding:
        return await reader.readexactly(_within(int(headers["content-length"])))
    if coding != "chunked":
        raise ValueError(coding)
    found = bytearray()
    while size := int((await reader.readuntil(b"\r\n")).partition(b";")[0], 16):
        _within(len(found) + size)
        found += (await reader.readexactly(size + 2))[:-2]
    while await reader.readuntil(b"\r\n") != b"\r\n":
        continue  # trailers
    return bytes(found)


def _within(size: int) -> int:
    if not 0 <= size <= MAX_OBJECT:
        raise ValueError(f"{size} bytes")
    return size


def signed(
    method: str, host: str, path: str, query: str, region: str, keys: Keys, now: datetime
) -> dict[str, str]:
    """The headers of a call without a body, signed."""
    moment = _stamp(int(now.timestamp()))
    headers = {"host": host, "x-amz-content-sha256": NOTHING, "x-amz-date": moment}
    if keys.token:
        headers["x-amz-security-token"] = keys.token
    said = authorization(method, path, query, headers, NOTHING, keys, "s3", region)
    return {**headers, "authorization": said}


@lru_cache(maxsize=4)
def _stamp(second: int) -> str:
    return datetime.fromtimestamp(second, UTC).strftime("%Y%m%dT%H%M%SZ")
