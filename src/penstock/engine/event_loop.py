"""The event loop of Penstock's own processes: uvloop, where the system has it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")

SWITCH_INTERVAL = 0.0005
"""Seconds after which a thread that waits for the interpreter gets it: rows are written beside the loop that decides,
and whoever writes them must not wait for as long as many decisions take."""


def run(main: Coroutine[Any, Any, Result]) -> Result:
    """What `main` gives, on a loop of its own; as `asyncio.run` in everything else."""
    sys.setswitchinterval(SWITCH_INTERVAL)
    with asyncio.Runner(loop_factory=_new_loop) as runner:
        return runner.run(main)


def _new_loop() -> asyncio.AbstractEventLoop:
    if sys.platform == "win32":
        return asyncio.new_event_loop()
    import uvloop  # not there on Windows

    return uvloop.new_event_loop()
