"""One simulation: nodes, workers and customers around one store, and somebody who breaks things."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable
from datetime import datetime
from random import Random
from typing import Any

from msgspec import Struct

from penstock.flow.model.run import ENDED
from penstock.store.protocol import Store
from penstock.store.rows.rows import Filter
from tests.faults import Faults, Strike
from tests.simloop import Process, SimLoop, SimulationError, run_simulated
from tests.simulation.checkers import violations
from tests.simulation.customers import Customers
from tests.simulation.engine import simulated
from tests.simulation.evidence import Evidence, Ledger, moment
from tests.simulation.nodes import Application, Plug, SimNode
from tests.simulation.people import FIRST, tokens
from tests.simulation.reading import EVERYTHING, count_left, read_runs
from tests.simulation.seats import NodeSeat, Seat, WorkerSeat
from tests.simulation.workload import CLOCK, LEASE, TICK, definitions, orders
from tests.waiting import pass_time

BROKE_DOWN = "nothing_breaks_down"
"""Stands for a checker: a node or a worker failed where it never may, or everything stood still, or spun."""

FEED = 20.0
"""Seconds within which some node has taken over the clock, or has seen that it is stopped."""

SETTLING = 1.5 * LEASE
"""Seconds after the last fault until every lease that lives was renewed without trouble."""


class Scale(Struct, frozen=True):
    """How big a simulation is; times in virtual seconds."""

    nodes: int = 2
    workers: int = 3
    runs: int = 16
    troubled: float = 40.0  # faults happen until then
    calm: float = 600.0  # and then everything must end within this
    skew: float = 3600.0  # the clocks of nodes are off by up to this
    halts: float = 1.0  # how likely an operator holds workflows and the installation now and then
    jump: float = 60.0  # seconds by which the store's clock jumps ahead, at most
    after: bool = True  # some orders come when all is calm, and a worker is stopped in good order
    crowd: int = 14  # visitors that come at once; some are sent away
    clock: float = 0.5  # how likely a workflow that starts itself is there
    shapes: tuple[str, ...] = ()  # what is ordered; none: everything


SMALL = Scale(workers=2, runs=2, troubled=5.0, halts=0.2, after=False, crowd=0, clock=0.03)
"""One that takes so little time that thousands can be played."""


class World:
    """Everything around one store, of one seed."""

    def __init__(self, loop: SimLoop, plug: Plug, faults: Faults, scale: Scale) -> None:
        self.loop, self.plug, self.faults, self.scale = loop, plug, faults, scale
        self.ahead = 0.0  # seconds by which the store's clock has jumped
        self.ledger = Ledger(self)
        calm_from = scale.troubled + SETTLING if scale.after else None
        self.orders = orders(faults.seed, scale.runs, scale.troubled * 0.8, calm_from, scale.shapes)
        self.definitions = definitions(self.orders)
        self.server = loop.process("store")
        self._random = Random(f"{faults.seed}:world")
        self.clock_ran: tuple[float, float] | None = None
        self.ticking = self._random.random() < scale.clock
        self.people = {name: token for name, (token, _) in tokens().items()}
        self.store: Store
        self.nodes: list[NodeSeat] = []
        self.workers: list[WorkerSeat] = []

    def time(self) -> float:
        """Seconds since the beginning, by the store's clock, which is the true one."""
        return self.loop.time() + self.ahead

    def now(self) -> datetime:
        """The store's time."""
        return moment(self.time())

    def pick(self) -> tuple[Process, Any] | None:
        """The gate of some node that is there."""
        found = self.some_node()
        return None if found is None else (found[0], found[1].gate)

    def pick_app(self) -> tuple[Process, Application] | None:
        """The API of some node that is there."""
        found = self.some_node()
        return None if found is None else (found[0], found[1].app)

    def some_node(self) -> tuple[Process, SimNode] | None:
        there = [(seat.process, seat.node) for seat in self.nodes if seat.node is not None]
        return self._random.choice(there) if there else None

    async def play(self) -> Evidence:
        self.store = await self.server.call(lambda: self.plug.open_store(self.now))
        await self.server.call(self._furnish)
        self.nodes = [NodeSeat(self, f"node-{number}") for number in range(self.scale.nodes)]
        self.workers = [WorkerSeat(self, f"worker-{number}") for number in range(self.scale.workers)]
        customers = Customers(self)
        asking = self._begin(customers)
        breakers = [asyncio.create_task(self._break(seat)) for seat in (*self.nodes, *self.workers)]
        breakers.append(asyncio.create_task(self._spoil()))
        await pass_time(self.scale.troubled)
        await self._calm_down(breakers)
        if self.scale.after:
            asking.append(asyncio.create_task(self._stop_one(), name="stop"))
        in_time = await self._all_ends(asking)
        await self._end()
        self.plug.clean(self.store)
        return Evidence(
            orders=self.orders,
            ledger=self.ledger,
            runs=await read_runs(self.store),
            in_time=in_time,
            damage=await self.store.check(),
            left=await count_left(self.store),
            record=[each.row for each in (await self.store.audits(EVERYTHING, before=None)).entries],
            ticks=self.clock_ran,
        )

    async def _end(self) -> None:
        """Let all that is there go; to wait for workers that do nothing takes time, and tells little."""
        if self.scale.after:
            await asyncio.gather(*(seat.stop() for seat in self.workers))
        for seat in self.workers:
            seat.kill()
        await asyncio.gather(*(seat.stop() for seat in self.nodes))

    async def _furnish(self) -> None:
        """What is there before anybody comes: workflows, and people who may come in."""
        await self.plug.publish(self.store, {**self.definitions, **(CLOCK if self.ticking else {})})
        for _, token in tokens().values():
            await self.store.add_access_token(token, FIRST)

    def _begin(self, customers: Customers) -> list[asyncio.Task[None]]:
        """Whoever wants something comes."""
        troubled, random = self.scale.troubled, self._random
        begun: list[tuple[str, Coroutine[Any, Any, None]]] = [
            (order.key, customers.serve(order)) for order in self.orders
        ]
        begun.append(("look", customers.look(troubled * 1.2)))
        if random.random() < self.scale.halts:
            begun.append(("operator", customers.operate(troubled * 0.6)))
        if any(order.workflow == "chain" for order in self.orders) and random.random() < 0.5:
            begun.append(("publish", customers.publish(random.uniform(0, troubled))))
        if self.scale.crowd:
            begun.append(("visit", customers.visit(1, random.uniform(0, troubled), self.scale.crowd)))
        return [asyncio.create_task(work, name=name) for name, work in begun]

    async def _calm_down(self, breakers: Iterable[asyncio.Task[None]]) -> None:
        self.faults.stop()
        for breaker in breakers:
            breaker.cancel()
        await asyncio.gather(*breakers, return_exceptions=True)
        for seat in (*self.nodes, *self.workers):
            seat.process.resume()
            seat.restart()

    async def _stop_one(self) -> None:
        """Stop a worker in good order while it works and nothing else goes wrong: that must cost nothing."""
        await pass_time(SETTLING + self._random.uniform(2, 12))
        seat = self._random.choice(self.workers)
        self.ledger.stopped[seat.process.name] = self.time()
        await seat.stop()
        seat.restart()

    async def _all_ends(self, asking: list[asyncio.Task[None]]) -> bool:
        """Whether everybody is served and every run over in time. The clock is stopped for that."""
        until = self.loop.time() + self.scale.calm
        _, waiting = await asyncio.wait(asking, timeout=self.scale.calm)
        if self.ticking:
            await pass_time(2 * TICK + FEED)  # whoever feeds it is known by then
            self.clock_ran = (0.0, self.time())
            await self.store.set_started("clock", False)
            await pass_time(FEED)
        while self.loop.time() < until and not waiting:
            counts = await self.store.count(Filter())
            if not sum(count for status, count in counts.items() if status not in ENDED):
                return True
            await pass_time(0.5)
        return False

    # -- trouble -------------------------------------------------------------------------------------------

    async def _break(self, seat: Seat) -> None:
        """Now and then kill, pause or stop what lives in a seat."""
        kind = seat.name.split("-")[0]
        random = Random(f"{self.faults.seed}:break:{seat.name}")
        while True:
            await pass_time(random.uniform(0.3, 0.5 + 0.15 * self.scale.troubled))
            if self.faults.strikes(f"{kind}.killed"):
                seat.kill()
                await pass_time(random.uniform(0.1, 10))
                seat.restart()
            if self.faults.strikes(f"{kind}.paused"):
                seat.process.pause()
                await pass_time(random.uniform(0.1, 3 * LEASE))
                seat.process.resume()
            if self.faults.strikes(f"{kind}.stopped", 0.1):
                await seat.stop()
                await pass_time(random.uniform(0, 2))
                seat.restart()

    async def _spoil(self) -> None:
        """Let rows lie in the store that nobody can read, and let its clock jump ahead."""
        if self.faults.strikes("store.rows.unreadable", 1.0):
            self.plug.spoil(self.store)
        while True:
            await pass_time(self.faults.between("store.clock", 3, 20))
            if self.faults.strikes("store.clock.jumped"):
                far = self.faults.between("store.clock.jumped", 1, self.scale.jump)
                self.ahead += far
                self.ledger.jumps.append((self.time(), far))


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
        with simulated():
            return run_simulated(main, seed, most_steps=most_steps)
    except SimulationError as error:
        return Simulated(seed, {BROKE_DOWN: [str(error)]}, faults, None, (0, 0.0, 0))
