"""One engine with its worker on a SQLite file, asked over HTTP, while something goes on around it."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import msgspec

from penstock.remote.engine import RemoteEngine
from penstock.store.open import open_store
from tests.chaos.checking import BOUND, Runs, read_runs
from tests.chaos.client import Client, Nodes
from tests.chaos.crew import Crew, Member
from tests.chaos.judging import figures_of, judge
from tests.chaos.nemesis import SEED
from tests.chaos.shimmed import CONTROL, Shim
from tests.cli.command import ROOT
from tests.postgres_server import free_port
from tests.waiting import within

HERE = Path(__file__).parent
TOKEN = "a-token-for-the-chaos-tests-alone"
LONGEST = 600.0
"""Seconds that there is load at most."""
Outcome = tuple[dict[str, Any], dict[str, list[str]]]


class Alone:
    """`penstock up` on a file in `disk`. What it writes there, and its clock, can be tampered with by `shim`."""

    def __init__(self, folder: Path, disk: Path, *, token: str | None = None) -> None:
        (folder / "ledger").mkdir()
        self.folder, self.db, self.port = folder, str(disk / "penstock.db"), free_port()
        self._token = token
        self._control = folder / "shim.json"
        self.shim(Shim())
        variables = {
            "PENSTOCK_DB": self.db,
            "PENSTOCK_PORT": str(self.port),
            "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}",
            "CHAOS_LEDGER": str(folder / "ledger"),
            "CHAOS_LONGEST": "0.2",
            CONTROL: str(self._control),
        } | ({} if token is None else {"PENSTOCK_TOKEN": token})
        args = ("up", "--tasks", HERE / "carrying.py")
        self.member = Member("up", args, folder, variables, program=shimmed)
        self.crew, self.client = Crew([self.member]), Client(SEED)
        self.runs: Runs = {}  # what was in the file at the end
        self.url = f"http://127.0.0.1:{self.port}"

    def shim(self, shim: Shim) -> None:
        """From now on. Whole or not at all: who reads it meanwhile sees the one before."""
        part = self._control.with_suffix(".part")
        part.write_bytes(msgspec.json.encode(shim))
        part.replace(self._control)

    @property
    def slow_syncs(self) -> int:
        """How many times the disk took long."""
        file = self._control.with_suffix(".slow")
        return file.stat().st_size if file.exists() else 0

    async def under_load(
        self, every: float, trouble: Callable[[], Coroutine[Any, Any, dict[str, Any]]]
    ) -> Outcome:
        """Load as long as there is trouble, then rest, then the questions. `trouble` tells figures of its own."""
        began, nodes = time.monotonic(), Nodes([self.url], self._token)
        try:
            await self.crew.begin()
            engine = RemoteEngine(self.url, self._token)
            await engine.publish("carry", (HERE / "carry.yaml").read_text())
            async with asyncio.TaskGroup() as group:
                group.create_task(self.client.load(nodes, LONGEST, every))
                troubled = await trouble()
                self.client.enough = True
            rest = await _all_ended(engine)
            await engine.connection.close()
            await self.crew.stop()
        finally:
            await nodes.close()
            self.crew.kill()
        figures, wrong = await self._judged()
        figures["duplicates suppressed"] = nodes.duplicates + figures["reports repeated"]
        told = {"seconds until all ended": rest, "seconds": time.monotonic() - began}
        return troubled | figures | told, wrong

    async def _judged(self) -> Outcome:
        store = await open_store(self.db)
        try:
            runs, damage = await read_runs(store), await store.check()
        finally:
            await store.close()
        self.runs = runs
        wrong = judge(runs, self.client, self.crew, self.folder) | {"damage": damage}
        return figures_of(self.client, self.crew, self.folder, runs, wrong), wrong


def shimmed(*args: object) -> list[str]:
    """`penstock` that can be tampered with."""
    return [sys.executable, "-m", "tests.chaos.shimmed", *map(str, args)]


async def _all_ended(engine: RemoteEngine) -> float:
    """Seconds until no run is under way; the bound where some still are."""
    began = time.monotonic()

    async def ended() -> bool:
        return not await engine.runs(statuses=["running", "waiting", "stalled"], limit=1)

    await within(BOUND, ended, pause=0.2)
    return time.monotonic() - began
