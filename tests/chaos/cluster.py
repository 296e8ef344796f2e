"""A PostgreSQL and its standby at two places, and lines to whichever is the primary just now."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Literal

from msgspec import Struct

from tests.chaos.network import Network, Place
from tests.chaos.proxy import Proxy
from tests.postgres_server import PostgresServer
from tests.waiting import until

End = Literal["killed", "cut off", "paused"]
"""How a primary goes."""
ENDS: tuple[End, ...] = ("killed", "cut off", "paused")


class Seat(Struct, eq=False):
    """A server, where it is, and the line by which it follows the other."""

    server: PostgresServer
    place: Place
    line: Proxy | None = None

    @property
    def target(self) -> tuple[str, int]:
        return self.server.address, self.server.port


class Cluster:
    """The primary and its standby; with `synchronous` a commit is answered when both have it on disk."""

    def __init__(self, network: Network, primary: Seat, standby: Seat, synchronous: bool) -> None:
        self._network, self.primary, self.standby = network, primary, standby
        self._synchronous = synchronous
        self._fronts: list[Proxy] = []
        self._busy = asyncio.Lock()

    @classmethod
    @contextlib.asynccontextmanager
    async def begin(cls, network: Network, *, synchronous: bool = True) -> AsyncIterator[Cluster]:
        """Both run while the block does."""
        seats = []
        try:
            for name in ("postgres0", "postgres1"):
                place = network.place(name)
                server = PostgresServer(place.address, place.spawn) if place.spawn else PostgresServer()
                seats.append(Seat(server, place))
            for here, there in (seats, reversed(seats)):
                here.line = await network.line(here.place, there.place, there.target)
            cluster = cls(network, seats[0], seats[1], synchronous)
            await asyncio.to_thread(seats[0].server.start)
            if synchronous:  # before it is copied: the copy must wait for its own standby, too
                await asyncio.to_thread(seats[0].server.require_standby)
            await cluster._follow()
            yield cluster
        finally:
            for seat in seats:
                await asyncio.to_thread(seat.server.remove)

    async def front(self, near: Place | None) -> Proxy:
        """A line from a place, or from here, to the primary, whoever that will be."""
        proxy = await self._network.line(near, self.primary.place, self.primary.target)
        self._fronts.append(proxy)
        return proxy

    def address_of_both(self, database: str) -> str:
        """One that leads to whichever is the primary."""
        hosts = ",".join(f"{host}:{port}" for host, port in (self.primary.target, self.standby.target))
        return f"postgresql://penstock@{hosts}/{database}?target_session_attrs=read-write"

    async def fail_over(self, end: End) -> None:
        """The primary goes, the standby takes its place, and the old one comes back as a standby."""
        async with self._busy:
            await self.in_step()
            old = self.primary
            if end == "killed":
                await asyncio.to_thread(old.server.kill)
            elif end == "cut off":
                await asyncio.to_thread(self._network.cut, old.place)
            else:
                await asyncio.to_thread(old.server.pause)
            await self.promote()
            await asyncio.to_thread(self._network.mend, old.place)
            await self._follow()

    async def promote(self) -> None:
        """The standby is the primary from now on, also for those who are connected with the old one."""
        old, new = self.primary, self.standby
        await asyncio.to_thread(new.server.promote)
        assert await asyncio.to_thread(lambda: new.server.waits_for_standby) == self._synchronous
        for front in self._fronts:
            old.place.lines.remove(front)
            new.place.lines.append(front)
            front.go_on()
            front.point_to(new.target)
        self.primary, self.standby = new, old

    async def stall(self, seconds: float) -> None:
        """The standby's disk takes long: so does every commit that waits for it."""
        async with self._busy:
            await asyncio.to_thread(self.standby.server.pause)
            await asyncio.sleep(seconds)  # the fault lasts so long
            await asyncio.to_thread(self.standby.server.resume)

    async def part(self, seconds: float) -> None:
        """The standby is cut off for a while."""
        async with self._busy:
            await asyncio.to_thread(self._network.cut, self.standby.place)
            await asyncio.sleep(seconds)  # the fault lasts so long
            await asyncio.to_thread(self._network.mend, self.standby.place)

    async def drop_what_is_under_way(self) -> None:
        """What a primary sent before it died, and its standby has not got yet, is lost."""
        assert self.standby.line is not None
        await self.standby.line.break_off()

    async def in_step(self) -> None:
        """Wait until the standby has all that the primary has."""
        await until(
            lambda: asyncio.to_thread(lambda: self.primary.server.followed),
            "the standby to follow",
            120,
            pause=0.1,
        )

    async def _follow(self) -> None:
        seat = self.standby
        assert seat.line is not None
        await asyncio.to_thread(seat.server.follow, seat.place.hub, seat.line.port)
        await self.in_step()
