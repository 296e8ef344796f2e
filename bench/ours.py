"""Penstock's turn, in a process of its own, by the same rules as a neighbour's: orders in, figures out as lines.

`wants` says what: W1 to W4 (none named), W6 (after a past), W7 (over HTTP), or nodes.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from statistics import median

from bench.engine.figures import Saturated
from bench.engine.idle import Idle, idle
from bench.engine.measure import a_finished_run, saturated
from bench.engine.places import Place, PostgresPlace, SqlitePlace
from bench.engine.workloads import chains, fans, singles
from bench.nodes import another_database, gains
from bench.peers.common import Orders, attempt, emit, emit_latency, tell
from bench.remote import runs_over_http
from penstock import __version__
from penstock.engine import event_loop

AGED = 6
"""Rounds of W6, of which the median counts; half of them begin with the store that has no past."""
FIRST = 500

NODES = {
    **dict.fromkeys(("one", "two", "floor one", "floor two"), "runs/s"),
    **dict.fromkeys(("gain", "floor gain", "of floor"), "times"),
    **dict.fromkeys(("one busy", "two busy"), "%"),
}
"""What is told of nodes."""


def place_of(orders: Orders) -> Place:
    if orders.store == "postgresql":
        return PostgresPlace(orders.url)
    return SqlitePlace(orders.folder / "bench.db")


def main() -> None:
    orders = Orders(sys.argv[1])
    place = place_of(orders)
    tell(versions={"penstock": __version__})
    for want in orders.wants or ["main"]:
        with attempt("all" if want == "main" else want):
            WANTS[want](place, orders)


def _main(place: Place, orders: Orders) -> None:
    with attempt("W4"):
        _emit_idle(idle(place.url, orders.idle))
    with attempt("W3"):
        emit_latency(event_loop.run(singles(place.url, orders.singles)))
    with attempt("W1"):
        _emit_saturated(event_loop.run(saturated(place, orders.runs, orders.parts)))
    with attempt("W2"):
        sizes = tuple(orders.fans)
        for size, seconds in (event_loop.run(fans(place.url, sizes)) if sizes else {}).items():
            emit(f"W2 {size}", seconds, "s")


def _emit_idle(found: Idle) -> None:
    emit("W4 first run", found.first_run, "s")
    if found.cpu is not None and found.memory is not None:
        emit("W4 processor", found.cpu, "%")
        emit("W4 memory", found.memory, "MB")


def _emit_saturated(found: Saturated) -> None:
    emit("W1", found.runs_per_s, "runs/s")
    emit("floor W1", found.floor, "runs/s")
    emit_latency([each for floor in found.floors for each in floor.latency], work="floor W3")
    emit("W1 of floor", found.ratio, "")


def _past(place: Place, orders: Orders) -> None:
    """W6: what a run costs after so many, in times of what it costs where there are none."""
    past = int(os.environ.get("BENCH_PAST", "50000"))

    async def beside_a_young_one() -> None:
        async with _another(place, orders) as young:
            await _aged(place, young, orders.runs // AGED, past)

    event_loop.run(beside_a_young_one())


async def _aged(old: Place, young: Place, runs: int, past: int) -> None:
    """In turn: a machine that becomes slower meanwhile is not the past's fault."""
    for place in (old, young):
        await chains(place.url, FIRST)  # what is opened only once does not count
    empty = await old.bytes()
    await chains(old.url, runs)
    emit("W6 bytes", (await old.bytes() - empty) / runs, "bytes")
    await old.copy(await a_finished_run(old), past)
    then, now = list[float](), list[float]()
    for turn in range(AGED):
        for place, found in ((old, then), (young, now))[:: 1 if turn % 2 == 0 else -1]:
            found.append(await chains(place.url, runs))
    emit("W6 runs", past, "runs")
    emit("W6 after", median(then), "runs/s")
    emit("W6", median(without / with_past for with_past, without in zip(then, now, strict=True)), "times")


@asynccontextmanager
async def _another(place: Place, orders: Orders) -> AsyncIterator[Place]:
    """A store of the same kind beside it."""
    if place.name == "postgresql":
        async with another_database(place.url, "young") as url:
            yield PostgresPlace(url)
    else:
        yield SqlitePlace(orders.folder / "young.db")


def _remote(place: Place, orders: Orders) -> None:
    emit("W7", runs_over_http(place.url, orders.idle), "runs/s")


def _nodes(place: Place, orders: Orders) -> None:
    found = asyncio.run(gains(place.url, orders.runs))
    for name, unit in NODES.items():
        if name in found:
            emit(f"nodes {name}", found[name], unit)


WANTS = {"main": _main, "W6": _past, "W7": _remote, "nodes": _nodes}

if __name__ == "__main__":
    main()
