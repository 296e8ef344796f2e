"""How long `check` takes for a workflow of some size: seconds of waiting, beside what was promised."""

from __future__ import annotations

import importlib
from statistics import median
from time import perf_counter
from typing import Any

from msgspec import Struct

from bench.net.runs import after
from bench.net.shapes import fork_join
from penstock.engine.authoring.loader import load

ROUNDS = 3


class CheckFigure(Struct, frozen=True):
    """One workflow: what the proof said of it and the seconds it took, round by round."""

    workflow: str
    verdict: str
    seconds: tuple[float, ...]
    bar: float

    @property
    def met(self) -> bool:
        """A proof that gives up is no proof: only an answer in time counts."""
        return self.verdict == "proved" and median(self.seconds) <= self.bar


def sixty_steps() -> dict[str, Any]:
    """Ten decisions, each followed by two ways that meet again, and tasks in between: six steps each."""
    steps: dict[str, Any] = {}
    before: list[str] = []
    for part in range(10):
        name = f"part{part}"
        steps[f"{name} read"] = {"task": "fetch", **({"after": before} if before else {})}
        steps[f"{name} choose"] = after("decide", f"{name} read", **{"with": {"if": "true"}})
        steps[f"{name} long"] = after("fetch", f"{name} choose.then")
        steps[f"{name} short"] = after("fetch", f"{name} choose.else")
        steps[f"{name} meet"] = after("fetch", f"{name} long | {name} short")
        steps[f"{name} store"] = after("fetch", f"{name} meet")
        before = [f"{name} store"]
    return steps


def wide(size: int) -> dict[str, Any]:
    """A fork and a join."""
    net = fork_join(size).net
    return {step.name: after("fetch", *(slot.events[0] for slot in step.slots)) for step in net.steps}


def branches(count: int, length: int) -> dict[str, Any]:
    """Parallel branches of several steps, each with an end of its own."""
    return {
        f"b{branch} s{step}": after("fetch", f"b{branch} s{step - 1}" if step else "START")
        for branch in range(count)
        for step in range(length)
    }


WORKFLOWS = (
    ("60 steps with decisions", sixty_steps, 0.1),
    ("fork-join of 400 steps", lambda: wide(400), 1.0),
    ("10 parallel branches of 5 steps", lambda: branches(10, 5), 1.0),
)


def check_figures(rounds: int = ROUNDS) -> list[CheckFigure]:
    """The check of each workflow, timed; empty where this build has no checks."""
    try:
        checks = importlib.import_module("penstock.flow.checks.checks")
    except ModuleNotFoundError:
        return []
    return [_timed(checks, name, make(), bar, rounds) for name, make, bar in WORKFLOWS]


def _timed(checks: Any, name: str, steps: dict[str, Any], bar: float, rounds: int) -> CheckFigure:
    loaded = load({"penstock": 1, "name": "bench", "steps": steps})
    seconds = []
    for _ in range(rounds):
        start = perf_counter()
        report = checks.check_flow(loaded.flow, loaded.offers, clock=perf_counter)
        seconds.append(perf_counter() - start)
    return CheckFigure(name, report.verdict, tuple(seconds), bar)
