"""One store measured behind HTTP: starts and calls beside the bare framework, remote steps, lists of a long past."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack

from msgspec import Struct

from bench.engine.figures import Figure
from bench.engine.places import Place
from bench.engine.workflows import CHAIN
from bench.http.figures import (
    CALL_BAR,
    START_BAR,
    Beside,
    beside,
    beside_figures,
    list_figures,
    step_figures,
)
from bench.http.load import Ask
from bench.http.past import queries
from bench.http.places import fill
from bench.http.processes import Process, load, process
from penstock.api.table import CALLS
from penstock.engine.engine import Engine

Say = Callable[[str], None]
ROUNDS = 7
"""Short rounds, each with the bare framework before and after: what else the machine does then falls on both."""
PAIRS = 3
START = Ask(method="POST", path="/api/workflows/bench-start/runs", body="{}")
CALL = Ask(method="POST", path=f"/api/workflows/{CHAIN}/call", body="{}")
HELLO = Ask(method="GET", path="/")


class Sizes(Struct, frozen=True, kw_only=True):
    """How much is done."""

    seconds: float = 2.0
    looks: float = 1.0  # seconds for each filter of the list
    runs: int = 6_000
    past: int = 1_000_000
    connections: int = 32

    def quick(self) -> Sizes:
        return Sizes(seconds=0.5, looks=0.25, runs=min(self.runs, 3_000), past=20_000)


def measure(place: Place, sizes: Sizes, say: Say) -> list[Figure]:
    """Every figure of one store. Raises NotDone where some answer was not good."""
    say(f"{place.name}: starts and calls with {sizes.connections} connections, beside the bare framework")
    starts, calls = _beside(place.url, sizes)
    say(f"{place.name}: {3 * sizes.runs:,} steps, of a worker here and of a worker over HTTP")
    here, far = _steps(place.url, sizes.runs)
    made = [
        *beside_figures(place.name, "H1 durable starts", starts, START_BAR),
        *step_figures(place.name, here, far),
        *beside_figures(place.name, "H3 calls of 3 steps", calls, CALL_BAR),
    ]
    if "/api/runs" in {call.path for call in CALLS}:
        say(f"{place.name}: lists of {sizes.past:,} runs")
        made += _lists(place, sizes)
    return made


def _beside(url: str, sizes: Sizes) -> tuple[Beside, Beside]:
    """Both servers are there all the time, each with a client of its own; only one is asked at a time."""
    with ExitStack() as stack:
        hello, ours = (
            stack.enter_context(process("load", stack.enter_context(process("node", *args)).hear()))
            for args in (("hello",), ("api", url))
        )
        for ask in (START, CALL):
            load(ours, _sized(ask, sizes, sizes.seconds))
        load(hello, _sized(HELLO, sizes, sizes.seconds))
        return _rounds(hello, ours, START, sizes), _rounds(hello, ours, CALL, sizes)


def _rounds(hello: Process, ours: Process, ask: Ask, sizes: Sizes) -> Beside:
    """The middle one of some rounds: another program may have had the machine in the others."""
    found = []
    for _ in range(ROUNDS):
        before = load(hello, _sized(HELLO, sizes, sizes.seconds / 2))
        heard = load(ours, _sized(ask, sizes, sizes.seconds))
        found.append(beside(heard, before, load(hello, _sized(HELLO, sizes, sizes.seconds / 2))))
    return sorted(found, key=lambda each: each.ratio)[ROUNDS // 2]


def _sized(ask: Ask, sizes: Sizes, seconds: float) -> Ask:
    return Ask(
        method=ask.method, path=ask.path, body=ask.body, connections=sizes.connections, seconds=seconds
    )


def _steps(url: str, runs: int) -> tuple[float, float]:
    rounds = [(_here(url, runs), _far(url, runs)) for _ in range(PAIRS)]
    return sorted(rounds, key=lambda each: each[1] / each[0])[PAIRS // 2]


def _here(url: str, runs: int) -> float:
    with process("node", "here", url, str(runs)) as node:
        node.hear()
        node.say("go")
        found = float(node.hear())
        node.say("end")
        return found


def _far(url: str, runs: int) -> float:
    with process("node", "far", url, str(runs)) as node:
        with process("worker", node.hear()) as worker:
            worker.hear()
            node.say("go")
            found = float(node.hear())
        node.say("end")
        return found


def _lists(place: Place, sizes: Sizes) -> list[Figure]:
    with Engine.sync(place.url, work=False) as engine:
        [run] = engine.runs(workflow=CHAIN, statuses=("succeeded",), limit=1)
    fill(place, str(run["id"]), sizes.past)
    with process("node", "api", place.url) as node, process("load", node.hear()) as client:
        filters = {}
        for name, query in queries(CHAIN, sizes.past).items():
            ask = Ask(method="GET", path=f"/api/runs?{query}", connections=1, seconds=sizes.looks)
            load(client, ask)
            filters[name] = load(client, ask)
    return list_figures(place.name, sizes.past, filters)
