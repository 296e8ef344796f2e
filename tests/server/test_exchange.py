"""The short way of a request through the server: what it answers is what the long way answers, byte for byte."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from penstock import Engine
from penstock.access.access import Access
from penstock.api.app import App
from penstock.api.request_body import EXCHANGE
from penstock.api.service import Service
from penstock.api.table import CALLS
from penstock.secrets.keys import Keys
from penstock.secrets.vault import Vault
from penstock.server import http
from penstock.server.http import serving
from penstock.store.open import open_store

CHAIN: dict[str, Any] = {
    "penstock": 1,
    "name": "chain",
    "steps": {"first": {"task": "one"}, "second": {"task": "two", "after": ["first"]}},
}
CALL = "POST /api/workflows/chain/call"
START = "POST /api/workflows/chain/runs"
JSON = "content-type: application/json"
HOST = "host: 127.0.0.1"
LARGE = b'{"input": "' + b"x" * 200_000 + b'"}'
HUGE = b'{"input": "' + b"x" * 2_000_000 + b'"}'


def request(line: str, *heads: str, body: bytes | None = None, host: str | None = HOST) -> bytes:
    """A request as it goes over the line, with an id that the answer repeats."""
    lines = [f"{line} HTTP/1.1", *([host] if host else []), "x-request-id: of-the-test", *heads]
    if body is not None:
        lines.append(f"content-length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode() + (body or b"")


def chunked(line: str, *parts: bytes) -> bytes:
    body = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in (*parts, b""))
    return request(line, JSON, "transfer-encoding: chunked") + body


LAST = request("GET /health", "connection: close")
"""Sent behind everything, so that the connection ends with its answer."""

TALKS: dict[str, bytes] = {
    "health": request("GET /health"),
    "head": request("HEAD /health"),
    "not kept": LAST,
    "HTTP/1.0": request("GET /health").replace(b"HTTP/1.1", b"HTTP/1.0"),
    "HTTP/1.0, kept": request("GET /health", "connection: keep-alive").replace(b"HTTP/1.1", b"HTTP/1.0"),
    "many ahead": request("GET /health") * 20 + request(CALL, JSON, body=b"{}") * 3,
    "call": request(CALL, JSON, body=b"{}"),
    "call, no body": request(CALL),
    "call, empty body": request(CALL, JSON, body=b""),
    "call, an input": request(CALL, JSON, body=b'{"input": {"a": [1, 2.5, null, "\xc3\xa9"]}}'),
    "call, a version that is not there": request(CALL, JSON, body=b'{"version": 9}'),
    "call, large": request(CALL, JSON, body=LARGE),
    "call, in chunks": chunked(CALL, b"{", b'"input": 1', b"}"),
    "call, in large chunks": chunked(CALL, LARGE[:99_999], LARGE[99_999:]),
    "start": request(START, JSON, body=b'{"subject": "s"}'),
    "too large": request(CALL, JSON, body=HUGE),
    "too large, in chunks": chunked(CALL, HUGE[:1_500_000], HUGE[1_500_000:]),
    "expects a word": request(CALL, JSON, "expect: 100-continue", body=b"{}"),
    "no JSON": request(CALL, JSON, body=b"nonsense"),
    "two equal keys": request(CALL, JSON, body=b'{"input": 1, "input": 2}'),
    "does not fit": request(CALL, JSON, body=b'{"inputs": 1}'),
    "of no type": request(CALL, body=b"{}"),
    "of another type": request(CALL, "content-type: text/plain", body=b"{}"),
    "of another character set": request(CALL, f"{JSON}; charset=latin-1", body=b"{}"),
    "compressed": request(CALL, JSON, "content-encoding: gzip", body=b"{}"),
    "nowhere": request("GET /nowhere"),
    "with another method": request("DELETE /health"),
    "unknown workflow": request("POST /api/workflows/nobody/call", JSON, body=b"{}"),
    "encoded": request("GET /api/workflows/%63hain"),
    "whole address": request("GET http://127.0.0.1/health"),
    "unknown parameter": request("GET /api/runs?nonsense=1"),
    "a token in the address": request("GET /api/runs?token=1"),
    "no host": request("GET /health", host=None),
    "two hosts": request("GET /health", HOST),
    "another host": request("GET /health", host="host: example.org"),
    "another origin": request(CALL, JSON, "origin: https://example.org", body=b"{}"),
    "through a proxy": request("GET /api/runs", "x-forwarded-for: 10.0.0.1"),
    "a bad token": request("GET /api/runs", "authorization: Bearer nonsense"),
    "a bad id": request("GET /health").replace(b"of-the-test", b"!"),
    "an upgrade": request("GET /health", "connection: upgrade", "upgrade: websocket"),
    "too many headers": request("GET /health", *["x-a: 1"] * 300),
    "a head too large": request("GET /health", *[f"x-{n}: {'x' * 1000}" for n in range(100)]),
    "no HTTP": b"nonsense\r\n\r\n",
    "a page": request("GET /favicon.ico"),
    "the description": request("GET /openapi.json"),
    "a wish to know": request("OPTIONS /api/runs"),
}


class Long:
    """The same application for a server that offers no exchange."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        assert EXCHANGE in scope.pop("extensions")
        await self._app(scope, receive, send)


async def app_of(engine: Engine, store: Any, folder: Path) -> App:
    await engine.publish(CHAIN)
    return App(
        await Service.of(engine, Access(store, Vault(store, Keys(folder / "penstock.key"))), open=True), CALLS
    )


async def say(base: str, said: bytes) -> bytes:
    """All that is answered until the connection ends."""
    parts = urlsplit(base)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    try:
        writer.write(said)
        return await asyncio.wait_for(reader.read(), 30)
    except ConnectionResetError:  # it was told, and went on
        return b"reset"
    finally:
        writer.close()


def plain(answer: bytes) -> bytes:
    """Without what is never the same: times, ids, and the port in addresses."""
    answer = re.sub(rb"date: [^\r]+", b"date: then", answer)
    answer = re.sub(rb'"20\d\d-[^"]+Z"', b'"then"', answer)
    answer = re.sub(rb"[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{16,32}", b"ID", answer)
    return re.sub(rb'"id":"[^"]+"', b'"id":"ID"', answer)


def test_the_short_way_answers_as_the_long_way_does(tmp_path: Path) -> None:
    async def main() -> dict[str, tuple[bytes, bytes]]:
        store = await open_store("memory:")
        async with Engine(store=store, tasks={"one": lambda: 1, "two": lambda: {"a": 2}}) as engine:
            app = await app_of(engine, store, tmp_path)
            async with serving(app, "127.0.0.1", 0) as short, serving(Long(app), "127.0.0.1", 0) as long:
                found = {}
                for name, said in TALKS.items():
                    said = said if said == LAST else said + LAST
                    found[name] = plain(await say(short, said)), plain(await say(long, said))
                return found

    found = asyncio.run(main())

    assert {name: both for name, both in found.items() if both[0] != both[1]} == {}
    assert [name for name, (short, _) in found.items() if not short.startswith(b"HTTP/1.1 ")] == []


def test_a_body_that_comes_in_pieces_is_read_to_its_end(tmp_path: Path) -> None:
    async def main() -> bytes:
        store = await open_store("memory:")
        async with Engine(store=store, tasks={"one": lambda: 1, "two": lambda: 2}) as engine:
            app = await app_of(engine, store, tmp_path)
            async with serving(app, "127.0.0.1", 0) as base:
                parts = urlsplit(base)
                reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
                head, _, body = request(CALL, JSON, "connection: close", body=LARGE).partition(b"\r\n\r\n")
                for piece in (head[:20], head[20:] + b"\r\n\r\n", body[:5], body[5:70_000], body[70_000:]):
                    writer.write(piece)
                    await writer.drain()
                    await asyncio.sleep(0)
                answer = await asyncio.wait_for(reader.read(), 30)
                writer.close()
                return answer

    assert asyncio.run(main()).startswith(b"HTTP/1.1 200 OK")


def test_a_connection_on_which_nothing_is_asked_any_more_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http, "IDLE", 0.2)

    async def main() -> bytes:
        store = await open_store("memory:")
        async with Engine(store=store, tasks={"one": lambda: 1, "two": lambda: 2}) as engine:
            app = await app_of(engine, store, tmp_path)
            async with serving(app, "127.0.0.1", 0) as base:
                return await say(base, request("GET /health") * 3)

    assert asyncio.run(main()).count(b"200 OK") == 3
