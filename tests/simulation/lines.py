"""HTTP without sockets: the client's own code on one side, the whole application on the other, a bad wire between."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, cast
from urllib.parse import quote, urlencode

import aiohttp
import msgspec

from penstock.remote.connection import Connection, _query
from penstock.remote.engine import RemoteEngine
from penstock.remote.errors import NoServer, ServerAway
from penstock.store.errors import StoreAway
from tests.faults import Faults, Wire
from tests.simloop import Process, current_process
from tests.simulation.nodes import Application

PATIENCE = 20.0
"""Seconds that a customer waits for an answer."""

REPEATED = frozenset({"report", "start", "emit"})
"""What a proxy may send twice: a key, an id or a lease says that it is the same."""

_encode = msgspec.json.Encoder().encode


class Reply(msgspec.Struct):
    """What came back."""

    status: int = 0
    content_type: str = ""
    headers: dict[str, str] = {}
    body: bytes = b""


class Exchange:
    """One request and its answer. It may be served twice: the later answer counts."""

    def __init__(self, method: str, path: str, query: str, headers: Mapping[str, str], body: bytes) -> None:
        raw = [(name.encode(), value.encode()) for name, value in headers.items()]
        self.scope: dict[str, Any] = {
            "type": "http",
            "http_version": "1.1",
            "method": method,
            "path": path,
            "raw_path": quote(path, safe="/%").encode(),
            "query_string": query.encode(),
            "root_path": "",
            "scheme": "http",
            "headers": [(b"host", b"127.0.0.1"), *raw],
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 80),
        }
        self.body = body
        self.gone = asyncio.Event()  # the client hung up

    async def serve(self, app: Application) -> Reply:
        """Let the application answer."""
        reply, told = Reply(headers={}), False

        async def receive() -> dict[str, Any]:
            nonlocal told
            if not told:
                told = True
                return {"type": "http.request", "body": self.body, "more_body": False}
            await self.gone.wait()
            return {"type": "http.disconnect"}

        async def send(message: Mapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                reply.status = message["status"]
                reply.headers = {name.decode(): value.decode() for name, value in message["headers"]}
                reply.content_type = reply.headers.get("content-type", "").partition(";")[0]
            else:
                reply.body += message.get("body", b"")

        await app(dict(self.scope), receive, send)
        return reply


class SimConnection(Connection):
    """A connection whose every request goes to some node that is there; the rest is the client's own code."""

    def __init__(
        self,
        pick: Callable[[], tuple[Process, Application] | None],
        faults: Faults,
        name: str = "http",
        token: str | None = None,
        again: bool = True,
    ) -> None:
        """With `again` a proxy on the way may send a request twice."""
        super().__init__("http://127.0.0.1", token, timeout=PATIENCE)
        self._pick, self._wire = pick, Wire(name, faults)
        self._again = REPEATED if again else frozenset()

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
        found = self._pick()
        if found is None:
            raise NoServer(self.url)
        process, app = found
        sent = {"accept": "application/json", **(headers or {})}
        if body is not None:
            sent["content-type"] = "application/json"
        if self._token is not None:
            sent["authorization"] = f"Bearer {self._token}"
        data = b"" if body is None else body if isinstance(body, bytes) else _encode(body)
        exchange = Exchange(method, path, urlencode(_query(query)), sent, data)
        verb, caller = verb_of(method, path), current_process()
        if caller is not None:
            caller.lines[exchange.gone.set] = None
        try:
            async with asyncio.timeout(timeout or self._timeout):
                reply = await self._wire.ask(
                    process, verb, lambda: exchange.serve(app), writes=True, repeats=verb in self._again
                )
        except (StoreAway, TimeoutError) as error:
            raise ServerAway(self.url, str(error) or "it did not answer in time") from error
        finally:
            exchange.gone.set()
            if caller is not None:
                caller.lines.pop(exchange.gone.set, None)
        return self._read(cast(aiohttp.ClientResponse, reply), reply.body), reply.headers


def verb_of(method: str, path: str) -> str:
    """What a request asks for, in one word: the last name in its path, but for some."""
    parts = path.split("/")[2:]
    if parts[0] == "events" or (parts[0] == "runs" and parts[-1] == "events"):
        return "emit"
    if parts[0] == "approvals":
        return "decide" if method == "POST" else "approvals"
    if parts[0] == "workflows" and parts[-1] == "runs":
        return "start"
    if parts[0] == "runs" and len(parts) == 2:
        return "show"
    return "list" if parts == ["runs"] else parts[-1]


def remote(connection: Connection) -> RemoteEngine:
    """The client that programs use, over that connection."""
    engine = RemoteEngine(connection.url)
    engine.connection = connection
    return engine
