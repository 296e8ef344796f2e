"""Correlation: which run an outside event belongs to, and the events that came before their key was known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

from msgspec import Struct

from penstock.flow.occurrence import Outside
from penstock.flow.plan import Answer
from penstock.flow.run import RunId

KEPT_FOR = timedelta(days=7)


class Undelivered(Struct, frozen=True):
    """An event whose key no run has yet."""

    key: dict[str, str]
    event: Outside
    at: datetime


class Inbox:
    """A key belongs to at most one live run. What cannot be delivered is kept for seven days."""

    def __init__(self) -> None:
        self._runs: dict[tuple[str, str], RunId] = {}
        self._undelivered: list[Undelivered] = []
        self._seen: set[tuple[str, str]] = set()

    def find(self, key: Mapping[str, str]) -> RunId | None:
        """The run that has one of the keys."""
        return next((self._runs[pair] for pair in key.items() if pair in self._runs), None)

    def keep(self, key: Mapping[str, str], event: Outside, now: datetime) -> Answer:
        """Keep an event for the run that will have its key; a repeat by id changes nothing."""
        if event.id is not None:
            if (event.event, event.id) in self._seen:
                return "duplicate"
            self._seen.add((event.event, event.id))
        self._undelivered.append(Undelivered(dict(key), event, now))
        return "accepted"

    def bind(self, run: RunId, key: tuple[str, str], now: datetime) -> list[Outside]:
        """The run has a key from now on; the events that waited for it, in order."""
        self._runs[key] = run
        fresh = [kept for kept in self._undelivered if now - kept.at <= KEPT_FOR]
        mine = [kept for kept in fresh if kept.key.get(key[0]) == key[1]]
        self._undelivered = [kept for kept in fresh if kept not in mine]
        return [kept.event for kept in mine]

    def forget(self, run: RunId, keys: Iterable[tuple[str, str]]) -> None:
        """A run that has ended gives its keys back."""
        for pair in keys:
            if self._runs.get(pair) == run:
                del self._runs[pair]

    def undelivered(self) -> tuple[Undelivered, ...]:
        return tuple(self._undelivered)
