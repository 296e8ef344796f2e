"""An engine on a file, served over HTTP, and worker processes that work for it."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from penstock import Engine
from penstock.access.access import Access
from penstock.api.app import App
from penstock.api.service import Service
from penstock.api.table import CALLS
from penstock.secrets.keys import Keys
from penstock.secrets.vault import Vault
from penstock.server.http import serving
from penstock.store.open import open_store
from tests.remote.node import node

HERE = Path(__file__).parent


@asynccontextmanager
async def engine_behind_http(folder: Path) -> AsyncIterator[tuple[Engine, str]]:
    """An engine without a worker of its own, and the address of its server."""
    store = await open_store(str(folder / "penstock.db"))
    async with Engine(store=store, tasks={}, work=False) as engine:
        service = await Service.of(engine, Access(store, Vault(store, Keys(Path("no.key")))), open=True)
        async with serving(App(service, CALLS), "127.0.0.1", 0) as base:
            yield engine, base


async def launch(
    kind: str, base: str, concurrency: int = 5, script: str = "rule_tasks.mjs"
) -> asyncio.subprocess.Process:
    """A worker of a kind in a process of its own."""
    more = {"PENSTOCK_SERVER": base, "CONCURRENCY": str(concurrency)}
    if kind == "node":
        command = [node(), str(HERE / script)]
    else:
        tasks = str(HERE.parent / "workers" / "rule_tasks_async.py")
        how = ["--tasks", tasks, "--concurrency", str(concurrency), "--log-level", "error"]
        command = [sys.executable, "-m", "penstock", "worker", *how]
    return await asyncio.create_subprocess_exec(
        *command, env={**os.environ, **more}, stdout=asyncio.subprocess.DEVNULL
    )
