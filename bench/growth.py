"""How cost grows: steps, runs under way, runs that have ended, workers, payloads, fans, nodes.

`python -m bench.growth` prints it, with `--json` as data.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from itertools import count, pairwise
from pathlib import Path
from time import perf_counter
from typing import Any

import msgspec

from bench.engine.measure import a_finished_run
from bench.engine.places import SqlitePlace, disk
from bench.engine.workflows import nothing
from bench.engine.workloads import RUN_TIMEOUT, NotDone, Room, chains, fans
from bench.http.processes import process
from bench.nodes import rate
from bench.results import Growth, Point
from penstock.engine import event_loop
from penstock.engine.engine import Engine

Say = Callable[[str], None]
Noted = Callable[[str], AbstractContextManager[None]]
STEPS = (3, 10, 30, 100, 300)
ALL_STEPS = 9_000
WIDTH = 100
"""Runs under way where steps and payloads are measured."""
IN_FLIGHT = (1, 10, 100, 1_000, 5_000)
PAST = (0, 10_000, 100_000, 500_000)
PAYLOADS = (100, 1_000, 10_000, 100_000)
FANS = (10, 100, 1_000, 10_000)
WORKERS = (1, 2, 4)
NODES = (1, 2, 3)
RUNS = 3_000


class Lab:
    """Where growth is measured: a new file a question, a new database where it must be PostgreSQL."""

    def __init__(self, folder: Path, database: Callable[[], str]) -> None:
        self._folder, self._numbers, self.database = folder, count(), database

    def file(self) -> Path:
        return self._folder / f"growth{next(self._numbers)}.db"


def growth(
    folder: Path, database: Callable[[], str], time_for: Callable[[str], bool], say: Say, noted: Noted
) -> Iterator[Growth]:
    """All of it for which there is time; `noted` is around each question, and tells why one has no answer."""
    for name, measure in QUESTIONS.items():
        if time_for(f"growth: {name}"):
            say(f"growth: {name}")
            with noted(f"Growth: {name}"):
                yield measure(Lab(folder, database))


def _steps(lab: Lab) -> Growth:
    url = str(lab.file())
    points = []
    for size in STEPS:
        runs = max(WIDTH, ALL_STEPS // size)
        seconds = event_loop.run(_saturated(url, _chain(size), nothing, runs))
        points.append(Point(size, seconds / runs / size * 1e6))
    return Growth(name="Steps a workflow", of="steps in the chain", unit="µs a step", points=points)


def _flight(lab: Lab) -> Growth:
    url = str(lab.file())
    points = []
    for width in IN_FLIGHT:
        runs = max(60, min(RUNS, 40 * width))
        points.append(Point(width, event_loop.run(chains(url, runs, width))))
    return Growth(name="Runs in flight", of="runs under way", unit="runs a second", points=points)


def _past(lab: Lab) -> Growth:
    place = SqlitePlace(lab.file())
    return Growth(
        name="Finished runs",
        of="runs that have ended",
        unit="runs a second",
        points=list(event_loop.run(_aging(place))),
    )


async def _aging(place: SqlitePlace) -> list[Point]:
    await chains(place.url, 200)
    points, have = [], 0
    for past in PAST:
        if past > have:
            await _older(place, past, have)
            have = past
        points.append(Point(past, await chains(place.url, RUNS)))
    return points


async def _older(place: SqlitePlace, past: int, have: int) -> None:
    """`copy` makes ids from the first on: those that are there go before they are made anew."""
    run = await a_finished_run(place)
    if have:
        await place.forget()
    await place.copy(run, past)


def _payload(lab: Lab) -> Growth:
    url = str(lab.file())
    points = []
    for size in PAYLOADS:
        text = "x" * size

        async def answer(text: str = text) -> dict[str, str]:
            return {"text": text}

        runs = max(WIDTH, min(RUNS, 20_000_000 // size // 10))
        seconds = event_loop.run(_saturated(url, _chain(3, f"payload-{size}"), answer, runs))
        points.append(Point(size, seconds / runs * 1e6))
    name, of = "Payload size", "bytes that each of three steps answers"
    return Growth(name=name, of=of, unit="µs a run", points=points)


def _fan(lab: Lab) -> Growth:
    seconds = event_loop.run(fans(str(lab.file()), FANS))
    points = [Point(size, each / size * 1e6) for size, each in seconds.items()]
    return Growth(name="Fan width", of="elements of one `each`", unit="µs an element", points=points)


def _workers(lab: Lab) -> Growth:
    points = [Point(number, _remote_steps(str(lab.file()), RUNS, number)) for number in WORKERS]
    note = "on two cores, which server, workers and disk share"
    return Growth(
        name="Workers over HTTP", of="worker processes", unit="steps a second", points=points, note=note
    )


def _remote_steps(url: str, runs: int, workers: int) -> float:
    with process("node", "far", url, str(runs)) as node:
        base = node.hear()
        with ExitStack() as stack:
            for _ in range(workers):
                stack.enter_context(process("worker", base)).hear()
            node.say("go")
            found = float(node.hear())
        node.say("end")
        return found


def _nodes(lab: Lab) -> Growth:
    points = [Point(number, asyncio.run(rate(lab.database(), RUNS, number)).runs_per_s) for number in NODES]
    note = "PostgreSQL on the same two cores"
    return Growth(name="Nodes on PostgreSQL", of="nodes", unit="runs a second", points=points, note=note)


QUESTIONS: dict[str, Callable[[Lab], Growth]] = {
    "steps": _steps,
    "runs in flight": _flight,
    "finished runs": _past,
    "payload": _payload,
    "fan": _fan,
    "workers": _workers,
    "nodes": _nodes,
}


def _chain(size: int, name: str = "") -> dict[str, Any]:
    """A chain of so many steps; the last one tells that it was there."""
    names = [f"s{number}" for number in range(size)]
    steps: dict[str, Any] = {names[0]: {"task": "work"}}
    for before, each in pairwise(names):
        steps[each] = {"task": "last" if each == names[-1] else "work", "after": [before]}
    return {"penstock": 1, "name": name or f"chain-{size}", "steps": steps}


async def _saturated(
    url: str, definition: dict[str, Any], work: Callable[[], Awaitable[Any]], runs: int
) -> float:
    """Seconds of so many runs of a workflow, as many under way at a time whatever they cost: they share commits."""
    room = Room()

    async def last() -> Any:
        room.leave()
        return await work()

    async with Engine(url, tasks={"work": work, "last": last}, concurrency=WIDTH) as engine:
        await engine.publish(definition)
        left = iter(range(runs))

        async def start() -> None:
            for _ in left:
                await engine.start(definition["name"])
                await room.wait()

        began = perf_counter()
        await asyncio.gather(*(start() for _ in range(WIDTH)))
        while await engine.runs(workflow=definition["name"], statuses=("running",), limit=1):
            if perf_counter() - began > RUN_TIMEOUT:
                raise NotDone("runs are under way")
            await asyncio.sleep(0.01)
        return perf_counter() - began


@contextmanager
def _told(what: str) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        print(f"{what} has no figure: {error}", file=sys.stderr)


def _print(found: list[Growth]) -> Iterator[str]:
    for each in found:
        yield f"{each.name} ({each.unit}, by {each.of})"
        for point in each.points:
            yield f"  {point.x:>10,.0f} {point.y:>12,.1f}"


if __name__ == "__main__":
    from tests.postgres_server import PostgresServer

    server = PostgresServer().start()
    try:
        with tempfile.TemporaryDirectory(prefix="penstock-bench-", dir=disk()) as folder:
            say = partial(print, file=sys.stderr)
            made = list(growth(Path(folder), server.create_database, lambda what: True, say, _told))
        print(json.dumps(msgspec.to_builtins(made)) if "--json" in sys.argv else "\n".join(_print(made)))
    finally:
        server.remove()
