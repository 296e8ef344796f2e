"""A real server on loopback, with an engine of its own, and a client."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
import pytest
from msgspec import Struct

from penstock import Engine
from penstock.access.access import Access
from penstock.api.app import App
from penstock.api.service import Service
from penstock.api.table import CALLS
from penstock.secrets.keys import Keys
from penstock.secrets.vault import Vault
from penstock.server.http import serving
from penstock.store.open import open_store
from tests.databases import new_database
from tests.postgres_server import PostgresServer

CHAIN = {
    "penstock": 1,
    "name": "chain",
    "steps": {"first": {"task": "one"}, "second": {"task": "two", "after": ["first"]}},
}
TASKS: dict[str, Any] = {"one": lambda: 1, "two": lambda: 2}


class Answer(Struct):
    """What came back."""

    status: int
    headers: dict[str, str]
    json: Any
    text: str


class Client:
    """Asks a server; every answer is whole."""

    def __init__(self, base: str, session: aiohttp.ClientSession, service: Service) -> None:
        self.base, self.session, self.service = base, session, service
        self.engine = service.engine

    async def ask(self, method: str, path: str, json: Any = None, **more: Any) -> Answer:
        if json is not None:
            more["data"] = msgspec.json.encode(json)
            more.setdefault("headers", {})["content-type"] = "application/json"
        async with self.session.request(method, self.base + path, **more) as response:
            text = await response.text()
            plain = "json" in response.headers.get("content-type", "")
            headers = {name.lower(): value for name, value in response.headers.items()}
            return Answer(response.status, headers, msgspec.json.decode(text) if plain else None, text)

    async def get(self, path: str, **more: Any) -> Answer:
        return await self.ask("GET", path, **more)

    async def post(self, path: str, json: Any = None, **more: Any) -> Answer:
        return await self.ask("POST", path, json, **more)


OWN = "the-admin-token-of-the-tests"


@pytest.fixture
def postgres(server: PostgresServer) -> str:
    """An empty PostgreSQL database."""
    return new_database(server)


Serve = Callable[..., Any]


@asynccontextmanager
async def standing(
    folder: Path, tasks: dict[str, Any] | None = None, **more: Any
) -> AsyncIterator[tuple[str, Service]]:
    """A fresh server, in memory, that needs no sign-in: its address, and what is behind it."""
    store = await open_store("memory:")
    async with Engine(store=store, tasks={**TASKS, **(tasks or {})}) as engine:
        await engine.publish(CHAIN)
        access = Access(store, Vault(store, Keys(folder / "penstock.key")), OWN)
        more.setdefault("open", True)
        service = await Service.of(engine, access, **more)
        async with serving(App(service, CALLS), "127.0.0.1", 0) as base:
            yield base, service


@pytest.fixture
def serve(tmp_path: Path) -> Serve:
    """Run a conversation with a fresh server."""

    def run(talk: Callable[[Client], Awaitable[Any]], **more: Any) -> Any:
        async def main() -> Any:
            async with (
                standing(tmp_path, **more) as (base, service),
                aiohttp.ClientSession() as session,
                asyncio.timeout(60),
            ):
                return await talk(Client(base, session, service))

        return asyncio.run(main())

    return run
