"""Those who want something: customers with their orders, an operator, visitors. They ask over HTTP until told."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from random import Random
from typing import TYPE_CHECKING, Any, TypeVar

from penstock.access.errors import TooManyRequests
from penstock.flow.errors import PenstockError
from penstock.remote.engine import RemoteEngine
from penstock.remote.errors import RemoteError
from penstock.runtime.errors import Conflict, NotFound, NotSeparate
from penstock.store.errors import StoreAway, StoreFull
from tests.simulation.evidence import Decided, Halt, Look, Pause, Published
from tests.simulation.lines import SimConnection, remote
from tests.simulation.workload import NEXT_CHAIN, Order
from tests.waiting import pass_time

if TYPE_CHECKING:
    from tests.simulation.world import World

T = TypeVar("T")
ANN, BEN, CEM = "ann", "ben", "cem"
"""Who orders, and who decide."""

NOT_NOW = (RemoteError, StoreAway, StoreFull, TooManyRequests)
"""Whoever hears one of these asks again; all else is an answer."""

STATUSES = ("succeeded", "failed", "canceled")


class Customers:
    """They do not know which node they ask, and ask another where the answer does not come."""

    def __init__(self, world: World) -> None:
        self.world, self.faults, self.ledger = world, world.faults, world.ledger
        self._random = Random(f"{world.faults.seed}:customers")
        self._line = {
            name: remote(SimConnection(world.pick_app, world.faults, "http", token))
            for name, token in world.people.items()
        }
        self._door = remote(
            SimConnection(world.pick_app, world.faults, "door", world.people[BEN], again=False)
        )

    async def serve(self, order: Order) -> None:
        """See one order through."""
        async with asyncio.TaskGroup() as group:
            for at in order.events_at:
                group.create_task(self._emit(order, at))
            group.create_task(self._start(order))

    async def _start(self, order: Order) -> None:
        await pass_time(order.at)
        self.ledger.asked[order.key] = self.world.time()
        asked = [
            self._ask(lambda api: api.start(order.workflow, input=order.input, idempotency_key=order.key))
            for _ in range(1 + order.again)
        ]
        told = await asyncio.gather(*asked)
        self.ledger.starts[order.key] += told
        run = told[0]
        self.ledger.started[run] = self.world.time()
        if order.cancel_after is not None:
            await self._cancel(run, order.cancel_after)
        if order.paused is not None:
            await self._pause(run, *order.paused)
        if order.workflow == "mend":
            await self._mend(run, order.input["n"])
        if order.workflow == "approve":
            await self._approve(run)

    async def _cancel(self, run: str, after: float) -> None:
        await pass_time(after)
        if await self._acts(lambda api: api.cancel(run)):
            self.ledger.canceled[run] = self.world.time()

    async def _pause(self, run: str, after: float, long: float) -> None:
        await pass_time(after)
        held = await self._acts(lambda api: api.pause(run))
        since = self.world.time()
        self.faults.sometimes("a run is held", held)
        await pass_time(long)
        if held:
            self.ledger.paused.append(Pause(run, since, self.world.time()))
        await self._acts(lambda api: api.resume(run))

    async def _mend(self, run: str, n: int) -> None:
        """Wait until the run fails, put right what was wrong, and let it try again."""
        while (status := (await self._ask(lambda api: api.show(run)))["status"]) != "succeeded":
            if status == "paused":  # it failed while it was held
                await self._acts(lambda api: api.resume(run))
            if status == "failed":
                self.ledger.mended.add(n)
                await self._acts(lambda api: api.retry(run))
                self.faults.sometimes("a failed run is retried")
            await pass_time(self._random.uniform(0.5, 3))

    async def _emit(self, order: Order, at: float) -> None:
        await pass_time(at)
        key, data = {"job": order.input["job"]}, {"n": order.input["n"] + 7}
        self.faults.sometimes("an event comes before its run", order.key not in self.ledger.starts)
        answer = await self._ask(lambda api: api.emit("finished", data, key=key, id=f"{order.key}-event"))
        self.ledger.emitted[order.key].append(answer)
        self.faults.sometimes("an event is a duplicate", answer == "duplicate")

    # -- people who decide ---------------------------------------------------------------------------------

    async def _approve(self, run: str) -> None:
        """Who ordered may not decide; two others do, each in his own way, at once."""
        while not (ids := await self._approvals_of(run)):
            await pass_time(self._random.uniform(0.5, 2))
        async with asyncio.TaskGroup() as group:
            for name, decision in ((ANN, "approved"), (BEN, "approved"), (CEM, "rejected")):
                group.create_task(self._decide(run, ids[0], name, decision))

    async def _approvals_of(self, run: str) -> list[str]:
        found = await self._ask(lambda api: api.approvals(status=None, workflow="approve", limit=200))
        return [each["id"] for each in found if each["run"] == run]

    async def _decide(self, run: str, id: str, name: str, decision: str) -> None:
        await pass_time(self._random.uniform(0, 0.3))
        try:
            view = await self._ask(lambda api: api.decide(id, decision), name)
            told = f"{view['decision']['by']}: {view['decision']['decision']}"
        except NotSeparate:
            told = "barred"
        except Conflict:
            told = "late"
            self.faults.sometimes("somebody else was faster to decide")
        self.ledger.decided.append(Decided(run, name, decision, told))

    # -- those who look on ---------------------------------------------------------------------------------

    async def look(self, until: float) -> None:
        """Ask now and then for what anybody may see, and write down what was told."""
        while self.world.loop.time() < until:
            await pass_time(self._random.uniform(0.5, 4))
            runs = list(self.ledger.started)
            if not runs:
                continue
            run, kind = self._random.choice(runs), self._random.choice(["show", "history", "list", "why"])
            asked = self.world.time()
            answer = await self._ask(lambda api, run=run, kind=kind: _seen(api, kind, run), CEM)  # type: ignore[misc]
            known = frozenset(run for run, at in self.ledger.started.items() if at < asked)
            if kind != "why" or answer == "unknown":
                self.ledger.looks.append(Look(kind, run, asked, self.world.time(), answer, known))
            self.faults.sometimes(f"somebody asks: {kind}")

    async def visit(self, number: int, at: float, many: int) -> None:
        """A crowd that comes at once and does not ask twice: who is sent away has done nothing."""
        await pass_time(at)
        async with asyncio.TaskGroup() as group:
            for each in range(many):
                group.create_task(self._visit(f"visit-{number}-{each}", number * 1000 + each))

    async def _visit(self, key: str, n: int) -> None:
        try:
            run = await self._door.start("visit", subject=key, input={"n": n}, idempotency_key=key)
        except (TooManyRequests, StoreFull) as error:
            self.ledger.refused[key] = error.code
            self.faults.sometimes(f"a visitor is sent away: {error.code}")
        except NOT_NOW:
            self.ledger.unsure.add(key)
        else:
            self.ledger.visits[key] = run
            self.ledger.started[run] = self.world.time()

    # -- those who look after it ---------------------------------------------------------------------------

    async def operate(self, until: float) -> None:
        """Hold a workflow or the whole installation now and then, and let it go on."""
        while self.world.loop.time() < until:
            await pass_time(self._random.uniform(1, 0.6 * self.world.scale.troubled))
            workflow = (
                None if self._random.random() < 0.3 else self._random.choice(list(self.world.definitions))
            )
            await self._ask(lambda api, name=workflow: _done(api.pause_workflow(name)))  # type: ignore[misc]
            since = self.world.time()
            await pass_time(self._random.uniform(1, 4))
            self.ledger.halted.append(Halt(workflow, since, self.world.time()))
            await self._ask(lambda api, name=workflow: _done(api.resume_workflow(name)))  # type: ignore[misc]
            self.faults.sometimes(f"the {'installation' if workflow is None else 'workflow'} is held")

    async def publish(self, at: float) -> None:
        """Publish another version of `chain` while runs of the old one are under way."""
        await pass_time(at)
        began = self.world.time()
        answer = await self._ask(lambda api: api.publish("chain", NEXT_CHAIN, again=False), BEN)
        self.ledger.published.append(Published("chain", answer["version"], began, self.world.time()))
        self.faults.sometimes("a new version is published")

    # -- asking --------------------------------------------------------------------------------------------

    async def _acts(self, what: Callable[[RemoteEngine], Awaitable[Any]]) -> bool:
        """Whether it was done; False: the run has ended, or is not in that state."""
        try:
            await self._ask(what)
        except Conflict:
            return False
        return True

    async def _ask(self, what: Callable[[RemoteEngine], Awaitable[T]], who: str = ANN) -> T:
        """Ask some node, and another where the answer does not come. Raises Conflict, NotSeparate."""
        while True:
            try:
                return await what(self._line[who])
            except NOT_NOW as error:
                self.faults.sometimes("a customer asks again")
                self.faults.sometimes(f"a customer hears {error.code}")
            except (Conflict, NotSeparate):
                raise
            except PenstockError as error:
                self.ledger.errors.append(f"at {self.world.time():.3f}: {error!r}")
            await pass_time(self._random.uniform(0.1, 2))


async def _done(work: Awaitable[None]) -> bool:
    await work
    return True


async def _seen(api: RemoteEngine, kind: str, run: str) -> Any:
    """What is shown; of what is there it is never said that it is not."""
    try:
        if kind == "list":
            return {row["id"]: row["status"] for row in await api.runs(limit=1000)}
        if kind == "history":
            return [(each["seq"], each["kind"], each["step"]) for each in await api.history(run)]
        if kind == "why":
            return await api.why(run)
        view = await api.show(run)
        return view["status"], view["ending"]
    except NotFound:
        return "unknown"
