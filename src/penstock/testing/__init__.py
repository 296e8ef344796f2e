"""Workflows in your own tests: in memory, on a virtual clock, with stubbed tasks and injected failures.

Not here: tests.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from penstock.testing.coverage import scenarios
    from penstock.testing.executor import Try
    from penstock.testing.played_run import Play
    from penstock.testing.scenario import Scenario, Scenarios, Uncovered
    from penstock.testing.simulation import Chances, simulate
    from penstock.testing.stubs import Stub, after, fails, lost, returns, sequence, times_out
    from penstock.testing.summary import Summary
    from penstock.testing.world import Endless, World, play

__all__ = [
    "Chances",
    "Endless",
    "Play",
    "Scenario",
    "Scenarios",
    "Stub",
    "Summary",
    "Try",
    "Uncovered",
    "World",
    "after",
    "fails",
    "lost",
    "play",
    "returns",
    "scenarios",
    "sequence",
    "simulate",
    "times_out",
]

_HOMES = {
    "coverage": ("scenarios",),
    "executor": ("Try",),
    "played_run": ("Play",),
    "scenario": ("Scenario", "Scenarios", "Uncovered"),
    "simulation": ("Chances", "simulate"),
    "stubs": ("Stub", "after", "fails", "lost", "returns", "sequence", "times_out"),
    "summary": ("Summary",),
    "world": ("Endless", "World", "play"),
}


def __getattr__(name: str) -> Any:
    # pytest imports the plug-in of this package at every start: nothing else may be imported with it.
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"penstock.testing.{home}"), name)
    raise AttributeError(f"module 'penstock.testing' has no attribute {name!r}")
