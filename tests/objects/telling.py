"""Notifications as stores send them, and a server that takes them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
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
from tests.api.conftest import Client

TOKEN = "the-token-that-the-store-shows"
PICS = {
    "penstock": 1,
    "name": "pics",
    "source": {"kind": "object", "store": "pics", "events": ["created", "deleted"]},
    "steps": {"look": {"task": "look", "emits": "OK"}},
}


async def look(ctx: Any) -> Any:
    return ctx.run["subject"]


TASKS = {"look": look}


def record(
    key: str = "a.png",
    name: str = "ObjectCreated:Put",
    bucket: str = "pics",
    source: str = "aws:s3",
    **found: Any,
) -> dict[str, Any]:
    """One record, as Amazon writes it."""
    said = {"size": 1, "eTag": "e1", "sequencer": "0055AED6DCD90281E5", **found}
    return {
        "eventVersion": "2.1",
        "eventSource": source,
        "awsRegion": "eu-west-1",
        "eventTime": "2026-01-31T12:00:00.000Z",
        "eventName": name,
        "userIdentity": {"principalId": "AWS:ABC"},
        "requestParameters": {"sourceIPAddress": "192.0.2.7"},
        "responseElements": {"x-amz-request-id": "C3D13FE58DE4C810"},
        "s3": {"bucket": {"name": bucket}, "object": {"key": key, **said}},
    }


def body(*records: Any) -> bytes:
    return json.dumps({"Records": list(records)}).encode()


def shown(token: str = TOKEN) -> dict[str, str]:
    return {"authorization": f"Bearer {token}", "content-type": "application/json"}


@asynccontextmanager
async def standing(
    folder: Path, stores: dict[str, str], db: str = "memory:", port: int = 0, tasks: Any = None, **more: Any
) -> AsyncIterator[Client]:
    """A server with stores, for whoever tells it of objects."""
    store = await open_store(db)
    async with Engine(store=store, tasks=TASKS if tasks is None else tasks, stores=stores, **more) as engine:
        access = Access(store, Vault(store, Keys(folder / "penstock.key")), "the-admin-token-of-the-tests")
        service = await Service.of(engine, access, open=True)
        async with (
            serving(App(service, CALLS), "127.0.0.1", port) as base,
            aiohttp.ClientSession() as session,
        ):
            yield Client(base, session, service)


def talk_to(
    talk: Callable[[Client], Awaitable[Any]], folder: Path, stores: dict[str, str], **more: Any
) -> Any:
    async def main() -> Any:
        async with standing(folder, stores, **more) as client, asyncio.timeout(60):
            return await talk(client)

    return asyncio.run(main())


async def inputs_of(client: Client, workflow: str = "pics") -> list[dict[str, Any]]:
    """The inputs of all runs of a workflow, the oldest first."""
    runs = await client.engine.runs(workflow=workflow, limit=1000, sort="oldest")
    return [(await client.engine.show(run["id"]))["input"] for run in runs]
