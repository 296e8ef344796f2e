"""A gate behind a real HTTP server on loopback."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from penstock import Engine
from penstock.access.access import Access
from penstock.api.app import App
from penstock.api.service import Service
from penstock.api.table import CALLS
from penstock.api.work.lease_tokens import LeaseTokens
from penstock.api.work.worker_registry import Behind, WorkerRegistry
from penstock.runtime.dispatch.gate import Gate
from penstock.secrets.keys import Keys
from penstock.secrets.vault import Vault
from penstock.server.http import serving
from penstock.store.open import open_store
from penstock.store.rows.access import AuditRow
from penstock.workers.worker.worker import utc_now


class Kept:
    """Notes in memory."""

    def __init__(self) -> None:
        self.kept: dict[str, str] = {}

    async def put_note(
        self, name: str, text: str | None, audit: AuditRow | None = None, *, replace: bool = True
    ) -> str | None:
        was = self.kept.get(name)
        if text is None:
            self.kept.pop(name, None)
        elif replace or was is None:
            self.kept[name] = text
        return was

    async def notes(self, prefix: str) -> dict[str, str]:
        return {name: value for name, value in self.kept.items() if name.startswith(prefix)}


@asynccontextmanager
async def gate_behind_http(gate: Gate) -> AsyncIterator[str]:
    """The address of a server that hands out what this gate has."""
    registry = WorkerRegistry(Behind(gate, utc_now, LeaseTokens(b"for tests"), Kept()))
    store = await open_store("memory:")
    async with Engine(store=store, tasks={}) as engine:
        service = await Service.of(
            engine, Access(store, Vault(store, Keys(Path("no.key")))), open=True, worker_registry=registry
        )
        async with serving(App(service, CALLS), "127.0.0.1", 0) as base:
            yield base
