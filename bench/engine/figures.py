"""What was promised about the engine's speed, and what came out, as data."""

from __future__ import annotations

from statistics import mean, median
from typing import Literal

from msgspec import Struct

from bench.engine.idle import Idle
from bench.floor.figures import Floor

CHAIN_BARS = {"sqlite": 0.25, "postgresql": 0.35}
FAN_BARS = {1_000: 0.5, 10_000: 8.0}
LATENCY_BAR = 2.5
CPU_BAR = 1.0
MEMORY_BAR = 90.0
PAST_BAR = 1.2

Judged = Literal["value", "ratio"]


class Figure(Struct, frozen=True, kw_only=True):
    """One measured value. The bar is a limit of the value or of the ratio; without one nothing was promised."""

    store: str
    work: str
    value: float
    unit: str
    floor: float | None = None
    ratio: float | None = None
    bar: float | None = None
    judged: Judged = "value"
    least: bool = False  # the bar is the least, not the most

    @property
    def met(self) -> bool | None:
        found = self.value if self.judged == "value" else self.ratio
        if self.bar is None or found is None:
            return None
        return found >= self.bar if self.least else found <= self.bar


class Saturated(Struct, frozen=True):
    """Runs a second of the engine, and of the floor before and after."""

    runs_per_s: float
    floors: tuple[Floor, Floor]

    @property
    def floor(self) -> float:
        return mean(each.runs_per_s for each in self.floors)

    @property
    def ratio(self) -> float:
        return self.runs_per_s / self.floor


def chain_figures(store: str, first: Saturated) -> list[Figure]:
    return [
        Figure(
            store=store,
            work="W1 chain of 3 at saturation",
            value=first.runs_per_s,
            unit="runs/s",
            floor=first.floor,
            ratio=first.ratio,
            bar=CHAIN_BARS[store],
            judged="ratio",
            least=True,
        )
    ]


def fan_figures(store: str, seconds: dict[int, float]) -> list[Figure]:
    return [
        Figure(store=store, work=f"W2 fan of {size:,}", value=each, unit="s", bar=FAN_BARS.get(size))
        for size, each in seconds.items()
    ]


def latency_figures(store: str, latency: tuple[float, ...], floors: tuple[Floor, Floor]) -> list[Figure]:
    floor, middle = mean(each.median for each in floors), median(latency)
    high = latency[min(len(latency) - 1, round(len(latency) * 0.95))]
    return [
        Figure(
            store=store,
            work="W3 one run, idle: median",
            value=middle,
            unit="ms",
            floor=floor,
            ratio=middle / floor,
            bar=LATENCY_BAR,
            judged="ratio",
        ),
        Figure(store=store, work="W3 one run, idle: p95", value=high, unit="ms"),
    ]


def idle_figures(store: str, idle: Idle) -> list[Figure]:
    made = [Figure(store=store, work="W4 launch to first run", value=idle.first_run, unit="s")]
    if idle.cpu is not None:
        made.append(Figure(store=store, work="W4 idle processor", value=idle.cpu, unit="%", bar=CPU_BAR))
    if idle.memory is not None:
        made.append(Figure(store=store, work="W4 idle memory", value=idle.memory, unit="MB", bar=MEMORY_BAR))
    return made


def past_figures(store: str, past: int, first: Saturated, then: Saturated, size: float) -> list[Figure]:
    """What a run costs beside the floor after so many, in times of what the first ones did."""
    return [
        Figure(
            store=store,
            work=f"W6 cost after {past:,} runs",
            value=then.runs_per_s,
            unit="runs/s",
            floor=then.floor,
            ratio=first.ratio / then.ratio,
            bar=PAST_BAR,
            judged="ratio",
        ),
        Figure(store=store, work="W6 a finished run on disk", value=size, unit="bytes"),
    ]
