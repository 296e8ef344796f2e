"""One simulation: nodes, workers and customers around one store, and somebody who breaks things."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from contextlib import suppress
from datetime import datetime
from functools import partial
from random import Random
from typing import Any, TypeVar

from msgspec import Struct

from penstock.flow.errors import PenstockError
from penstock.flow.run import ENDED
from penstock.store.errors import StoreAway
from penstock.store.protocol import Store
from penstock.store.rows import Filter
from penstock.testing.faults import Faults, Strike, faulty_gate, faulty_store
from penstock.testing.simloop import Gone, Process, SimLoop, SimulationError, run_simulated
from tests.simulation.checkers import violations
from tests.simulation.evidence import Evidence, GateWatch, Ledger, StoreWatch, moment
from tests.simulation.nodes import Plug, SimNode, Surroundings
from tests.simulation.reading import count_left, read_runs
from tests.simulation.workers import SimWorker
from tests.simulation.workload import DEFINITIONS, LEASE, Order, orders

T = TypeVar("T")
BROKE_DOWN = "nothing_breaks_down"
"""Stands for a checker: a node or a worker failed where it never may, or everything stood still, or spun."""


class Scale(Struct, frozen=True):
    """How big a simulation is; times in virtual seconds."""

    nodes: int = 2
    workers: int = 3
    runs: int = 18
    troubled: float = 90.0  # faults happen until then
    calm: float = 900.0  # and then everything must end within this
    skew: float = 3600.0  # the clocks of nodes are off by up to this


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
        )
        node = world.plug.node(store, surroundings)
        while True:
            try:
                await node.open()
                break
            except StoreAway:
                await asyncio.sleep(0.5)
        self.node = node

    def kill(self) -> None:
        super().kill()
        self.node = None

    async def stop(self) -> None:
        node, self.node = self.node, None
        try:
            if node is not None:
                with suppress(Gone, StoreAway):
                    await self.process.call(node.close)
        finally:
            self.kill()


class WorkerSeat(Seat):
    """A worker; each of its lives has another id."""

    worker: SimWorker | None = None
    working: asyncio.Task[None] | None = None

    async def live(self, process: Process) -> None:
        world = self.world
        gate = faulty_gate(world.pick, world.faults, GateWatch(world.ledger))
        self.worker = SimWorker(gate, process.name, world.faults)
        self.working = asyncio.create_task(self.worker.run())
        await self.working

    async def stop(self) -> None:
        worker, working = self.worker, self.working
        try:
            if worker is not None and working is not None:
                worker.stopping = True
                await asyncio.wait([working], timeout=60)
        finally:
            self.kill()


class World:
    """Everything around one store, of one seed."""

    def __init__(self, loop: SimLoop, plug: Plug, faults: Faults, scale: Scale) -> None:
        self.loop, self.plug, self.faults, self.scale = loop, plug, faults, scale
        self.ledger = Ledger(loop)
        self.orders = orders(faults.seed, scale.runs, scale.troubled * 0.7)
        self.server = loop.process("store")
        self._random = Random(f"{faults.seed}:world")
        self.store: Store
        self.nodes: list[NodeSeat] = []
        self.workers: list[WorkerSeat] = []

    def now(self) -> datetime:
        """The true time, which is the store's."""
        return moment(self.loop.time())

    def pick(self) -> tuple[Process, Any] | None:
        """The gate of some node that is there."""
        found = self._some_node()
        return None if found is None else (found[0], found[1].gate)

    def _some_node(self) -> tuple[Process, SimNode] | None:
        there = [(seat.process, seat.node) for seat in self.nodes if seat.node is not None]
        return self._random.choice(there) if there else None

    async def play(self) -> Evidence:
        self.store = await self.server.call(lambda: self.plug.open_store(self.now))
        await self.server.call(lambda: self.plug.publish(self.store, DEFINITIONS))
        self.nodes = [NodeSeat(self, f"node-{number}") for number in range(self.scale.nodes)]
        self.workers = [WorkerSeat(self, f"worker-{number}") for number in range(self.scale.workers)]
        customers = [asyncio.create_task(self._serve(order), name=order.key) for order in self.orders]
        breakers = [asyncio.create_task(self._break(seat)) for seat in (*self.nodes, *self.workers)]
        await asyncio.sleep(self.scale.troubled)
        await self._calm_down(breakers)
        in_time = await self._all_ends(customers)
        for seat in (*self.workers, *self.nodes):
            await seat.stop()
        return Evidence(
            orders=self.orders,
            ledger=self.ledger,
            runs=await read_runs(self.store),
            in_time=in_time,
            damage=await self.store.check(),
            left=await count_left(self.store),
        )

    async def _calm_down(self, breakers: Iterable[asyncio.Task[None]]) -> None:
        self.faults.stop()
        for breaker in breakers:
            breaker.cancel()
        await asyncio.gather(*breakers, return_exceptions=True)
        for seat in (*self.nodes, *self.workers):
            seat.process.resume()
            seat.restart()

    async def _all_ends(self, customers: list[asyncio.Task[None]]) -> bool:
        """Whether every customer is served and every run over in time."""
        until = self.loop.time() + self.scale.calm
        _, waiting = await asyncio.wait(customers, timeout=self.scale.calm)
        while self.loop.time() < until and not waiting:
            counts = await self.store.count(Filter())
            if not sum(count for status, count in counts.items() if status not in ENDED):
                return True
            await asyncio.sleep(1)
        return False

    # -- customers -----------------------------------------------------------------------------------------

    async def _serve(self, order: Order) -> None:
        async with asyncio.TaskGroup() as group:
            for at in order.events_at:
                group.create_task(self._emit(order, at))
            group.create_task(self._start(order))

    async def _start(self, order: Order) -> None:
        await asyncio.sleep(order.at)
        asked = [
            self._ask(lambda node: node.start_run(order.workflow, order.input, order.key))
            for _ in range(1 + order.again)
        ]
        told = await asyncio.gather(*asked)
        self.ledger.starts[order.key] += told
        run = told[0]
        if order.cancel_after is not None:
            await asyncio.sleep(order.cancel_after)
            if await self._ask(lambda node: node.cancel(run)):
                self.ledger.canceled[run] = self.loop.time()

    async def _emit(self, order: Order, at: float) -> None:
        await asyncio.sleep(at)
        key, data = {"job": order.input["job"]}, {"n": order.input["n"] + 7}
        self.faults.sometimes("an event comes before its run", order.key not in self.ledger.starts)
        answer = await self._ask(lambda node: node.emit(key, "finished", data, f"{order.key}-event"))
        self.ledger.emitted[order.key].append(answer)
        self.faults.sometimes("an event is a duplicate", answer == "duplicate")

    async def _ask(self, what: Callable[[SimNode], Coroutine[Any, Any, T]]) -> T:
        """Ask some node, and another where the answer does not come."""
        while True:
            found = self._some_node()
            if found is not None:
                answer = await self._ask_node(*found, what)
                if answer is not None and not self.faults.strikes("customer.answer-lost"):
                    return answer
                self.faults.sometimes("a customer asks again")
            await asyncio.sleep(self._random.uniform(0.1, 2))

    async def _ask_node(
        self, process: Process, node: SimNode, what: Callable[[SimNode], Coroutine[Any, Any, T]]
    ) -> T | None:
        try:
            async with asyncio.timeout(20):
                return await process.call(partial(what, node))
        except (Gone, StoreAway, TimeoutError):
            return None
        except PenstockError as error:
            if any(seat.node is node for seat in self.nodes):  # one that stops may say so
                self.ledger.errors.append(f"at {self.loop.time():.3f}: {error!r}")
            return None

    # -- trouble -------------------------------------------------------------------------------------------

    async def _break(self, seat: Seat) -> None:
        """Now and then kill, pause or stop what lives in a seat."""
        kind = seat.name.split("-")[0]
        random = Random(f"{self.faults.seed}:break:{seat.name}")
        while True:
            await asyncio.sleep(random.uniform(1, 6))
            if self.faults.strikes(f"{kind}.killed"):
                seat.kill()
                await asyncio.sleep(random.uniform(0.1, 10))
                seat.restart()
            if self.faults.strikes(f"{kind}.paused"):
                seat.process.pause()
                await asyncio.sleep(random.uniform(0.1, 3 * LEASE))
                seat.process.resume()
            if self.faults.strikes(f"{kind}.stopped", 0.1):
                await seat.stop()
                await asyncio.sleep(random.uniform(0, 2))
                seat.restart()


class Simulated(Struct, frozen=True):
    """How a simulation ended."""

    seed: int
    found: dict[str, list[str]]  # checker → what it says
    faults: Faults
    evidence: Evidence | None  # None: it broke down
    fingerprint: tuple[int, float, int]


def simulate(
    plug: Plug,
    seed: int,
    scale: Scale | None = None,
    spared: Iterable[Strike] = (),
    most_steps: int = 500_000,
) -> Simulated:
    """Play one seed and look at what it left."""
    faults = Faults(seed, spared=spared)

    async def main(loop: SimLoop) -> Simulated:
        evidence = await World(loop, plug, faults, Scale() if scale is None else scale).play()
        found = violations(evidence)
        return Simulated(seed, found, faults, evidence, loop.fingerprint())

    try:
        return run_simulated(main, seed, most_steps=most_steps)
    except SimulationError as error:
        return Simulated(seed, {BROKE_DOWN: [str(error)]}, faults, None, (0, 0.0, 0))


__all__ = ["Scale", "Simulated", "World", "simulate"]
