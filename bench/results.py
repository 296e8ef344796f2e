"""What a whole measurement found, as data: figures by contestant, work and variant, round by round."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

import msgspec
from msgspec import Struct, field

Variant = str


class Figure(Struct):
    """One work of one contestant: a value a round. `rounds` says of which, where there is not one of each."""

    unit: str
    values: list[float] = field(default_factory=list)
    rounds: list[int] = field(default_factory=list)

    @property
    def by_round(self) -> dict[int, float]:
        return dict(zip(self.rounds or range(len(self.values)), self.values, strict=True))

    @property
    def middle(self) -> float:
        return median(self.values)

    @property
    def spread(self) -> tuple[float, float]:
        return min(self.values), max(self.values)


class Entry(Struct):
    """What one contestant came to, and what went wrong."""

    title: str
    settings: str = ""
    lacks: str = ""
    versions: dict[str, str] = field(default_factory=dict)
    figures: dict[str, dict[Variant, Figure]] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)

    def add(self, work: str, variant: str, value: float, unit: str, round: int) -> None:
        figure = self.figures.setdefault(work, {}).setdefault(variant, Figure(unit))
        figure.values.append(value)
        figure.rounds.append(round)

    def figure(self, work: str, variant: str = "") -> Figure | None:
        return self.figures.get(work, {}).get(variant)


class Bar(Struct, frozen=True, kw_only=True):
    """A promise: `found` is the ratio or value that is held against `bar`, None where it could not be measured."""

    name: str
    found: float | None
    bar: float
    least: bool
    unit: str = ""
    spread: tuple[float, float] | None = None
    note: str = ""
    owed: bool = False  # Penstock itself has no figure: that keeps no promise

    @property
    def kept(self) -> bool | None:
        """None where no neighbour was there to be held beside."""
        if self.found is None:
            return False if self.owed else None
        return self.found >= self.bar if self.least else self.found <= self.bar


class Point(Struct, frozen=True):
    """One measured value of a growth: at `x` of something it costs `y`."""

    x: float
    y: float


class Growth(Struct, frozen=True, kw_only=True):
    """How a cost grows with something."""

    name: str
    of: str
    unit: str
    points: list[Point]
    note: str = ""


class Results(Struct, kw_only=True):
    """All of one measurement."""

    kind: str
    began: str
    seconds: float = 0.0
    rounds: int
    python: str
    machine: str
    cores: int
    commit: str = ""
    whole: int | None = None  # rounds in which the neighbours had a turn; None: in all
    limits: list[dict[str, float]] = field(default_factory=list)
    fsyncs: dict[str, list[float]] = field(default_factory=dict)
    entries: dict[str, Entry] = field(default_factory=dict)
    bars: list[Bar] = field(default_factory=list)
    growth: list[Growth] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def met(self) -> bool:
        """Whether every bar was kept for which there was somebody to be held beside."""
        return all(bar.kept is not False for bar in self.bars)

    def figure(self, key: str, work: str, variant: str = "") -> Figure | None:
        entry = self.entries.get(key)
        return None if entry is None else entry.figure(work, variant)

    def having(self, work: str) -> Iterator[tuple[str, Variant, Figure]]:
        """Every contestant and variant that has a work."""
        for key, entry in self.entries.items():
            for variant, figure in entry.figures.get(work, {}).items():
                yield key, variant, figure


def encode(results: Results) -> bytes:
    """As JSON, with whether each bar was kept."""
    plain = msgspec.to_builtins(results)
    for row, bar in zip(plain["bars"], results.bars, strict=True):
        row["kept"] = bar.kept
    plain["met"] = results.met
    return msgspec.json.format(msgspec.json.encode(plain), indent=1)


def decode(text: bytes) -> Results:
    return msgspec.json.decode(text, type=Results)
