"""Every path with every method and in every disguise: only what is public by its own name is served to nobody."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import aiohttp
from yarl import URL

from penstock.api.call import Call
from penstock.api.router import Router
from penstock.api.table import CALLS
from penstock_release.api import CALLS as RELEASES
from tests.api.test_matrix import filled
from tests.release.conftest import coordinating
from tests.trust.figures import LONG

ALL = (*CALLS, *RELEASES)
METHODS = (
    "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "QUERY", "get", "BREW",
)  # fmt: skip
REFUSED = {400, 401, 403, 404, 405}
DISGUISES: tuple[Callable[[str], str], ...] = (
    *(lambda path, tail=tail: path + tail for tail in (
        "/", "//", "/health", "/ready", "/configs", "/openapi.json", "/favicon.ico", "/app/assets/x", ";.js",
        ";/health", ".js", "%2fhealth", "/%2e%2e/health", "/..;/health", "%00", "%20", "%0a", "?/health", "#/health",
        "/.", "\\", "%5c",
    )),
    *(lambda path, head=head: head + path for head in (
        "/", "/.", "/health/..", "/health;", "/app/..", "/app/..%2f..", "/app/%2e%2e", "/app/assets/..", "/hooks/..",
        "/api/session/..", "/%2e", "/static", "/public", "http://127.0.0.1",
    )),
    lambda path: path.upper(),
    lambda path: path.title(),
    lambda path: path.replace("/", "//"),
    lambda path: path.replace("/", "%2f"),
    lambda path: path.replace("a", "%61"),
    lambda path: path.replace("/", "\\"),
    lambda path: path[1:],
)  # fmt: skip
"""How a path was made to look public, or otherwise than its guard thought, in other products."""

Heard = tuple[int, dict[str, str], bytes]
Ask = Callable[[str, str], Awaitable[Heard]]


class Line:
    """A connection on which requests go out as they are written: a client would mend them."""

    def __init__(self, base: str) -> None:
        self._url = URL(base)
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, method: str, path: str) -> Heard:
        if self._streams is None:
            self._streams = await asyncio.open_connection(self._url.host, self._url.port)
        reader, writer = self._streams
        writer.write(f"{method} {path} HTTP/1.1\r\nHost: {self._url.authority}\r\n\r\n".encode())
        async with asyncio.timeout(10):
            heard = await _heard(reader, method)
        if heard[1].get("connection") == "close" or heard[0] == 400:
            self.close()
        return heard

    def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
        self._streams = None


def talked(folder: Path, talk: Callable[[Ask], Awaitable[Any]]) -> Any:
    """A conversation of nobody with a server that has every call there is."""

    async def main() -> Any:
        async with coordinating(folder) as here:
            line = Line(here.base)
            try:
                return await talk(line.ask)
            finally:
                line.close()

    return asyncio.run(main())


async def _heard(reader: asyncio.StreamReader, method: str) -> Heard:
    first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    if method == "HEAD":
        return int(first.split()[1]), headers, b""
    if headers.get("transfer-encoding") == "chunked":
        body = b""
        while size := int((await reader.readline()).strip() or b"0", 16):
            body += (await reader.readexactly(size + 2))[:-2]
        await reader.readline()
    else:
        body = await reader.readexactly(int(headers.get("content-length", 0)))
    return int(first.split()[1]), headers, body


def paths() -> dict[str, dict[str, Call]]:
    """Each path with its calls by method."""
    found: dict[str, dict[str, Call]] = {}
    for call in ALL:
        found.setdefault(call.path, {})[call.method] = call
    return found


def plain(path: str) -> str:
    return filled(path).replace("{*page}", "x").replace("{store}", "1").partition("?")[0]


def test_a_method_that_is_not_served_is_refused_and_nobody_is_served_what_is_not_public(
    tmp_path: Path,
) -> None:
    async def talk(ask: Ask) -> list[Any]:
        wrong = []
        for path, calls in paths().items():
            for method in METHODS:
                call = calls.get("GET" if method == "HEAD" else method)
                if call is not None and call.action == "public":
                    continue
                status, headers, _ = await ask(method, plain(path))
                if call is not None:
                    good = status == 401
                else:
                    good = status in (400, 405) and (
                        status == 400 or headers["allow"] == ", ".join(sorted(calls))
                    )
                if not good:
                    wrong.append((method, path, status, headers.get("allow")))
        return wrong

    assert talked(tmp_path, talk) == []


def test_a_head_is_answered_as_a_get_without_the_body(tmp_path: Path) -> None:
    async def talk(ask: Ask) -> list[Any]:
        wrong = []
        for path in ("/", "/app/x", "/health", "/ready", "/openapi.json", "/favicon.ico", "/api/session"):
            got, headers, body = await ask("GET", path)
            head, others, nothing = await ask("HEAD", path)
            if (got, b"") != (head, nothing) or headers.get("content-type") != others.get("content-type"):
                wrong.append((path, got, head, len(body)))
        return wrong

    assert talked(tmp_path, talk) == []


def test_row_15_no_disguise_of_a_path_makes_it_public(tmp_path: Path) -> None:
    """What lies below /app/ is the page itself, which holds nothing. In `make test` each path wears a half of them."""

    async def talk(ask: Ask) -> list[Any]:
        page = (await ask("GET", "/app/x"))[2]
        wrong = []
        for number, (path, calls) in enumerate(paths().items()):
            method = next((method for method, call in calls.items() if call.action != "public"), None)
            if method is None:
                continue
            for disguise in DISGUISES if os.environ.get(LONG) else DISGUISES[number % 2 :: 2]:
                dressed = disguise(plain(path))
                status, headers, body = await ask(method, dressed)
                document = headers.get("content-type", "").startswith("text/html") and len(body) == len(page)
                if status not in REFUSED and not (
                    document and dressed.startswith("/app/") and method == "GET"
                ):
                    wrong.append((method, dressed, status, body[:80]))
        return wrong

    assert talked(tmp_path, talk) == []


def test_what_is_public_is_this_and_nothing_else() -> None:
    public = sorted(f"{call.method} {call.path}" for call in ALL if call.action == "public")

    assert public == [
        "DELETE /api/session", "GET /", "GET /api/session", "GET /api/session/callback", "GET /api/session/oidc",
        "GET /app/assets/{name}", "GET /app/{*page}", "GET /favicon.ico", "GET /health", "GET /openapi.json",
        "GET /ready", "OPTIONS /hooks/{workflow}", "OPTIONS /hooks/{workflow}/{event}", "POST /api/session",
        "POST /hooks/callback/{id}", "POST /hooks/s3/{store}", "POST /hooks/{workflow}",
        "POST /hooks/{workflow}/{event}",
    ]  # fmt: skip


def test_the_guard_looks_at_the_call_that_is_served() -> None:
    """The router finds one call for a path as it came; nothing else decides whether it is public."""
    router = Router(ALL)

    for call in ALL:
        found, _ = router.find(call.method, plain(call.path))
        assert (found.method, found.path, found.action) == (call.method, call.path, call.action)


def test_a_file_of_the_pages_is_one_of_them_and_no_other(tmp_path: Path) -> None:
    names = (
        "..%2f..%2fapi%2fapp.py",
        "%2e%2e",
        "..%5c..%5cx",
        "x%00.js",
        "%2fetc%2fpasswd",
        "....//x",
        "index.html%2f..",
    )

    async def talk(ask: Ask) -> set[int]:
        return {(await ask("GET", f"/app/assets/{name}"))[0] for name in names}

    assert talked(tmp_path, talk) == {404}


def test_a_websocket_is_refused_before_it_is_one(tmp_path: Path) -> None:
    async def main() -> list[int]:
        found = []
        async with coordinating(tmp_path) as here, aiohttp.ClientSession() as session:
            for path in ("/api/stream", "/api/events", "/api/runs/x/stream", "/", "/hooks/x"):
                try:
                    await session.ws_connect(here.base + path)
                except aiohttp.WSServerHandshakeError as error:
                    found.append(error.status)
        return found

    found = asyncio.run(main())
    assert len(found) == 5 and set(found) <= REFUSED
