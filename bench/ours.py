"""Penstock's turn, in a process of its own, by the same rules as a neighbour's: orders in, figures out as lines.

`wants` says what: W1 to W4 (none named), W6 (after a past), W7 (over HTTP), or nodes.
"""

from __future__ import annotations

import asyncio
import os
import sys

from bench.nodes import gains
from bench.peers.common import Orders, attempt, emit, emit_latency, tell
from bench.remote import runs_over_http
from penstock import __version__
from penstock.bench.engine.figures import Saturated
from penstock.bench.engine.idle import idle
from penstock.bench.engine.measure import a_finished_run, saturated
from penstock.bench.engine.places import Place, PostgresPlace, SqlitePlace
from penstock.bench.engine.workloads import chains, fans, singles
from penstock.engine import loop

AGED = 5
"""W6 is of the middle ones of so many rounds before and after, with the floor before and after each: more than of W1,
for it is measured only once."""


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
        found = idle(place.url, orders.idle)
        emit("W4 first run", found.first_run, "s")
        if found.cpu is not None and found.memory is not None:
            emit("W4 processor", found.cpu, "%")
            emit("W4 memory", found.memory, "MB")
    with attempt("W3"):
        emit_latency(loop.run(singles(place.url, orders.singles)))
    with attempt("W1"):
        _emit_saturated(loop.run(saturated(place, orders.runs)))
    with attempt("W2"):
        for size, seconds in loop.run(fans(place.url, tuple(orders.fans))).items():
            emit(f"W2 {size}", seconds, "s")


def _emit_saturated(found: Saturated) -> None:
    emit("W1", found.runs_per_s, "runs/s")
    emit("floor W1", found.floor, "runs/s")
    emit_latency([each for floor in found.floors for each in floor.latency], work="floor W3")
    emit("W1 of floor", found.ratio, "")


def _past(place: Place, orders: Orders) -> None:
    """W6: what a run costs beside the floor after so many, in times of what the first ones did."""
    past = int(os.environ.get("BENCH_PAST", "50000"))
    loop.run(_aged(place, orders.runs, past))


async def _aged(place: Place, runs: int, past: int) -> None:
    await chains(place.url, min(runs, 500))  # what is opened only once does not count
    empty = await place.bytes()
    first = await saturated(place, runs, AGED)
    emit("W6 bytes", (await place.bytes() - empty) / (runs // AGED * AGED), "bytes")
    await place.copy(await a_finished_run(place), past)
    then = await saturated(place, runs, AGED)
    emit("W6 runs", past, "runs")
    emit("W6 after", then.runs_per_s, "runs/s")
    emit("W6", first.ratio / then.ratio, "times")


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
