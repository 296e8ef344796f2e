"""Penstock: event-driven workflows that are drawn, proved and run.

These are the names that programs import.
Not here: code. Each name is loaded from its own module when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from penstock.engine.application import CallFailed
    from penstock.engine.authoring.check_gate import CheckFailed
    from penstock.engine.engine import Engine
    from penstock.engine.sync import SyncEngine
    from penstock.flow.errors import PenstockError
    from penstock.flow.model.problems import DefinitionError, Problem
    from penstock.runtime.call_errors import CallTimedOut, CannotCall
    from penstock.runtime.errors import (
        Changed,
        IdempotencyMismatch,
        Invalid,
        InvalidInput,
        PayloadTooLarge,
        RunEnded,
        UnknownRun,
        UnknownToken,
        UnknownWorkflow,
    )
    from penstock.store.errors import OutcomeUnknown, StoreAway, StoreBusy, StoreUnavailable
    from penstock.workers.context import Context
    from penstock.workers.task import Fatal, Out, task

__version__ = "0.1.0"

__all__ = [
    "CallFailed",
    "CallTimedOut",
    "CannotCall",
    "Changed",
    "CheckFailed",
    "Context",
    "DefinitionError",
    "Engine",
    "Fatal",
    "IdempotencyMismatch",
    "Invalid",
    "InvalidInput",
    "Out",
    "OutcomeUnknown",
    "PayloadTooLarge",
    "PenstockError",
    "Problem",
    "RunEnded",
    "StoreAway",
    "StoreBusy",
    "StoreUnavailable",
    "SyncEngine",
    "UnknownRun",
    "UnknownToken",
    "UnknownWorkflow",
    "__version__",
    "task",
]

_HOMES = {
    "CallFailed": "penstock.engine.application",
    "CallTimedOut": "penstock.runtime.call_errors",
    "CannotCall": "penstock.runtime.call_errors",
    "Changed": "penstock.runtime.errors",
    "CheckFailed": "penstock.engine.authoring.check_gate",
    "Context": "penstock.workers.context",
    "DefinitionError": "penstock.flow.model.problems",
    "Engine": "penstock.engine.engine",
    "Fatal": "penstock.workers.task",
    "IdempotencyMismatch": "penstock.runtime.errors",
    "Invalid": "penstock.runtime.errors",
    "InvalidInput": "penstock.runtime.errors",
    "Out": "penstock.workers.task",
    "OutcomeUnknown": "penstock.store.errors",
    "PayloadTooLarge": "penstock.runtime.errors",
    "PenstockError": "penstock.flow.errors",
    "Problem": "penstock.flow.model.problems",
    "RunEnded": "penstock.runtime.errors",
    "StoreAway": "penstock.store.errors",
    "StoreBusy": "penstock.store.errors",
    "StoreUnavailable": "penstock.store.errors",
    "SyncEngine": "penstock.engine.sync",
    "UnknownRun": "penstock.runtime.errors",
    "UnknownToken": "penstock.runtime.errors",
    "UnknownWorkflow": "penstock.runtime.errors",
    "task": "penstock.workers.task",
}


def __getattr__(name: str) -> Any:
    # The pytest plug-in lives in this package: every pytest of a user would pay for what is imported here.
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'penstock' has no attribute {name!r}")
