"""One run from beginning to rest, in the caller's own thread."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from penstock.flow.model.run import RunId, Snapshot
from penstock.runtime.inmemory.engine import InMemoryEngine
from penstock.runtime.node.clock import VirtualClock


def play_out(
    host: InMemoryEngine,
    clock: VirtualClock,
    run: RunId,
    until: datetime | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> Snapshot:
    """Let time pass until the run is at rest: ended, waiting for outside, stalled, or paused."""
    live_run = host.run_of(run)
    while live_run.moving and not stop():
        due = clock.next()
        if due is None or (until is not None and due > until):
            break
        clock.step()
    return live_run.snapshot
