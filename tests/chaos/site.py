"""Three nodes and three workers, each at a place of its own, on a PostgreSQL with a standby, and what befalls them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

from tests.chaos.alone import TOKEN
from tests.chaos.cluster import ENDS, Cluster
from tests.chaos.crew import Crew, Member
from tests.chaos.nemesis import Blow, Fault, Kind
from tests.chaos.network import Network, Place
from tests.chaos.proxy import Proxy
from tests.waiting import within

HERE = Path(__file__).parent
PATIENCE = 15.0
"""Seconds that it takes until an answer comes along that can be lost, at most."""
COMMIT, POST, RESULT = b"COMMIT", b"POST", b'"complete"'
"""What is in a request whose answer is to be lost: of a transaction, of a caller, and of a worker's result."""


class Site:
    """Who is where. One of the workers asks a node over HTTP; all others have a line to the database."""

    def __init__(self, network: Network, cluster: Cluster, folder: Path) -> None:
        self._network, self._cluster, self._folder = network, cluster, folder
        self.urls: list[str] = []
        self._databases: list[Proxy] = []
        self._callers: list[Proxy] = []
        self._reports: list[Proxy] = []
        self._places: dict[str, Place] = {}
        self._cut: set[Place] = set()
        self._losing: set[Proxy] = set()
        self._failovers = 0
        (folder / "ledger").mkdir()

    async def crew(self, database: str) -> Crew:
        """All of them, not begun yet."""
        nodes = [await self._node(f"node{number}", database) for number in range(3)]
        workers = [await self._worker(f"worker{number}", database) for number in range(2)]
        return Crew([*nodes, *workers, await self._far_worker("worker2")])

    async def _node(self, name: str, database: str) -> Member:
        place, url = await self._at(name, database)
        caller = await self._network.line(None, place, (place.address, place.port))
        self._callers.append(caller)
        self.urls.append(f"http://127.0.0.1:{caller.port}")
        args = ("server", "--host", place.address, "--port", place.port)
        return self._member(name, args, {"PENSTOCK_DB": url, "PENSTOCK_TOKEN": TOKEN})

    async def _worker(self, name: str, database: str) -> Member:
        _, url = await self._at(name, database)
        return self._member(name, ("worker", *_tasks()), {"PENSTOCK_DB": url})

    async def _far_worker(self, name: str) -> Member:
        place = self._places[name] = self._network.place(name)
        node = self._places["node0"]
        line = await self._network.line(place, node, (node.address, node.port))
        self._reports.append(line)
        server = f"http://{place.hub}:{line.port}"
        return self._member(name, ("worker", "--server", server, *_tasks()), {"PENSTOCK_TOKEN": TOKEN})

    async def _at(self, name: str, database: str) -> tuple[Place, str]:
        """A new place, and where the database is from there."""
        place = self._places[name] = self._network.place(name)
        front = await self._cluster.front(place)
        self._databases.append(front)
        return place, f"postgresql://penstock@{place.hub}:{front.port}/{database}"

    def _member(self, name: str, args: tuple[object, ...], variables: Mapping[str, str]) -> Member:
        told = {**variables, "CHAOS_LEDGER": str(self._folder / "ledger")}
        return Member(name, args, self._folder, told, spawn=self._places[name].spawn)

    # -- what befalls it -----------------------------------------------------------------------------------

    @property
    def blows(self) -> dict[Kind, Blow]:
        return {
            "cut": self._part,
            "lose": self._lose,
            "break": self._break,
            "slow": self._slow,
            "failover": self._fail_over,
            "stall": self._stall,
        }

    async def _part(self, fault: Fault) -> str | None:
        able = [place for place in self._places.values() if place not in self._cut]
        choice = int(fault.chance * (len(able) + 1))
        if choice == len(able):
            await self._cluster.part(fault.long)
            return "partitions of the standby"
        place = able[choice]
        self._cut.add(place)
        await asyncio.to_thread(self._network.cut, place)
        await asyncio.sleep(fault.long)  # the fault lasts so long
        await asyncio.to_thread(self._network.mend, place)
        self._cut.discard(place)
        return f"partitions of {place.name.rstrip('0123456789')}s"

    async def _lose(self, fault: Fault) -> str | None:
        """The next answer on one of the lines."""
        lines = [
            *((line, COMMIT, "the database") for line in self._databases),
            *((line, POST, "nodes") for line in self._callers),
            *((line, RESULT, "nodes") for line in self._reports * 2),
        ]
        able = [each for each in lines if each[0] not in self._losing]
        if not able:
            return None
        line, request, whose = able[int(fault.chance * len(able))]
        self._losing.add(line)
        line.lose_answer(request)
        try:
            return f"lost replies of {whose}" if await _loses(line) else None
        finally:
            self._losing.discard(line)

    async def _break(self, fault: Fault) -> str | None:
        lines = [*self._databases, *self._callers, *self._reports]
        line = lines[int(fault.chance * len(lines))]
        (line.cut if fault.long % 0.2 < 0.1 else line.half_close)()
        return "broken lines"

    async def _slow(self, fault: Fault) -> str | None:
        line = self._databases[int(fault.chance * len(self._databases))]
        line.delay = {"there": 0.02 + 0.1 * fault.chance, "back": 0.1}
        await asyncio.sleep(fault.long)  # the fault lasts so long
        line.delay = {"there": 0.0, "back": 0.0}
        return "slow lines"

    async def _fail_over(self, fault: Fault) -> str | None:
        """In each of the ways, one after the other."""
        end = ENDS[self._failovers % len(ENDS)]
        self._failovers += 1
        await self._cluster.fail_over(end)
        return f"failovers: primary {end}"

    async def _stall(self, fault: Fault) -> str | None:
        await self._cluster.stall(fault.long)
        return "stalled commits"


async def _loses(line: Proxy) -> bool:
    """Whether it has lost an answer in time."""
    before = line.lost
    return await within(PATIENCE, lambda: line.lost > before)


def _tasks() -> tuple[object, ...]:
    return ("--tasks", HERE / "carrying.py", "--concurrency", 8)
