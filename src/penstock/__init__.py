"""Penstock: event-driven workflows that are drawn, proved and run."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from penstock.engine.checking import CheckFailed
    from penstock.engine.engine import Engine
    from penstock.engine.sync import SyncEngine
    from penstock.flow.errors import PenstockError
    from penstock.flow.problems import DefinitionError, Problem
    from penstock.workers.context import Context
    from penstock.workers.task import Fatal, Out, task

__version__ = "0.1.0"

__all__ = [
    "CheckFailed",
    "Context",
    "DefinitionError",
    "Engine",
    "Fatal",
    "Out",
    "PenstockError",
    "Problem",
    "SyncEngine",
    "__version__",
    "task",
]

_HOMES = {
    "CheckFailed": "penstock.engine.checking",
    "Context": "penstock.workers.context",
    "DefinitionError": "penstock.flow.problems",
    "Engine": "penstock.engine.engine",
    "Fatal": "penstock.workers.task",
    "Out": "penstock.workers.task",
    "PenstockError": "penstock.flow.errors",
    "Problem": "penstock.flow.problems",
    "SyncEngine": "penstock.engine.sync",
    "task": "penstock.workers.task",
}


def __getattr__(name: str) -> Any:
    # The pytest plug-in lives in this package: every pytest of a user would pay for what is imported here.
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'penstock' has no attribute {name!r}")
