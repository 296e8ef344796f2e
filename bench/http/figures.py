"""What was promised about the service's speed, and what came out, as data."""

from __future__ import annotations

from statistics import mean

from msgspec import Struct

from bench.engine.figures import Figure
from bench.http.load import Heard

START_BAR = 0.20
CALL_BAR = 0.25
STEPS_BAR = 1 / 3
LIST_BAR = 100.0


class Beside(Struct, frozen=True):
    """What a call was answered, and answers a second of the bare framework around it."""

    call: Heard
    floor: float
    ratio: float


def beside(call: Heard, *bare: Heard) -> Beside:
    floor = mean(each.per_s for each in bare)
    return Beside(call, floor, call.per_s / floor)


def beside_figures(store: str, work: str, found: Beside, bar: float) -> list[Figure]:
    """A call beside the bare framework's hello-world."""
    return [
        Figure(
            store=store,
            work=work,
            value=found.call.per_s,
            unit="calls/s",
            floor=found.floor,
            ratio=found.ratio,
            bar=bar,
            judged="ratio",
            least=True,
        ),
        Figure(store=store, work=f"{work}: p95", value=found.call.at(0.95), unit="ms"),
    ]


def step_figures(store: str, here: float, far: float) -> list[Figure]:
    """Steps a second of one worker process over HTTP, beside those of one in the engine's process."""
    return [
        Figure(
            store=store,
            work="H2 steps of one remote worker",
            value=far,
            unit="steps/s",
            floor=here,
            ratio=far / here,
            bar=STEPS_BAR,
            judged="ratio",
            least=True,
        )
    ]


def list_figures(store: str, past: int, filters: dict[str, Heard]) -> list[Figure]:
    """The run list with so many runs, by filter: the slowest of twenty counts."""
    return [
        Figure(
            store=store,
            work=f"H4 list of {past:,}: {name or 'all'}: p95",
            value=heard.at(0.95),
            unit="ms",
            bar=LIST_BAR,
        )
        for name, heard in filters.items()
    ]
