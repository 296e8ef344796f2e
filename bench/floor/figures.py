"""What the floor came to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from msgspec import Struct

BATCH = 500
SINGLES = 30
NEXT: Mapping[str, Sequence[str]] = {"a": ("b",), "b": ("c",), "c": ()}
"""The chain that a run of the floor goes through."""

OUTPUT = '{"port": "done", "output": {"x": 1}}'


class Floor(Struct, frozen=True):
    """Runs a second in batches, and the milliseconds that single runs took, sorted."""

    runs_per_s: float
    latency: tuple[float, ...]

    @property
    def median(self) -> float:
        return median(self.latency)


class State:
    """A run of the floor while its steps are completed: what it waits for, its last entry, whether it is over."""

    __slots__ = ("marking", "over", "seq")

    def __init__(self, marking: dict[str, int], seq: int) -> None:
        self.marking, self.seq, self.over = marking, seq, 0

    def complete(self, run: Any, step: str, history: list[tuple[Any, int, str, str]]) -> Sequence[str]:
        """One step ends: entries for the history, and the steps that are ready then."""
        self.seq += 1
        history.append((run, self.seq, step, OUTPUT))
        self.marking.pop(step, None)
        for name in NEXT[step]:
            self.marking[name] = 1
        if not self.marking:
            self.seq, self.over = self.seq + 1, 1
            history.append((run, self.seq, "END", "{}"))
        return NEXT[step]
