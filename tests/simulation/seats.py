"""Where processes live in a simulation: when one dies, another comes into its place."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from contextvars import Context
from datetime import datetime
from functools import partial
from random import Random
from typing import TYPE_CHECKING

from penstock.remote.gate import HttpGate
from penstock.runtime.dispatch.gate import Gate
from penstock.store.errors import StoreError
from tests.faults import faulty_gate, faulty_store
from tests.simloop import Gone, Process
from tests.simulation.evidence import GateWatch, StoreWatch, moment
from tests.simulation.lines import SimConnection
from tests.simulation.nodes import SimNode, Surroundings
from tests.simulation.workers import RealWorker, SimWorker
from tests.simulation.workload import GRACE
from tests.waiting import pass_time

if TYPE_CHECKING:
    from tests.simulation.world import World


class Seat:
    """A place where a process lives: when it dies, another one comes."""

    def __init__(self, world: World, name: str) -> None:
        self.world, self.name = world, name
        self.lives = 0
        self.process: Process = self._born()

    def _born(self) -> Process:
        self.lives += 1
        process = self.world.loop.process(f"{self.name}.{self.lives}")
        process.spawn(self.live(process))
        return process

    async def live(self, process: Process) -> None:
        raise NotImplementedError

    def kill(self) -> None:
        self.process.kill()

    async def stop(self) -> None:
        """Let it finish what it does, then end it."""
        raise NotImplementedError

    def restart(self) -> None:
        if not self.process.alive:
            self.process = self._born()


class NodeSeat(Seat):
    """A node; each of its lives has another wrong clock."""

    node: SimNode | None = None

    async def live(self, process: Process) -> None:
        world = self.world
        store = faulty_store(world.store, world.server, world.faults, StoreWatch(world.ledger))
        random = Random(f"{world.faults.seed}:{process.name}")
        skew, offset = random.uniform(-1, 1) * world.scale.skew, random.uniform(0, 1e6)
        loop = world.loop
        surroundings = Surroundings(
            process.name,
            lambda: moment(loop.time() + skew),
            lambda: loop.time() + offset,
            lambda: f"{int(loop.time() * 1000) + 10**12:012x}{random.getrandbits(32):08x}",
            GateWatch(world.ledger),
            world.ticking,
        )
        node = world.plug.node(store, surroundings)
        while True:
            try:
                await node.open()
                break
            except StoreError:
                await pass_time(0.5)
        self.node = node

    def kill(self) -> None:
        super().kill()
        self.node = None

    async def stop(self) -> None:
        node, self.node = self.node, None
        try:
            if node is not None:
                with suppress(Gone, StoreError):
                    await self.process.call(node.close)
        finally:
            self.kill()


class WorkerSeat(Seat):
    """A worker; each of its lives has another id, and another wrong clock.

    Every other one is a zombie. The real ones come over HTTP or straight to the gate, as chance has it.
    """

    worker: SimWorker | RealWorker | None = None
    working: asyncio.Task[None] | None = None

    async def live(self, process: Process) -> None:
        world = self.world
        faults, mended = world.faults, world.ledger.mended
        die = partial(self._die, process)
        if int(self.name.rpartition("-")[2]) % 2:
            self.worker = SimWorker(faulty_gate(world.pick, faults), process.name, faults, mended, die)
        else:
            gate, now = self._gate(process)
            self.worker = RealWorker(gate, process.name, now, faults, mended, die)
        self.working = asyncio.create_task(self.worker.run())
        await self.working

    def _gate(self, process: Process) -> tuple[Gate, Callable[[], datetime]]:
        """How a real worker comes in, and the time as it knows it."""
        world = self.world
        random = Random(f"{world.faults.seed}:{process.name}")
        skew, offset = random.uniform(-1, 1) * world.scale.skew, random.uniform(0, 1e6)
        if random.random() < 0.3:
            return faulty_gate(world.pick, world.faults), lambda: moment(world.loop.time() + skew)
        line = SimConnection(world.pick_app, world.faults, "work")
        gate = HttpGate(line, monotonic=lambda: world.loop.time() + offset)
        world.faults.sometimes("a worker comes over HTTP")
        return gate, gate.now

    def _die(self, process: Process) -> None:
        """A task takes its worker along; somebody starts another one a little later."""
        self.world.ledger.poisoned.add(process.name)
        self.world.faults.sometimes("a task kills its worker")
        process.kill()
        self.world.loop.call_later(2, self.restart, context=Context())

    async def stop(self) -> None:
        worker, working = self.worker, self.working
        try:
            if worker is not None and working is not None:
                worker.stop()
                await asyncio.wait([working], timeout=GRACE + 20)
        finally:
            self.kill()
