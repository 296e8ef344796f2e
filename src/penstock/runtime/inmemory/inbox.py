"""Correlation in memory: which run an outside event belongs to, and the events that found none."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from datetime import datetime
from itertools import count

from msgspec import Struct
from msgspec.structs import replace

from penstock.flow.model.run import RunId
from penstock.flow.model.run_input import Outside
from penstock.runtime.decisions.correlation import NO_RUN, RETENTION


class Undelivered(Struct, frozen=True):
    """An event that no run has taken, and why."""

    key: dict[str, str]
    event: Outside
    at: datetime
    reason: str = NO_RUN


class RefusedKey(Struct, frozen=True):
    """A run asked for a key that another live run has; it continues without it."""

    run: RunId
    key: tuple[str, str]
    holder: RunId
    at: datetime


class Inbox:
    """A key belongs to at most one live run. What is not delivered, and the ids that came, are kept for seven days."""

    def __init__(self) -> None:
        self._runs: dict[tuple[str, str], RunId] = {}
        self._pending: OrderedDict[int, Undelivered] = OrderedDict()
        self._waiting: dict[tuple[str, str], dict[int, None]] = {}  # key → numbers of kept events
        self._seen: OrderedDict[tuple[str, str], datetime] = OrderedDict()
        self._refused: list[RefusedKey] = []
        self._numbers = count(1)

    def find(self, key: Mapping[str, str]) -> RunId | None:
        """The run that has one of the keys."""
        return next((self._runs[pair] for pair in key.items() if pair in self._runs), None)

    def repeats(self, event: Outside, now: datetime) -> bool:
        """Whether an event of that name came with that id before, for whatever run."""
        self._expire(now)
        return event.id is not None and (event.event, event.id) in self._seen

    def remember(self, event: Outside, now: datetime) -> None:
        """The event was taken: a repeat of its id is one from now on."""
        if event.id is not None:
            self._seen[event.event, event.id] = now

    def keep(self, key: Mapping[str, str], event: Outside, now: datetime, reason: str = NO_RUN) -> None:
        """Keep an event for the run that will have its key, or for a person to look at."""
        self._expire(now)
        number = next(self._numbers)
        self._pending[number] = Undelivered(dict(key), event, now, reason)
        for pair in key.items():
            self._waiting.setdefault(pair, {})[number] = None

    def bind(self, run: RunId, key: tuple[str, str], now: datetime) -> list[tuple[int, Undelivered]]:
        """Give the run a key; the events that wait for it, in order, each to be settled.

        A key that another live run has stays there, and the wish is listed as refused.
        """
        self._expire(now)
        holder = self._runs.setdefault(key, run)
        if holder != run:
            self._refused.append(RefusedKey(run, key, holder, now))
            return []
        return [(number, self._pending[number]) for number in self._waiting.get(key, ())]

    def settle(self, number: int, reason: str | None) -> None:
        """A kept event was delivered, or stays for a reason."""
        if reason is None:
            self._drop(number)
        else:
            self._pending[number] = replace(self._pending[number], reason=reason)

    def forget(self, run: RunId, keys: Iterable[tuple[str, str]]) -> None:
        """A run that has ended gives its keys back."""
        for pair in keys:
            if self._runs.get(pair) == run:
                del self._runs[pair]

    def undelivered(self, now: datetime) -> tuple[Undelivered, ...]:
        """What no run has taken, the oldest first."""
        self._expire(now)
        return tuple(self._pending.values())

    def refused(self, now: datetime) -> tuple[RefusedKey, ...]:
        """The keys that runs were refused, the oldest first."""
        self._expire(now)
        return tuple(self._refused)

    def _drop(self, number: int) -> None:
        kept = self._pending.pop(number)
        for pair in kept.key.items():
            numbers = self._waiting[pair]
            del numbers[number]
            if not numbers:
                del self._waiting[pair]

    def _expire(self, now: datetime) -> None:
        since = now - RETENTION
        while self._pending and next(iter(self._pending.values())).at < since:
            self._drop(next(iter(self._pending)))
        while self._seen and next(iter(self._seen.values())) < since:
            self._seen.popitem(last=False)
        if self._refused and self._refused[0].at < since:
            self._refused = [each for each in self._refused if each.at >= since]
