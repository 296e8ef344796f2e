"""One store measured: every workload, with the floor before and after it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from msgspec import Struct

from bench.engine.figures import (
    Figure,
    Saturated,
    chain_figures,
    fan_figures,
    idle_figures,
    latency_figures,
    past_figures,
)
from bench.engine.idle import idle
from bench.engine.places import Place
from bench.engine.workflows import CHAIN
from bench.engine.workloads import chains, fans, singles
from penstock.engine.engine import Engine
from penstock.runtime.errors import Invalid

Say = Callable[[str], None]
ROUNDS = 3


class Sizes(Struct, frozen=True, kw_only=True):
    """How much is done; `runs` at saturation are shared by the rounds."""

    runs: int = 15_000
    fans: tuple[int, ...] = (100, 1_000, 10_000)
    singles: int = 30
    idle: float = 10.0
    past: int = 1_000_000

    def quick(self) -> Sizes:
        return Sizes(runs=min(self.runs, 6_000), fans=self.fans, singles=self.singles, idle=4.0, past=50_000)


async def measure(place: Place, sizes: Sizes, say: Say) -> list[Figure]:
    """Every figure of one store. Raises NotDone where a run did not succeed."""
    await _require_empty(place)
    say(f"{place.name}: launching a node, and watching it idle")
    figures = idle_figures(place.name, await asyncio.to_thread(idle, place.url, sizes.idle))
    empty = await place.bytes()
    say(f"{place.name}: {sizes.runs:,} runs, beside the floor")
    first = await saturated(place, sizes.runs)
    grown = await place.bytes()
    say(f"{place.name}: single runs")
    latency = await singles(place.url, sizes.singles)
    after = await place.floor(sizes.runs)
    say(f"{place.name}: fans of {', '.join(f'{size:,}' for size in sizes.fans)}")
    wide = await fans(place.url, sizes.fans)
    say(f"{place.name}: {sizes.runs:,} runs after {sizes.past:,}, beside the floor")
    await place.copy(await a_finished_run(place), sizes.past)
    then = await saturated(place, sizes.runs)
    return [
        *chain_figures(place.name, first),
        *fan_figures(place.name, wide),
        *latency_figures(place.name, latency, (first.floors[1], after)),
        *figures,
        *past_figures(place.name, sizes.past, first, then, (grown - empty) / (sizes.runs // ROUNDS * ROUNDS)),
    ]


async def saturated(place: Place, runs: int, rounds: int = ROUNDS) -> Saturated:
    """The middle one of some rounds: another program may have had the machine in the others."""
    found = [await _round(place, runs // rounds) for _ in range(rounds)]
    return sorted(found, key=lambda each: each.ratio)[rounds // 2]


async def _round(place: Place, runs: int) -> Saturated:
    before = await place.floor(runs)
    found = await chains(place.url, runs)
    return Saturated(found, (before, await place.floor(runs)))


async def _require_empty(place: Place) -> None:
    """A benchmark leaves a million runs behind: not in a store that somebody uses."""
    async with Engine(place.url, work=False) as engine:
        if any((await engine.counts()).values()):
            raise Invalid(f"'{place.url}' holds runs already: give the benchmark an empty database")


async def a_finished_run(place: Place) -> str:
    async with Engine(place.url, work=False) as engine:
        [run] = await engine.runs(workflow=CHAIN, statuses=("succeeded",), limit=1)
        return str(run["id"])
