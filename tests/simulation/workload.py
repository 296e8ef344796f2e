"""What is asked of the engine in a simulation: workflows of every shape, and what must come of each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from random import Random
from typing import Any

from msgspec import Struct

LEASE = 4.0
"""Seconds for which a worker has a task without a sign of life."""

_HEAD = f"""
penstock: 1
name: NAME
defaults:
  timeouts: {{heartbeat: {LEASE:.0f}s}}
  timeout_retries: {[1] * 60}
"""

_SHAPES = {
    "chain": """
result: "[steps.a.output.n, steps.b.output.n, steps.c.output.n]"
steps:
  a: {task: echo, with: {n: "${ data.n }"}}
  b: {task: echo, after: a, with: {n: "${ steps.a.output.n + 1 }"}}
  c: {task: echo, after: b, with: {n: "${ steps.b.output.n + 1 }"}}
""",
    "branch": """
result: "steps.join.output.n"
steps:
  left: {task: echo, with: {n: "${ data.n }"}}
  right: {task: slow, with: {n: "${ data.n + 1 }"}}
  join: {task: echo, after: [left, right], with: {n: "${ steps.left.output.n + steps.right.output.n }"}}
""",
    "flaky": """
result: "steps.a.output.n"
steps:
  a: {task: flaky, retries: 200, backoff: {initial: 1s, factor: 2, max: 3s}, with: {n: "${ data.n }"}}
""",
    "timer": """
result: "steps.a.output.n"
steps:
  rest: {task: wait, with: {for: 5s}}
  a: {task: echo, after: rest, with: {n: "${ data.n }"}}
""",
    "serial": """
result: "steps.a.output.n"
steps:
  a: {task: slow, serialize: data.user, with: {n: "${ data.n }"}}
""",
    "fan": """
result: "steps.a.output.map(each, each.n)"
steps:
  a:
    task: flaky
    each: data.items
    parallel: 3
    retries: 200
    backoff: {initial: 1s, factor: 1, max: 1s}
    with: {n: "${ item }"}
""",
    "event": """
external: [finished]
result: "steps.b.output.n"
steps:
  a: {task: job, with: {n: "${ data.n }", job: "${ data.job }"}}
  b: {task: echo, after: [a, finished], with: {n: '${ events["finished"].n }'}}
""",
    "parent": """
result: "steps.a.output.result"
steps:
  a: {task: workflow, with: {name: chain, input: {n: "${ data.n }"}}}
""",
    "cancel": """
result: "0"
steps:
  a: {task: long, with: {n: "${ data.n }"}}
  undo: {task: echo, after: CANCEL, with: {n: "${ data.n }"}}
""",
    "mend": """
result: "steps.b.output.n"
steps:
  a: {task: mend, retries: 0, with: {n: "${ data.n }"}}
  b: {task: echo, after: a, with: {n: "${ steps.a.output.n + 1 }"}}
""",
    "approve": """
result: "steps.b.output.n"
steps:
  ask: {task: approval, with: {text: "${ data.n } or not?", separate: true}, emits: {approved: go, rejected: go}}
  b: {task: echo, after: go, with: {n: "${ data.n }"}}
""",
    "poison": """
result: "0"
steps:
  a: {task: poison, timeouts: {heartbeat: 2s}, timeout_retries: [1], with: {n: "${ data.n }"}}
""",
}

_OTHERS = {
    "lasting": """
result: "steps.a.output.n"
steps:
  a: {task: lasting, with: {n: "${ data.n }"}}
""",
    "visit": """
result: "steps.a.output.n"
steps:
  a: {task: echo, with: {n: "${ data.n }"}}
""",
}

_CLOCK = """
source: {kind: schedule, every: 4s, overrun: start, catch_up: all}
result: "data.scheduled_at"
steps:
  a: {task: echo, with: {n: "0"}}
"""

_NEXT_CHAIN = """
result: "[steps.a.output.n, steps.z.output.n]"
steps:
  a: {task: echo, with: {n: "${ data.n }"}}
  z: {task: echo, after: a, with: {n: "${ steps.a.output.n + 50 }"}}
"""


def _whole(name: str, shape: str) -> str:
    return _HEAD.replace("NAME", name) + shape


DEFINITIONS: Mapping[str, str] = {name: _whole(name, shape) for name, shape in (_SHAPES | _OTHERS).items()}

CLOCK: Mapping[str, str] = {"clock": _whole("clock", _CLOCK)}
"""A workflow that starts itself."""

NEXT_CHAIN = _whole("chain", _NEXT_CHAIN)
"""What is published while runs of `chain` are under way: other steps, another result."""

TICK = 4.0
"""Seconds between two runs of `clock`."""

POISON_TRIES = 2
"""Attempts of `poison`, which kills its worker every time."""

FIRINGS: Mapping[str, dict[str, int]] = {
    "chain": {"a": 1, "b": 1, "c": 1},
    "branch": {"left": 1, "right": 1, "join": 1},
    "flaky": {"a": 1},
    "timer": {"rest": 1, "a": 1},
    "serial": {"a": 1},
    "fan": {"a": 1},
    "event": {"a": 1, "b": 1},
    "parent": {"a": 1},
    "lasting": {"a": 1},
    "approve": {"ask": 1, "b": 1},
    "visit": {"a": 1},
    "clock": {"a": 1},
}
"""How often each step fires in a run that succeeded."""

NEXT_FIRINGS = {"a": 1, "z": 1}
"""The same of the next version of `chain`."""

SECONDS = {
    "echo": 0.01,
    "slow": 2.5,
    "flaky": 0.1,
    "job": 0.5,
    "long": 30.0,
    "mend": 0.2,
    "lasting": 3 * LEASE + 2,
    "poison": 0.3,
}
"""How long a task takes."""

GRACE = 20.0
"""Seconds that a worker has to stop: enough for all but `long`, which is there to be canceled."""

CALM = ("lasting", "chain", "fan")
"""What is asked for when nothing breaks any more: a healthy worker needs one attempt for each."""

WAIT = 5.0
"""Seconds that `timer` waits."""

FAILURES = 2
"""The first attempts of `flaky` that fail. `mend` fails until its customer has mended what was wrong."""


class Order(Struct, frozen=True, kw_only=True):
    """What one customer wants: a run, begun at `at`, and what happens to it afterwards."""

    key: str
    workflow: str
    input: dict[str, Any]
    at: float
    again: bool  # the customer asks twice at once, with the same key
    events_at: tuple[float, ...] = ()  # when the event is sent: perhaps before the start, perhaps twice
    cancel_after: float | None = None
    paused: tuple[float, float] | None = None  # how long after its start, and for how long
    calm: bool = False  # it comes after the last fault

    def result(self, version: int = 1) -> Any:
        """What its run must come to, where it is of that version."""
        n = self.input["n"]
        if version > 1:
            return [n, n + 50]
        return {
            "chain": [n, n + 1, n + 2],
            "branch": 2 * n + 1,
            "fan": self.input.get("items"),
            "event": n + 7,
            "parent": [n, n + 1, n + 2],
            "mend": n + 1,
        }.get(self.workflow, n)


def definitions(orders: Iterable[Order]) -> dict[str, str]:
    """The workflows that are needed for these orders, and for visitors."""
    wanted = {order.workflow for order in orders} | {"visit"}
    wanted |= {"chain"} if "parent" in wanted else set()
    return {name: text for name, text in DEFINITIONS.items() if name in wanted}


def orders(
    seed: int, runs: int, during: float, calm_from: float | None, shapes: Sequence[str] = ()
) -> list[Order]:
    """Some runs of each shape, spread over the first part of the simulation, and a few for its calm part."""
    random = Random(f"{seed}:orders")
    names = random.sample(shapes or list(_SHAPES), len(shapes or _SHAPES))
    troubled = [_order(random, number, names[number % len(names)], during) for number in range(runs)]
    if calm_from is None:
        return troubled
    calm = [
        Order(
            key=f"order-{number}",
            workflow=workflow,
            input=_input(number, workflow, random),
            at=calm_from + random.uniform(0, 3),
            again=False,
            calm=True,
        )
        for number, workflow in enumerate(CALM, runs)
    ]
    return troubled + calm


def _input(number: int, workflow: str, random: Random) -> dict[str, Any]:
    input: dict[str, Any] = {"n": 100 * number}
    if workflow == "serial":
        input["user"] = random.choice(["ann", "bob"])
    if workflow == "fan":
        input["items"] = list(range(5))
    if workflow == "event":
        input["job"] = f"job-{number}"
    return input


def _order(random: Random, number: int, workflow: str, during: float) -> Order:
    at = random.uniform(0, during)
    events: tuple[float, ...] = ()
    cancel = None
    if workflow == "event":
        first = max(0.0, at + random.uniform(-5, 5))
        events = (first, first + random.uniform(0, 4)) if random.random() < 0.5 else (first,)
    if workflow == "cancel":
        cancel = random.uniform(0, 6)
    paused = (random.uniform(0, 3), random.uniform(1, 4)) if random.random() < 0.25 else None
    return Order(
        key=f"order-{number}",
        workflow=workflow,
        input=_input(number, workflow, random),
        at=at,
        again=random.random() < 0.3,
        events_at=events,
        cancel_after=cancel,
        paused=None if workflow in ("cancel", "poison") else paused,
    )
