"""W5: a run of three steps in memory, each contender in the environment that was made for it."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack

from bench.net.measure import Contender, Stopped, rounds
from bench.net.report import MISSING
from bench.net.runs import MIXED, SMALL, run_name
from bench.net.suite import require_same_answers
from bench.roster import ENVS

CONTENDERS = {"penstock": "", "snakes": "snakes", "spiff": "spiff", "langgraph": "langgraph", "plain": ""}
"""Contender → its environment."""
TITLES = {
    "penstock": "Penstock in memory",
    "snakes": "SNAKES",
    "spiff": "SpiffWorkflow",
    "langgraph": "LangGraph",
    "plain": "plain calls",
}
WORKS = (run_name(SMALL), run_name(MIXED))


class Found:
    """Microseconds a step by work and contender, versions, and who is missing."""

    def __init__(self) -> None:
        self.micros: dict[str, dict[str, tuple[float, ...]]] = {}
        self.versions: dict[str, str] = {}
        self.missing: dict[str, str] = {}


def in_memory(count: int, seconds: float, patience: float) -> Found:
    """So many rounds of about so long, asked in turn. Whoever stops is missing; after `patience` whoever is left."""
    found = Found()
    with ExitStack() as stack:
        able = list(_able(found, stack, time.monotonic() + patience))
        if able:
            require_same_answers(able)
        for work in WORKS:
            while able and work not in found.micros:
                try:
                    samples = rounds(work, able, count, seconds)
                except Stopped as error:
                    found.missing[error.name] = str(error)
                    able = [each for each in able if each.name != error.name]
                else:
                    found.micros[work] = {name: sample.micros for name, sample in samples.items()}
    return found


def _able(found: Found, stack: ExitStack, until: float) -> Iterator[Contender]:
    """Those who take part, started; of the others it is told why not."""
    for name, env in CONTENDERS.items():
        python = ENVS / env / "bin" / "python"
        if env and not python.exists():
            found.missing[name] = MISSING
            continue
        try:
            contender = stack.enter_context(Contender(name, str(python) if env else sys.executable, until))
        except Stopped as error:
            found.missing[name] = str(error)
            continue
        if contender.missing:
            found.missing[name] = MISSING
        else:
            found.versions[name] = contender.version or ""
            yield contender
