"""Those who want something: customers with their orders, and an operator who holds workflows. All ask until told."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from random import Random
from typing import TYPE_CHECKING, Any, TypeVar

from penstock.flow.errors import PenstockError
from penstock.store.errors import StoreAway
from penstock.testing.simloop import Gone, Process
from tests.simulation.evidence import Halt, Pause
from tests.simulation.nodes import SimNode
from tests.simulation.workload import DEFINITIONS, Order

if TYPE_CHECKING:
    from tests.simulation.world import World

T = TypeVar("T")


class Customers:
    """They do not know which node they ask, and ask another where the answer does not come."""

    def __init__(self, world: World) -> None:
        self.world, self.faults, self.ledger = world, world.faults, world.ledger
        self._random = Random(f"{world.faults.seed}:customers")

    async def serve(self, order: Order) -> None:
        """See one order through."""
        async with asyncio.TaskGroup() as group:
            for at in order.events_at:
                group.create_task(self._emit(order, at))
            group.create_task(self._start(order))

    async def _start(self, order: Order) -> None:
        await asyncio.sleep(order.at)
        self.ledger.asked[order.key] = self.world.time()
        asked = [
            self._ask(lambda node: node.start_run(order.workflow, order.input, order.key))
            for _ in range(1 + order.again)
        ]
        told = await asyncio.gather(*asked)
        self.ledger.starts[order.key] += told
        run = told[0]
        if order.cancel_after is not None:
            await self._cancel(run, order.cancel_after)
        if order.paused is not None:
            await self._pause(run, *order.paused)
        if order.workflow == "mend":
            await self._mend(run, order.input["n"])

    async def _cancel(self, run: str, after: float) -> None:
        await asyncio.sleep(after)
        if await self._ask(lambda node: node.cancel(run)):
            self.ledger.canceled[run] = self.world.time()

    async def _pause(self, run: str, after: float, long: float) -> None:
        await asyncio.sleep(after)
        held = await self._ask(lambda node: node.pause(run))
        since = self.world.time()
        self.faults.sometimes("a run is held", held)
        await asyncio.sleep(long)
        if held:
            self.ledger.paused.append(Pause(run, since, self.world.time()))
        await self._ask(lambda node: node.resume(run))

    async def _mend(self, run: str, n: int) -> None:
        """Wait until the run fails, put right what was wrong, and let it try again."""
        while (status := await self._ask(lambda node: node.status(run))) != "succeeded":
            if status == "paused":  # it failed while it was held
                await self._ask(lambda node: node.resume(run))
            if status == "failed":
                self.ledger.mended.add(n)
                await self._ask(lambda node: node.retry(run))
                self.faults.sometimes("a failed run is retried")
            await asyncio.sleep(self._random.uniform(1, 5))

    async def _emit(self, order: Order, at: float) -> None:
        await asyncio.sleep(at)
        key, data = {"job": order.input["job"]}, {"n": order.input["n"] + 7}
        self.faults.sometimes("an event comes before its run", order.key not in self.ledger.starts)
        answer = await self._ask(lambda node: node.emit(key, "finished", data, f"{order.key}-event"))
        self.ledger.emitted[order.key].append(answer)
        self.faults.sometimes("an event is a duplicate", answer == "duplicate")

    async def operate(self, until: float) -> None:
        """Hold a workflow or the whole installation now and then, and let it go on."""
        while self.world.loop.time() < until:
            await asyncio.sleep(self._random.uniform(5, 40))
            workflow = None if self._random.random() < 0.3 else self._random.choice(list(DEFINITIONS))
            await self._ask(lambda node, name=workflow: node.hold(name, True))  # type: ignore[misc]
            since = self.world.time()
            await asyncio.sleep(self._random.uniform(1, 10))
            self.ledger.halted.append(Halt(workflow, since, self.world.time()))
            await self._ask(lambda node, name=workflow: node.hold(name, False))  # type: ignore[misc]
            self.faults.sometimes(f"the {'installation' if workflow is None else 'workflow'} is held")

    async def _ask(self, what: Callable[[SimNode], Coroutine[Any, Any, T]]) -> T:
        """Ask some node, and another where the answer does not come."""
        while True:
            found = self.world.some_node()
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
            if any(seat.node is node for seat in self.world.nodes):  # one that stops may say so
                self.ledger.errors.append(f"at {self.world.time():.3f}: {error!r}")
            return None
