"""The event loop of a process that stays: uvloop where there is one."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from importlib import import_module
from typing import Any, TypeVar

T = TypeVar("T")


def run_loop(work: Coroutine[Any, Any, T]) -> T:
    """Run to the end on a loop of its own."""
    try:
        factory = import_module("uvloop").new_event_loop
    except ImportError:  # Windows has none
        factory = None
    with asyncio.Runner(loop_factory=factory) as runner:
        return runner.run(work)
