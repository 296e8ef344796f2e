"""Which task lists of the store may have tasks, and which workers have checked them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from penstock.runtime.dispatch.worker_slots import Key

UNKNOWN = 1 << 40
"""More than any list holds: the length is unknown."""
MAX_WORKERS = 10_000
"""Workers that are remembered: names that strangers made up must not fill the memory."""

Looked = dict[str, int]
"""List → how many tasks had been counted there when a worker last looked to its end."""


class Backlog:
    """Counts the tasks that came to each list, so that every kind of worker looks for as many as it has not seen.

    A worker that has no use for a task must not make it look gone: what one has seen, another may have to do.
    """

    def __init__(self) -> None:
        self._everywhere = UNKNOWN
        self._made: Counter[str] = Counter()
        self._looked: dict[Key, Looked] = {}

    def add(self, lists: Iterable[str]) -> None:
        """A task came to a list, one for each time it is named."""
        self._made.update(lists)

    def add_unknown(self) -> None:
        """There may be work in any list."""
        self._everywhere += UNKNOWN

    def forget(self, key: Key) -> None:
        """What a worker has seen is no longer certain."""
        self._looked.pop(key, None)

    def has_seen(self, key: Key, name: str) -> bool:
        """Whether a worker has looked at all that is in a list."""
        looked = self._looked.get(key)
        return looked is not None and looked.get(name) == self._everywhere + self._made[name]

    def unseen(self, key: Key) -> int:
        """How many tasks a worker may find, at most."""
        looked = self._seen_by(key)
        return sum(self._count(name) - looked.get(name, 0) for name in key[1])

    def see(self, key: Key) -> Looked:
        """The worker looks now: what comes from here on it has not seen. Answers what it had seen before."""
        looked = self._seen_by(key)
        before = dict(looked)
        looked.update({name: self._count(name) for name in key[1]})
        return before

    def unsee(self, key: Key, before: Looked) -> None:
        """It could not look after all."""
        looked = self._seen_by(key)
        looked.clear()
        looked.update(before)

    def subtract(self, key: Key, left: int) -> None:
        """It found as many as it requested; so many may remain, in any of its lists."""
        self._seen_by(key)[key[1][0]] -= left

    def _count(self, name: str) -> int:
        return self._everywhere + self._made[name]

    def _seen_by(self, key: Key) -> Looked:
        found = self._looked.get(key)
        if found is None:
            if len(self._looked) >= MAX_WORKERS:
                self._looked.clear()
            found = self._looked[key] = {}
        return found
