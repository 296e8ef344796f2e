"""Where processes are: each place has a link of its own, that can be cut.

With rooms a place has its own network, and a cut takes its link down: packets are lost, and nobody is told. Without
them all places are on the loopback, and a cut holds every line to and from the place.
"""

from __future__ import annotations

import subprocess
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Any

from tests.chaos.proxy import Proxy
from tests.chaos.rooms import NETWORK, can_make, thread_in, where
from tests.postgres_server import LOOPBACK, free_port


class Place:
    """Where something runs: `spawn` starts processes there, `address` is its own, `hub` that of the middle."""

    def __init__(self, name: str, number: int, room: ThreadPoolExecutor | None) -> None:
        self.name, self.link, self._room = name, f"link{number}", room
        self.spawn: Executor | None = room
        self.address = LOOPBACK if room is None else f"10.77.{number}.2"
        self.hub = LOOPBACK if room is None else f"10.77.{number}.1"
        self.port = free_port() if room is None else 7777
        self.lines: list[Proxy] = []

    def close(self) -> None:
        if self._room is not None:
            self._room.shutdown()


class Network:
    """Places around a hub, which is where the test itself runs. Use it with `async with`, in a room if there are."""

    def __init__(self) -> None:
        self.rooms = can_make(NETWORK)
        self.places: list[Place] = []
        self._stack = AsyncExitStack()

    def place(self, name: str) -> Place:
        """A new one."""
        number = len(self.places) + 1
        room = thread_in(NETWORK) if self.rooms else None
        place = Place(name, number, room)
        self.places.append(place)
        if room is not None:
            there = room.submit(where).result()
            _ip("link", "add", place.link, "type", "veth", "peer", "name", "eth0", "netns", there)
            _ip("addr", "add", f"{place.hub}/30", "dev", place.link)
            _ip("link", "set", place.link, "up")
            room.submit(_ip, "addr", "add", f"{place.address}/30", "dev", "eth0").result()
            room.submit(_ip, "link", "set", "eth0", "up").result()
        return place

    async def line(self, near: Place | None, far: Place | None, target: tuple[str, int]) -> Proxy:
        """A line from a place, or from here, to an address at another place: where it begins is its port here."""
        proxy = Proxy(target, LOOPBACK if near is None else near.hub)
        for place in (near, far):
            if place is not None:
                place.lines.append(proxy)
        return await self._stack.enter_async_context(proxy)

    def cut(self, place: Place) -> None:
        """Nothing comes from there or gets there any more."""
        if self.rooms:
            _ip("link", "set", place.link, "down")
        for line in place.lines if not self.rooms else ():
            line.hold()

    def mend(self, place: Place) -> None:
        if self.rooms:
            _ip("link", "set", place.link, "up")
        for line in place.lines if not self.rooms else ():
            line.go_on()

    @property
    def means(self) -> str:
        """How links are cut."""
        return "network namespaces" if self.rooms else "proxies (no namespaces may be made here)"

    async def __aenter__(self) -> Network:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stack.aclose()
        for place in self.places:
            place.close()


def _ip(*args: Any) -> None:
    done = subprocess.run(["ip", *map(str, args)], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"ip {' '.join(args)}: {done.stderr.strip()}")
