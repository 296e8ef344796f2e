"""What befalls the processes and the database, and when: all of one seed."""

from __future__ import annotations

import asyncio
import os
import signal
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from random import Random
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from tests.chaos.client import Client
from tests.chaos.crew import Crew, Member
from tests.postgres_server import PostgresServer
from tests.trust.figures import LONG
from tests.waiting import within

Kind = Literal["kill", "stop", "freeze", "crash", "cut", "lose", "break", "slow", "failover", "stall"]
SEED = int(os.environ.get("CHAOS_SEED", "20261116"))
SCALE = int(os.environ.get("CHAOS_SCALE", "3" if os.environ.get(LONG) else "1"))
"""How many times as long, and as many faults, as in `make test`."""
LEAST = min(5, 2 * SCALE)
"""How many times each kind must have struck: what hardly happened was not tried. Five in `make trust`."""
VICTIMS = {"kill": ("node", "worker"), "stop": ("worker",), "freeze": ("node",)}
LONGS: dict[Kind, tuple[float, float]] = {"slow": (1.0, 2.0), "stall": (1.0, 2.0)}
"""Seconds that some kinds last; the others as long as it is said."""
PATIENCE = 20.0
"""Seconds that a stop waits for somebody who works."""
AMBUSH = 10.0
"""Seconds that a stop waits for a worker to begin a task."""
HEALTHY = 0.85
"""The share of operations that must have succeeded before the next blow: what is refused shows little."""
RECOVERY = 30.0
"""Seconds that a blow waits for that, at most."""
LATEST = 120.0
"""Seconds after the plan in which blows are made up for that came to nothing."""
MERCY = 3.0
"""Seconds after a stop in which its victim is spared: it must come to say what it has to say."""


class Fault(Struct, frozen=True):
    """One blow: `at` seconds after the beginning; `long` is how long it lasts."""

    at: float
    kind: Kind
    long: float
    chance: float  # decides who is struck


def scaled(counts: dict[Kind, int]) -> dict[Kind, int]:
    """As many of each as SCALE says."""
    return {kind: SCALE * count for kind, count in counts.items()}


def faults_of(seed: int, seconds: float, counts: dict[Kind, int], stop: tuple[float, float]) -> list[Fault]:
    """Faults of each kind, spread over the time."""
    random = Random(seed)
    longs = dict.fromkeys(counts, stop) | {"kill": (0.0, 0.0), "crash": (0.0, 0.5)} | LONGS
    found = [
        Fault(
            (number + random.random()) * seconds / count, kind, random.uniform(*longs[kind]), random.random()
        )
        for kind, count in counts.items()
        for number in range(count)
    ]
    return sorted(found, key=lambda fault: fault.at)


Blow = Callable[[Fault], Awaitable[str | None]]
"""Does something, and says in the plural what it was, or None where it came to nothing."""


class Nemesis:
    """Strikes as planned, and what came to nothing again; `struck` counts what really hit something.

    `late` says whether somebody came too late by now: else more are stopped.
    """

    def __init__(
        self,
        crew: Crew,
        client: Client,
        blows: Mapping[Kind, Blow],
        late: Callable[[], bool],
    ) -> None:
        self._crew, self._client, self._late = crew, client, late
        own: dict[Kind, Blow] = {"kill": self._kill, "stop": self._stop, "freeze": self._freeze}
        self._blows = own | dict(blows)
        self.struck: Counter[str] = Counter()
        self._hits: Counter[Kind] = Counter()
        self._spared: set[Member] = set()

    async def strike_all(self, faults: Sequence[Fault]) -> None:
        """All faults at their times, or when most goes well again; when it is over, everybody may go on."""
        began = _time()
        async with asyncio.TaskGroup() as group:
            for fault in faults:
                await asyncio.sleep(max(0.0, began + fault.at - _time()))  # a fault has its time
                await self._most_goes_well()
                group.create_task(self._strike(fault))
        await self._make_up({fault.kind: fault for fault in faults}, Random(faults[0].chance))
        await self._most_goes_well()

    async def _make_up(self, like: Mapping[Kind, Fault], random: Random) -> None:
        """Strike on until each kind has struck often enough, and somebody came too late."""
        until = _time() + LATEST
        while (kinds := self._lacking(like)) and _time() < until:
            for kind in kinds:
                await self._strike(replace(like[kind], chance=random.random()))
                await self._most_goes_well()

    def _lacking(self, kinds: Iterable[Kind]) -> list[Kind]:
        return [kind for kind in kinds if self._hits[kind] < LEAST] or ([] if self._late() else ["stop"])

    async def _most_goes_well(self) -> None:
        await within(RECOVERY, lambda: self._client.succeeded >= HEALTHY, pause=0.1)

    async def _strike(self, fault: Fault) -> None:
        name = await self._blows[fault.kind](fault)
        if name is not None:
            self.struck[name] += 1
            self._hits[fault.kind] += 1

    async def _kill(self, fault: Fault) -> str | None:
        member = self._victim(fault)
        return f"kills of {_many(member)}" if member and member.send(signal.SIGKILL) else None

    async def _stop(self, fault: Fault) -> str | None:
        member = await self._worth_stopping(fault)
        return None if member is None else await self._pause(member, fault, _task_begins)

    async def _freeze(self, fault: Fault) -> str | None:
        member = self._victim(fault)
        return None if member is None else await self._pause(member, fault)

    async def _pause(
        self, member: Member, fault: Fault, ambush: Callable[[Member], Awaitable[None]] | None = None
    ) -> str | None:
        self._spared.add(member)
        try:
            if ambush is not None:
                await ambush(member)
            if not member.send(signal.SIGSTOP):
                return None
            await asyncio.sleep(fault.long)  # the fault lasts so long
            member.send(signal.SIGCONT)
            await asyncio.sleep(MERCY)  # its victim comes to say what it has to say
            return f"stops of {_many(member)}"
        finally:
            self._spared.discard(member)

    async def _worth_stopping(self, fault: Fault) -> Member | None:
        """Somebody who works: to stop one that only begins shows nothing. Where the machine is slow, wait for one."""
        await within(PATIENCE, lambda: (member := self._victim(fault)) is not None and member.ready)
        return self._victim(fault)

    def _victim(self, fault: Fault) -> Member | None:
        """Somebody who has begun to work, else anybody."""
        able = [
            each
            for each in self._crew.members
            if each.name.startswith(VICTIMS[fault.kind]) and each not in self._spared
        ]
        found = [each for each in able if each.ready] or [each for each in able if each.alive]
        return found[int(fault.chance * len(found))] if found else None


def crashes_of(server: PostgresServer) -> Blow:
    """The database dies in one of two ways, and comes back; one crash at a time."""
    alone = asyncio.Lock()

    async def crash(fault: Fault) -> str | None:
        async with alone:
            if fault.chance < 0.5:
                await asyncio.to_thread(server.stop, "immediate")
            else:
                await asyncio.to_thread(server.kill)
            await asyncio.sleep(fault.long)  # the fault lasts so long
            await asyncio.to_thread(server.start)
        return "crashes of the database"

    return crash


async def _task_begins(member: Member) -> None:
    """Lie in wait until a worker is inside of a task that holds its loop: its result will come late."""
    before = len(member.notes)
    await within(AMBUSH, lambda: " right " in member.notes[before:], pause=0.005)


def _many(member: Member) -> str:
    return member.name.rstrip("0123456789") + "s"


def _time() -> float:
    return asyncio.get_running_loop().time()
