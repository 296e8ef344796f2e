"""A node with its HTTP API on a store at an address, and who asks it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp

from penstock import Engine
from penstock.access.access import Access
from penstock.api.app import App
from penstock.api.service import Service
from penstock.api.table import CALLS
from penstock.secrets.keys import Keys
from penstock.secrets.vault import Vault
from penstock.server.http import serving
from penstock.store.open import open_store
from tests.api.conftest import OWN, Client

ADMIN = {"authorization": f"Bearer {OWN}"}


@asynccontextmanager
async def node(
    url: str, folder: Path, tasks: Mapping[str, Any] | None = None, *, open: bool = True, **more: Any
) -> AsyncIterator[Client]:
    """A whole node, until it is closed in good order; a client of it."""
    async with Engine(url, tasks=tasks or {}, grace=0, **more) as engine:
        store = (await engine.running()).store
        access = Access(store, Vault(store, Keys(folder / "penstock.key")), OWN)
        service = await Service.of(engine, access, open=open)
        async with serving(App(service, CALLS), "127.0.0.1", 0) as base, aiohttp.ClientSession() as session:
            yield Client(base, session, service)


async def publish(url: str, *definitions: Any) -> None:
    """Put workflows on the shelf before anybody comes."""
    async with Engine(store=await open_store(url), tasks={}, work=False, feed=False) as engine:
        for definition in definitions:
            await engine.publish(definition)
