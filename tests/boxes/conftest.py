"""A whole Penstock on loopback, on either database, and functions for it to call."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
import pytest
from aiohttp import web

from penstock import Engine
from penstock.access.access import Access
from penstock.api.app import App
from penstock.api.service import Service
from penstock.api.table import CALLS
from penstock.boxes.task_environment import TaskEnvironment
from penstock.secrets.keys import Keys
from penstock.secrets.vault import Vault
from penstock.server.http import serving
from penstock.store.open import open_store
from tests.databases import new_database
from tests.postgres_server import PostgresServer
from tests.waiting import until

OWN = "the-admin-token-of-the-tests"
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


ONE_STORE = pytest.mark.parametrize("url", ["sqlite"], indirect=True)
"""For what a service or a person decides: one store is as good as another."""


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty database of either kind."""
    if request.param == "sqlite":
        return str(tmp_path / "boxes.db")
    postgres: PostgresServer = request.getfixturevalue("server")
    return new_database(postgres)


class Site:
    """A Penstock that runs, and a client of it."""

    def __init__(self, base: str, service: Service, session: aiohttp.ClientSession) -> None:
        self.base, self.service, self.session = base, service, session
        self.engine = service.engine

    async def ask(self, method: str, path: str, json: Any = None, token: str = OWN) -> tuple[int, Any]:
        headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
        data = None if json is None else msgspec.json.encode(json)
        address = path if path.startswith("http") else self.base + path
        async with self.session.request(method, address, data=data, headers=headers) as answer:
            return answer.status, msgspec.json.decode(await answer.read() or b"null")

    async def run(
        self, workflow: dict[str, Any], input: Any = None, *, override: str | None = None, **more: Any
    ) -> dict[str, Any]:
        """Publish, start, and wait until the run is at rest."""
        await self.engine.publish({"penstock": 1, "name": "w", **workflow}, override=override)
        run = await self.engine.start("w", input=input, **more)
        return await self.engine.wait(run, 20, rest=True)

    async def until(self, run: str, step: str, status: str) -> dict[str, Any]:
        """Wait until a step is so."""
        return await until(
            lambda: self.engine.show(run),
            f"step {step} to be {status}",
            so=lambda view: view["steps"][step]["status"] == status,
        )


@asynccontextmanager
async def site(folder: Path, url: str = "memory:", **environment: Any) -> AsyncIterator[Site]:
    """A Penstock that may call 127.0.0.1."""
    environment.setdefault("egress_allow", ["127.0.0.1"])
    store = await open_store(url)
    async with Engine(store=store, tasks={}, world=TaskEnvironment(**environment)) as engine:
        service = await Service.of(engine, Access(store, Vault(store, Keys(folder / "penstock.key")), OWN))
        async with (
            serving(App(service, CALLS), "127.0.0.1", 0) as base,
            aiohttp.ClientSession() as session,
            asyncio.timeout(60),
        ):
            running = await engine.running()
            assert running.environment is not None
            running.environment.public_url = running.environment.public_url or base
            yield Site(base, service, session)


class Functions:
    """A real HTTP server whose paths are functions; `got` are the calls."""

    def __init__(self, **paths: Handler) -> None:
        self.got: list[tuple[str, dict[str, str], Any]] = []
        self._paths = paths
        self.base = ""

    async def answer(self, request: web.Request) -> web.StreamResponse:
        raw = await request.read()
        plain = "json" in request.content_type and bool(raw)
        body = msgspec.json.decode(raw) if plain else raw
        self.got.append((request.path, {name.lower(): each for name, each in request.headers.items()}, body))
        return await self._paths[request.path.strip("/").split("/")[0]](request)


@asynccontextmanager
async def functions(**paths: Handler) -> AsyncIterator[Functions]:
    made = Functions(**paths)
    app = web.Application(client_max_size=10 * 1024 * 1024)
    app.router.add_route("*", "/{path:.*}", made.answer)
    runner = web.AppRunner(app, shutdown_timeout=0.2)
    await runner.setup()
    try:
        listening = web.TCPSite(runner, "127.0.0.1", 0)
        await listening.start()
        port = runner.addresses[0][1]
        made.base = f"http://127.0.0.1:{port}"
        yield made
    finally:
        await runner.cleanup()


def says(value: Any, status: int = 200, **more: Any) -> Handler:
    """A function that always answers the same."""

    async def answer(request: web.Request) -> web.StreamResponse:
        return web.json_response(value, status=status, **more)

    return answer
