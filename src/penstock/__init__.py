"""Penstock: event-driven workflows that are drawn, proved and run."""

from penstock.engine.checking import CheckFailed
from penstock.engine.engine import Engine, SyncEngine
from penstock.flow.problems import DefinitionError, Problem
from penstock.runtime.errors import PenstockError
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
