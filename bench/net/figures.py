"""What is measured, beside whom, and the bar: the promises about speed, as data."""

from __future__ import annotations

from msgspec import Struct

from bench.net.measure import Sample, ratio
from bench.net.runs import SCRIPTS, run_name
from bench.net.shapes import SHAPES, SIZES, work_name

OURS = "penstock"
KERNEL_BAR = 1 / 8
RUN_BARS = {"snakes": 1.0, "searching": None, "spiff": 2 / 3, "langgraph": 1 / 10, "plain": None}
GROWTH_BAR = 1.5
"""A step of 500 may cost this much of one of 5: room for caches, none for a cost that grows with the steps."""


class Figure(Struct, frozen=True):
    """One ratio with its bar. Without a rival's sample it could not be measured."""

    group: str
    work: str
    beside: str
    ours: Sample
    theirs: Sample | None
    ratio: float | None
    bar: float | None

    @property
    def met(self) -> bool | None:
        """None: nothing was promised, or nothing could be measured."""
        return None if self.ratio is None or self.bar is None else self.ratio <= self.bar


Samples = dict[str, dict[str, Sample]]
"""Work → contender → sample."""


def works() -> list[str]:
    """Everything that is measured, in order."""
    kernel = [f"fire {work_name(shape, size)}" for shape in SHAPES for size in SIZES]
    runs = [run_name(script) for script in SCRIPTS]
    return [
        *kernel,
        *runs,
        *(f"run {work_name(shape, size)}" for shape in ("chain", "fork-join") for size in SIZES),
    ]


def figures(samples: Samples) -> list[Figure]:
    """The ratios of one measurement."""
    made = [
        _beside("kernel", f"fire {work_name(shape, size)}", "snakes", KERNEL_BAR, samples)
        for shape in SHAPES
        for size in SIZES
    ]
    for script in SCRIPTS:
        name = run_name(script)
        made += [_beside("run", name, rival, bar, samples) for rival, bar in RUN_BARS.items()]
    for verb, shape in (("fire", "chain"), ("run", "chain"), ("run", "fork-join")):
        made.append(_growth(verb, shape, samples))
    return made


def _beside(group: str, work: str, rival: str, bar: float | None, samples: Samples) -> Figure:
    ours, theirs = samples[work][OURS], samples[work].get(rival)
    return Figure(group, work, rival, ours, theirs, None if theirs is None else ratio(ours, theirs), bar)


def _growth(verb: str, shape: str, samples: Samples) -> Figure:
    """A step of the largest beside a step of the smallest, by the best round: they are not measured together."""
    small, large = (f"{verb} {work_name(shape, size)}" for size in (SIZES[0], SIZES[-1]))
    ours, theirs = samples[large][OURS], samples[small][OURS]
    return Figure("growth", large, small, ours, theirs, ours.best / theirs.best, GROWTH_BAR)
