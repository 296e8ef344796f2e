"""The seam for tasks that run elsewhere: what a worker asks of its executor."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

from penstock.runtime.errors import Invalid
from penstock.workers.context import LogSink
from penstock.workers.execute.thread_pool import Ended
from penstock.workers.worker.work import Work


class Fleet(Protocol):
    """Runs the tasks of one worker. Called on the loop; each outcome is told there too, unless it was cancelled."""

    def begin(self, works: Iterable[Work]) -> None: ...

    def cancel(self, work: Work) -> None:
        """The work is no longer wanted: its task is stopped, and nothing of it will be told."""

    def take_back(self) -> list[Work]:
        """All that was not begun; it will not be."""

    async def close(self, timeout: float = 1.0) -> None: ...


OnResult = Callable[[], None]
"""A task said how far it is; from any thread."""

ExecutorFactory = Callable[[Ended, LogSink, OnResult, int], Fleet]
"""Who hears of outcomes, lines and progress, and how large an output may be → a fleet; called on the loop."""


class CannotOpen(Invalid):
    """A fleet that is asked for cannot be used: an extra is missing, or its settings do not fit."""

    code = "unusable_fleet"
