"""This release beside the one before it, on one database and with each other's workers, rolled forward and back.

In a clone that does not have the earlier code there is only the store that it left in the middle of its work; the
figures say so.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from penstock import Engine
from penstock.store.open import open_store
from tests.chaos import carrying
from tests.chaos.alone import TOKEN, Outcome
from tests.chaos.checking import all_ended, findings, read_runs
from tests.chaos.client import Client, Nodes
from tests.chaos.crew import Crew, Member
from tests.chaos.earlier import RUNS, earlier, unpack, unrecord
from tests.chaos.figures import Record, tell
from tests.chaos.judging import most_succeeded, settle
from tests.chaos.nemesis import LEAST, SCALE, SEED
from tests.cli.command import ROOT
from tests.postgres_server import PostgresServer, free_port

HERE = Path(__file__).parent
ROLLS = 3 * SCALE
"""How many times a process is stopped in good order, to begin again as the other release."""
LONGEST = 300.0 * ROLLS
"""Seconds that there is load at most; it ends with the last roll."""
EACH, EVERY = 1.0, 0.25
"""Seconds between two of them, and between two starts."""


class Skew:
    """Two nodes and four workers, each of either release: two workers ask the database, two a node of the other one."""

    def __init__(self, folder: Path, url: str, old: Path) -> None:
        (folder / "ledger").mkdir()
        self._folder, self._url = folder, url
        self._code = {False: ROOT / "src", True: old}
        self._ports = [free_port(), free_port()]
        self.nodes = [f"http://127.0.0.1:{port}" for port in self._ports]
        self._is_old: dict[Member, bool] = {}
        self.old_starts = 0
        tasks = ("--tasks", HERE / "carrying.py", "--concurrency", 8)
        for number, port in enumerate(self._ports):
            self._add(f"node{number}", ("server", "--port", port), number == 0)
            self._add(f"worker{number}", ("worker", "--db", url, *tasks), number == 0)
            self._add(f"worker{number + 2}", ("worker", "--server", self.nodes[number], *tasks), number == 1)
        self.crew = Crew(list(self._is_old))

    def _add(self, name: str, args: tuple[object, ...], old: bool) -> None:
        member = Member(name, args, self._folder, self._variables(name, old))
        self._is_old[member] = old
        self.old_starts += old

    def _variables(self, name: str, old: bool) -> Mapping[str, str]:
        database = {"PENSTOCK_DB": self._url} if name.startswith("node") else {}
        return database | {
            "PENSTOCK_TOKEN": TOKEN,
            "CHAOS_LEDGER": str(self._folder / "ledger"),
            "PYTHONPATH": f"{self._code[old]}{os.pathsep}{ROOT}",
        }

    async def roll(self) -> None:
        """One after the other, and round again: forward, and back."""
        for number in range(ROLLS):
            await asyncio.sleep(EACH)  # each release works for so long
            member = self.crew.members[number % len(self.crew.members)]
            old = self._is_old[member] = not self._is_old[member]
            self.old_starts += old
            await self.crew.roll(member, self._variables(member.name, old))


async def beside(server: PostgresServer, folder: Path, old: Path) -> Outcome:
    """Load and rolls, then rest, then the questions. Answers figures, and what was found wrong."""
    began, client, url = time.monotonic(), Client(SEED), server.create_database()
    skew = Skew(folder, url, old)
    crew, nodes = skew.crew, Nodes(skew.nodes, TOKEN)
    try:
        async with Engine(url, tasks=carrying, work=False) as engine:
            await engine.publish(HERE / "carry.yaml")
        await crew.begin()
        async with asyncio.TaskGroup() as group:
            group.create_task(client.load(nodes, LONGEST, EVERY))
            await skew.roll()
            client.enough = True
        verdict = await settle(url, client, crew, folder)
    finally:
        await nodes.close()
        crew.kill()
    figures: dict[str, Any] = {"processes of the earlier release": skew.old_starts, "rolls": ROLLS}
    figures |= verdict.figures | {"seconds": time.monotonic() - began}
    return figures, verdict.wrong


async def left_over(db: Path) -> Outcome:
    """The store of the earlier release, gone on with by this one."""
    began = time.monotonic()
    store = await open_store(str(db))
    async with Engine(store=store, tasks=_tasks()) as engine:
        before = len([row for row in await engine.runs(limit=RUNS) if row["status"] == "succeeded"])
        await all_ended(store)
        runs, damage = await read_runs(store), await store.check()
    wrong = findings(runs, {ran.number: id for id, ran in runs.items()}) | {"damage": damage}
    return {
        "runs that the earlier release began": len(runs),
        "of these ended by it": before,
        "runs verified": len(runs),
        **{name: len(said) for name, said in wrong.items()},
        "seconds": time.monotonic() - began,
    }, wrong


def _tasks() -> dict[str, Any]:
    named = {f"carry.{name}": lambda number: number for name in ("left", "right", "join")}
    return named | {"carry.take": lambda number: {"number": number, "token": "again"}}


def test_what_the_earlier_release_left_is_gone_on_with(tmp_path: Path, record_property: Record) -> None:
    figures, wrong = asyncio.run(left_over(unrecord(tmp_path)))

    tell(record_property, "a store of the earlier release", figures)
    assert wrong == {name: [] for name in wrong}
    assert figures["runs that the earlier release began"] == RUNS
    assert 0 < figures["of these ended by it"] < RUNS


@pytest.mark.long("test_what_the_earlier_release_left_is_gone_on_with")
def test_two_releases_beside_each_other_lose_and_double_nothing(
    server: PostgresServer, tmp_path: Path, record_property: Record
) -> None:
    revision = earlier()
    if revision is None:  # a clone without history: what can be tried is tried above
        record_property("skew", "only a recorded store: this clone does not have the earlier release")
        return

    figures, wrong = asyncio.run(beside(server, tmp_path, unpack(revision, tmp_path / "earlier")))

    tell(record_property, "two releases", figures | {"earlier release": revision})
    assert wrong == {name: [] for name in wrong}
    assert figures["processes of the earlier release"] >= LEAST
    assert most_succeeded(figures)
