"""What many random runs came to: ends, counts, durations and the critical path, as plain values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct

from penstock.testing.chain import Link

NEVER_OK = "nothing is left to do and OK was never fired"
"""Why a run is stalled in which no step starves."""


class Outcome(Struct, frozen=True):
    """One run of a simulation, reduced to what is counted."""

    end: str
    seconds: float
    ended: bool
    firings: dict[str, int]
    ports: Counter[tuple[str, str | None]]
    starving: tuple[tuple[str, tuple[str, ...]], ...] = ()
    chain: tuple[Link, ...] = ()


class Share(Struct, frozen=True):
    """So many runs, and their part of all."""

    runs: int
    share: float


class Starved(Struct, frozen=True):
    """A step and the events that it missed."""

    step: str
    missing: tuple[str, ...]


class Stall(Struct, frozen=True):
    """Runs that got stuck in the same way."""

    starving: tuple[Starved, ...]
    runs: int

    def words(self) -> str:
        """Why they got stuck."""
        return (
            "; ".join(f"step '{each.step}' starves for {', '.join(each.missing)}" for each in self.starving)
            or NEVER_OK
        )


class StepCount(Struct, frozen=True):
    """How often a step fired in a run, its ports over all runs, and the share of runs in which it was critical."""

    least: int
    mean: float
    most: int
    ports: dict[str, int]
    critical: float


class Durations(Struct, frozen=True):
    """Seconds of virtual time of the runs that ended."""

    least: float
    mean: float
    p50: float
    p90: float
    p99: float
    most: float


class Stretch(Struct, frozen=True):
    """One step of the critical path and its mean share of the run's time."""

    step: str
    share: float


class CriticalPath(Struct, frozen=True):
    """The chain of steps that most often decided when a run ended."""

    steps: tuple[Stretch, ...]
    outside: float
    """The mean share of the time in which the run waited for an event from outside."""
    runs: int
    share: float


class Summary(Struct, frozen=True):
    """A simulation in numbers."""

    workflow: str
    runs: int
    seed: int
    ends: dict[str, Share]
    """`succeeded`, `failed`, …, `waiting`, `stalled`, `cut off` → how many."""
    stalls: tuple[Stall, ...]
    steps: dict[str, StepCount]
    seconds: Durations | None
    critical_path: CriticalPath | None

    def as_dict(self) -> dict[str, Any]:
        """The same in plain JSON."""
        plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(self))
        return plain


def summarise(workflow: str, seed: int, steps: Sequence[str], outcomes: Sequence[Outcome]) -> Summary:
    """Count what the runs came to."""
    runs = len(outcomes)
    ends = Counter(outcome.end for outcome in outcomes)
    stalls = Counter(outcome.starving for outcome in outcomes if outcome.end == "stalled")
    return Summary(
        workflow,
        runs,
        seed,
        {end: Share(number, _rounded(number / runs)) for end, number in ends.most_common()},
        tuple(
            Stall(tuple(Starved(*each) for each in starving), number)
            for starving, number in stalls.most_common()
        ),
        {step: _step_count(step, outcomes) for step in steps},
        _durations([outcome.seconds for outcome in outcomes if outcome.ended]),
        _critical_path([outcome for outcome in outcomes if outcome.chain]),
    )


def _step_count(step: str, outcomes: Sequence[Outcome]) -> StepCount:
    firings = [outcome.firings.get(step, 0) for outcome in outcomes]
    ports: Counter[str] = Counter()
    critical = 0
    for outcome in outcomes:
        for (name, port), number in outcome.ports.items():
            if name == step:
                ports[port or "none"] += number
        critical += any(link.step == step for link in outcome.chain)
    mean = _rounded(sum(firings) / len(firings))
    return StepCount(
        min(firings), mean, max(firings), dict(sorted(ports.items())), _rounded(critical / len(outcomes))
    )


def _durations(seconds: list[float]) -> Durations | None:
    if not seconds:
        return None
    ordered = sorted(seconds)

    def percentile(part: float) -> float:
        return _rounded(ordered[min(len(ordered) - 1, int(part * len(ordered)))])

    mean = _rounded(sum(ordered) / len(ordered))
    return Durations(
        _rounded(ordered[0]), mean, percentile(0.5), percentile(0.9), percentile(0.99), _rounded(ordered[-1])
    )


def _critical_path(outcomes: list[Outcome]) -> CriticalPath | None:
    """The commonest chain; a step that is on it several times counts once, with all its time."""
    if not outcomes:
        return None
    chains = Counter(_steps_of(outcome) for outcome in outcomes)
    chain, runs = chains.most_common(1)[0]
    shares = dict.fromkeys(chain, 0.0)
    for outcome in outcomes:
        if _steps_of(outcome) == chain and outcome.seconds:
            for link in outcome.chain:
                shares[link.step] += link.seconds / outcome.seconds / runs
    stretches = tuple(Stretch(step, _rounded(share)) for step, share in shares.items())
    outside = _rounded(max(0.0, 1 - sum(shares.values())))
    return CriticalPath(stretches, outside, runs, _rounded(runs / len(outcomes)))


def _steps_of(outcome: Outcome) -> tuple[str, ...]:
    return tuple(dict.fromkeys(link.step for link in outcome.chain))


def _rounded(number: float) -> float:
    return round(number, 6)
