"""The critical path of one run: the chain of firings that decided when it ended, read from its history."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime

from msgspec import Struct

from penstock.flow.model.plan import Entry


class Link(Struct, frozen=True):
    """One firing of the chain: its step, and the seconds from the event that let it begin to its end."""

    step: str
    seconds: float


class _Ended(Struct, frozen=True):
    firing: int
    step: str
    at: datetime
    seq: int


def critical_chain(history: Iterable[Entry]) -> list[Link]:
    """From the first firing to the last that ended, each the last to arrive of what its successor waited for."""
    entries = list(history)
    by_seq = {entry.seq: entry for entry in entries}
    ended = [
        _Ended(entry.firing, entry.step, entry.at, entry.seq)
        for entry in entries
        if entry.kind == "ended" and entry.firing is not None and entry.step is not None
    ]
    return list(_walk(by_seq, ended))[::-1]


def _walk(by_seq: dict[int, Entry], ended: list[_Ended]) -> Iterator[Link]:
    of_firing = {each.firing: each for each in ended}
    current = ended[-1] if ended else None
    while current is not None:
        consumed = by_seq[current.firing].data["consumed"]
        event = by_seq[max(consumed)]
        yield Link(current.step, (current.at - event.at).total_seconds())
        current = of_firing.get(event.firing) if event.firing is not None else _before(event, ended)


def _before(event: Entry, ended: list[_Ended]) -> _Ended | None:
    """FAIL and CANCEL name the step that fired them, not its firing; START and outside events name none."""
    mine = (each for each in reversed(ended) if each.step == event.step and each.seq < event.seq)
    return None if event.step is None else next(mine, None)
