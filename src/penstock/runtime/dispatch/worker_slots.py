"""Worker slots: where waiting workers receive tasks."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Protocol

from penstock.runtime.dispatch.gate import Assignment
from penstock.store.rows.rows import ClaimRequest

Key = tuple[str, tuple[str, ...], tuple[str, ...] | None]
"""Worker, lists and tasks. Another combination has its own slot."""


class WaitingWorker(Protocol):
    """A worker of this process: it reports its free capacity at any time."""

    @property
    def room(self) -> int:
        """How much more it can take."""
        ...

    @property
    def begun(self) -> int:
        """How many of the tasks that it was handed it has begun, in total."""
        ...


class LocalWorker(WaitingWorker, Protocol):
    """One that hears at once what is withdrawn."""

    @property
    def id(self) -> str: ...

    def nudge(self, run: str, elements: Sequence[tuple[int, int]]) -> None:
        """These elements of a run are not wanted any more."""


class WorkerSlot:
    """Where one worker receives tasks of some lists: `room` for how many more, `coming` how many are being written.

    A local worker reports its free capacity at any time; a remote one only when it polls.
    """

    __slots__ = (
        "awaited",
        "back_by",
        "coming",
        "expected",
        "given",
        "handed",
        "key",
        "lists",
        "local_worker",
        "ready",
        "room",
        "sitting",
        "sweep_at",
        "tasks",
        "watched",
    )

    def __init__(self, key: Key, local_worker: WaitingWorker | None = None) -> None:
        self.key, self.local_worker = key, local_worker
        self.handed = 0  # all that the local worker took from here, and what it had begun before
        _, lists, tasks = key
        self.lists = frozenset(lists)
        self.tasks = None if tasks is None else frozenset(tasks)
        self.room = self.coming = self.sitting = 0
        self.expected = (
            False  # a worker that left with work counts as waiting for a while: it returns for more
        )
        self.back_by = 0.0  # until then, by the loop's time; `awaited` while a timer checks it
        self.awaited = False
        self.sweep_at = 0.0  # when it is swept if no worker waits, while it is `watched`
        self.watched = False
        self.given: list[Assignment] = []
        self.ready = asyncio.Event()

    @property
    def worker(self) -> str:
        return self.key[0]

    def sit(self, limit: int) -> None:
        """The worker waits for at most `limit` tasks, including those being written."""
        self.room = limit - self.coming - len(self.given)
        self.sitting += 1
        self.settle()

    def settle(self) -> None:
        """The worker polls again: it has begun what it took."""
        if self.local_worker is not None:
            self.handed = self.local_worker.begun

    def take(self, limit: int) -> list[Assignment]:
        """Take what was assigned, up to the limit. A local worker takes everything."""
        if self.local_worker is not None:
            limit = len(self.given)
            self.handed += limit
        taken, self.given = self.given[:limit], self.given[limit:]
        return taken

    def spare(self) -> int:
        """How many more tasks it may receive."""
        if (local_worker := self.local_worker) is None:
            return self.room
        return local_worker.room - self.coming - len(self.given) - (self.handed - local_worker.begun)

    def expect_back(self, seconds: float) -> None:
        """The worker left with work. Expect it back within so many seconds.

        One timer for all its absences: every task asks whether the worker is expected.
        """
        loop = asyncio.get_running_loop()
        self.expected, self.back_by = True, loop.time() + seconds
        if not self.awaited:
            self.awaited = True
            loop.call_at(self.back_by, self._look_for, loop)

    def _look_for(self, loop: asyncio.AbstractEventLoop) -> None:
        self.awaited = self.expected and loop.time() < self.back_by
        if self.awaited:
            loop.call_at(self.back_by, self._look_for, loop)
        else:
            self.expected = False

    def serves(self, task_list: str, task: str) -> bool:
        """Whether a worker waits here for such a task, or is expected back."""
        return (
            (self.sitting > 0 or self.expected)
            and task_list in self.lists
            and (self.tasks is None or task in self.tasks)
        )


def key_of(request: ClaimRequest) -> Key:
    """The slot key of a claim request."""
    return request.worker, request.task_lists, request.tasks
