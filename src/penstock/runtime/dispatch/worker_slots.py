"""Desks: where workers that wait are given work."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Protocol

from penstock.runtime.dispatch.gate import Assignment
from penstock.store.rows.rows import ClaimRequest

Key = tuple[str, tuple[str, ...], tuple[str, ...] | None]
"""Worker, lists and tasks: who polls for something else sits at another desk."""


class WaitingWorker(Protocol):
    """A worker of this process: it can be asked how much it has in hand, at any moment."""

    @property
    def room(self) -> int:
        """How much more it can take."""
        ...

    @property
    def begun(self) -> int:
        """How much of what it was handed it has taken up, ever."""
        ...


class LocalWorker(WaitingWorker, Protocol):
    """One that hears at once what is withdrawn."""

    @property
    def id(self) -> str: ...

    def nudge(self, run: str, elements: Sequence[tuple[int, int]]) -> None:
        """These elements of a run are not wanted any more."""


class WorkerSlot:
    """Where one worker gets work of some lists. `room`: what it may be given, `coming`: what is written for it.

    One with a `seat` has the room that its worker has just now. A worker far away only tells when it comes, and until
    it comes again has no more, however much it has done meanwhile.
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
        self.handed = 0  # all that the worker of the seat took from here, and what it had begun before
        _, lists, tasks = key
        self.lists = frozenset(lists)
        self.tasks = None if tasks is None else frozenset(tasks)
        self.room = self.coming = self.sitting = 0
        self.expected = False  # one that went off with work counts as sitting for a while: it comes for more
        self.back_by = 0.0  # until then, by the loop's time, while a timer that looks is `awaited`
        self.awaited = False
        self.sweep_at = 0.0  # when it is swept where nobody sits there, if it is `watched`
        self.watched = False
        self.given: list[Assignment] = []
        self.ready = asyncio.Event()

    @property
    def worker(self) -> str:
        return self.key[0]

    def sit(self, limit: int) -> None:
        """The worker waits for as much as it wishes, what is on its way included."""
        self.room = limit - self.coming - len(self.given)
        self.sitting += 1
        self.settle()

    def settle(self) -> None:
        """The worker is here: it has begun what it took."""
        if self.local_worker is not None:
            self.handed = self.local_worker.begun

    def take(self, limit: int) -> list[Assignment]:
        """What was given, no more than was wished for; one of this process wished before it had room for the rest."""
        if self.local_worker is not None:
            limit = len(self.given)
            self.handed += limit
        taken, self.given = self.given[:limit], self.given[limit:]
        return taken

    def spare(self) -> int:
        """How much more it may be given."""
        if (local_worker := self.local_worker) is None:
            return self.room
        return local_worker.room - self.coming - len(self.given) - (self.handed - local_worker.begun)

    def expect_back(self, seconds: float) -> None:
        """The worker went off with work and comes back within so many seconds, or is not counted on any more.

        One timer, however often it goes: whether it is expected is asked for every task.
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
        """Whether somebody waits here for such work."""
        return (
            (self.sitting > 0 or self.expected)
            and task_list in self.lists
            and (self.tasks is None or task in self.tasks)
        )


def key_of(request: ClaimRequest) -> Key:
    """The desk for a wish."""
    return request.worker, request.task_lists, request.tasks
