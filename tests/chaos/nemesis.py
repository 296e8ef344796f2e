"""What befalls the processes and the database, and when: all of one seed."""

from __future__ import annotations

import asyncio
import signal
from collections import Counter
from collections.abc import Sequence
from random import Random
from typing import Literal

from msgspec import Struct

from penstock.testing.postgres import PostgresServer
from tests.chaos.crew import Crew, Member

Kind = Literal["kill", "stop", "freeze", "crash"]
VICTIMS = {"kill": ("node", "worker"), "stop": ("worker",), "freeze": ("node",)}
AMBUSH = 2.0
"""Seconds that a stop waits for a worker to begin a task."""
MERCY = 1.5
"""Seconds after a stop in which its victim is spared: it must come to say what it has to say."""


class Fault(Struct, frozen=True):
    """One blow: `at` seconds after the beginning; `long` is how long it lasts."""

    at: float
    kind: Kind
    long: float
    chance: float  # decides who is struck


def faults_of(seed: int, seconds: float, counts: dict[Kind, int], stop: tuple[float, float]) -> list[Fault]:
    """Faults of each kind, spread over the time."""
    random = Random(seed)
    longs = {"kill": (0.0, 0.0), "stop": stop, "freeze": stop, "crash": (0.0, 0.5)}
    found = [
        Fault(
            (number + random.random()) * seconds / count, kind, random.uniform(*longs[kind]), random.random()
        )
        for kind, count in counts.items()
        for number in range(count)
    ]
    return sorted(found, key=lambda fault: fault.at)


class Nemesis:
    """Strikes as planned; `struck` counts what really hit something."""

    def __init__(self, crew: Crew, server: PostgresServer | None = None) -> None:
        self._crew, self._server = crew, server
        self.struck: Counter[str] = Counter()
        self._spared: set[Member] = set()
        self._database = asyncio.Lock()

    async def strike_all(self, faults: Sequence[Fault]) -> None:
        """All faults at their times; when it is over, everybody may go on."""
        began = asyncio.get_running_loop().time()
        async with asyncio.TaskGroup() as group:
            for fault in faults:
                await asyncio.sleep(max(0.0, began + fault.at - asyncio.get_running_loop().time()))
                group.create_task(self._strike(fault))

    async def _strike(self, fault: Fault) -> None:
        if fault.kind == "crash":
            await self._crash(fault)
            return
        member = self._victim(fault)
        if member is None:
            return
        many = member.name.rstrip("0123456789") + "s"
        if fault.kind == "kill":
            self.struck[f"kills of {many}"] += member.send(signal.SIGKILL)
            return
        self._spared.add(member)
        if fault.kind == "stop":
            await _task_begins(member)
        if member.send(signal.SIGSTOP):
            self.struck[f"stops of {many}"] += 1
            await asyncio.sleep(fault.long)
            member.send(signal.SIGCONT)
            await asyncio.sleep(MERCY)
        self._spared.discard(member)

    def _victim(self, fault: Fault) -> Member | None:
        """Somebody who has begun to work, else anybody."""
        able = [
            each
            for each in self._crew.members
            if each.name.startswith(VICTIMS[fault.kind]) and each not in self._spared
        ]
        found = [each for each in able if each.ready] or [each for each in able if each.alive]
        return found[int(fault.chance * len(found))] if found else None

    async def _crash(self, fault: Fault) -> None:
        """The database dies in one of two ways, and comes back."""
        assert self._server is not None
        async with self._database:
            if fault.chance < 0.5:
                await asyncio.to_thread(self._server.stop, "immediate")
            else:
                await asyncio.to_thread(self._server.kill)
            self.struck["crashes of the database"] += 1
            await asyncio.sleep(fault.long)
            await asyncio.to_thread(self._server.start)


async def _task_begins(member: Member) -> None:
    """Lie in wait until a worker is inside of a task that holds its loop: its result will come late."""
    loop = asyncio.get_running_loop()
    until, before = loop.time() + AMBUSH, len(member.notes)
    while loop.time() < until and " right " not in member.notes[before:]:
        await asyncio.sleep(0.005)
