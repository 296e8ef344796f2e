"""A gate behind a real HTTP server on loopback."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from penstock import Engine
from penstock.api.app import App
from penstock.api.service import Service
from penstock.api.table import CALLS
from penstock.api.work.desk import Behind, Desk, utc_now
from penstock.api.work.leases import Seal
from penstock.runtime.gate import Gate
from penstock.server.http import serving


class Kept:
    """Notes in memory."""

    def __init__(self) -> None:
        self.kept: dict[str, str] = {}

    async def note(self, name: str, value: str, *, first: bool = False) -> str:
        if not first:
            self.kept[name] = value
        return self.kept.setdefault(name, value)

    async def notes(self, prefix: str) -> dict[str, str]:
        return {name: value for name, value in self.kept.items() if name.startswith(prefix)}


@asynccontextmanager
async def gate_behind_http(gate: Gate) -> AsyncIterator[str]:
    """The address of a server that hands out what this gate has."""
    desk = Desk(Behind(gate, utc_now, Seal(b"for tests"), Kept()))
    app = App(Service(engine=Engine(), open=True, desk=desk), CALLS)
    async with serving(app, "127.0.0.1", 0) as base:
        yield base
