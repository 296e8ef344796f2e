"""W5: a run of three steps in memory, each contender in the environment that was made for it."""

from __future__ import annotations

import sys
import time
from contextlib import ExitStack

from bench.roster import ENVS
from penstock.bench.measure import Contender, rounds
from penstock.bench.net import require_same_answers
from penstock.bench.report import MISSING
from penstock.bench.runs import MIXED, SMALL, run_name

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
    """So many rounds of about so long, asked in turn. After all of its time whoever is left is killed: RuntimeError."""
    found = Found()
    with ExitStack() as stack:
        able, until = [], time.monotonic() + patience
        for name, env in CONTENDERS.items():
            python = ENVS / env / "bin" / "python"
            if env and not python.exists():
                found.missing[name] = "not installed: run `make bench-setup`"
                continue
            contender = stack.enter_context(Contender(name, str(python) if env else sys.executable, until))
            if contender.missing:
                found.missing[name] = MISSING
                continue
            able.append(contender)
            found.versions[name] = contender.version or ""
        require_same_answers(able)
        for work in WORKS:
            samples = rounds(work, able, count, seconds)
            found.micros[work] = {name: sample.micros for name, sample in samples.items()}
    return found
