"""Who gets the work that one batch makes: the desks are asked once for each kind of it, not for every task."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from penstock.flow.model.plan import Attempt
from penstock.runtime.decisions.decision import SlotReservation as AnyDesk
from penstock.runtime.dispatch.backlog import Backlog
from penstock.runtime.dispatch.worker_slots import WorkerSlot

Kind = tuple[str, str]
"""A task list and a task: whoever serves them takes every attempt of that kind."""

Free = Callable[[Sequence[tuple[Attempt, AnyDesk]]], None]


class Reservations:
    """Reserves desks while a batch is written down. Nothing else happens meanwhile, so what it found stays so."""

    __slots__ = ("_backlog", "_desks", "_found", "_left", "free")

    def __init__(self, desks: Iterable[WorkerSlot], backlog: Backlog, free: Free) -> None:
        self._desks, self._backlog, self.free = desks, backlog, free
        self._found: dict[Kind, WorkerSlot] = {}
        self._left: dict[WorkerSlot, int] = {}

    def reserve(self, attempt: Attempt) -> WorkerSlot | None:
        """A desk that takes the attempt. Not where others wait for it in the list: they came first."""
        kind = attempt.task_list, attempt.task
        desk = self._found.get(kind)
        if desk is None or not self._left[desk]:
            desk = self._look_for(kind)
            if desk is None:
                return None
            self._found[kind] = desk
        self._left[desk] -= 1
        desk.room -= 1
        desk.coming += 1
        return desk

    def _look_for(self, kind: Kind) -> WorkerSlot | None:
        for desk in self._desks:
            if desk.serves(*kind) and self._has_room(desk) and self._backlog.has_seen(desk.key, kind[0]):
                return desk
        return None

    def _has_room(self, desk: WorkerSlot) -> bool:
        left = self._left.get(desk)
        if left is None:
            left = self._left[desk] = max(0, desk.spare())
        return left > 0
