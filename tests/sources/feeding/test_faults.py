"""Nodes are killed and stand still, the store loses questions and answers: every tick has one run all the same."""

from __future__ import annotations

from datetime import datetime, timedelta
from random import Random

import pytest

from penstock import Engine
from penstock.store.errors import StoreError
from penstock.store.open import open_store
from penstock.store.protocol import Store
from tests.durable.conftest import LoopTime
from tests.faults import Faults, faulty_store
from tests.simloop import Process, SimLoop, run_simulated
from tests.waiting import pass_time

TICKING = """
penstock: 1
name: w
source: {kind: schedule, every: 5s, catch_up: all, overrun: start}
steps:
  a: {task: set, with: {x: 1}}
"""


async def serve(store: Store) -> None:
    """A node on that store, tried again until the store answers; it is never closed."""
    while True:
        try:
            await Engine(store=store, tasks={}, work=False).running()
            return
        except StoreError:
            await pass_time(0.5)


class Nodes:
    """Three nodes; each that is killed is followed by another."""

    def __init__(self, loop: SimLoop, store: Store, faults: Faults, seed: int) -> None:
        self.loop, self.store, self.faults, self.chance = loop, store, faults, Random(seed)
        self.server = Process(loop, "store")
        self.made = 0
        self.processes = [self.begin() for _ in range(3)]

    def begin(self) -> Process:
        self.made += 1
        process = Process(self.loop, f"node {self.made}")
        process.spawn(serve(faulty_store(self.store, self.server, self.faults)))
        return process

    async def trouble(self, seconds: float) -> None:
        until = self.loop.time() + seconds
        while self.loop.time() < until:
            await pass_time(self.chance.uniform(0.1, 20))
            at = self.chance.randrange(3)
            if self.chance.random() < 0.5:
                self.processes[at].kill()
                self.processes[at] = self.begin()
            else:
                self.processes[at].pause()
                await pass_time(self.chance.uniform(0, 40))
                self.processes[at].resume()

    def end(self) -> None:
        for process in [*self.processes, self.server]:
            process.kill()


@pytest.mark.parametrize("seed", range(8))
def test_every_tick_has_one_run_whatever_befalls_nodes_and_store(seed: int) -> None:
    async def play(loop: SimLoop) -> list[str]:
        store = await open_store("memory:", clock=LoopTime(loop))
        faults = Faults(seed, active=0.3, strikes=0.2)
        async with Engine(store=store, tasks={}, work=False, feed=False) as engine:
            await engine.publish(TICKING, start=True)
            nodes = Nodes(loop, store, faults, seed)
            await nodes.trouble(200)
            faults.stop()
            await pass_time(40)
            made = [run["subject"] for run in await engine.runs(sort="oldest", limit=1000)]
            nodes.end()
            return made

    made = sorted(run_simulated(play, seed=seed))

    moments = [datetime.fromisoformat(tick) for tick in made]
    assert len(moments) > 30
    assert moments == [moments[0] + n * timedelta(seconds=5) for n in range(len(moments))]
