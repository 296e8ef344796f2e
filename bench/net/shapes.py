"""Nets of any size: the same steps, slots and events for every contender, with the order in which they fire."""

from __future__ import annotations

from msgspec import Struct

from penstock.kernel.net import START, Exit, Net, Slot, Step

SIZES = (5, 50, 500)
ROUNDS = 2
"""How often a loop is walked before it is left."""


class Shape(Struct, frozen=True):
    """A net and one way through it: steps with the port on which each ends."""

    name: str
    net: Net
    order: tuple[tuple[str, str], ...]


def chain(size: int) -> Shape:
    """One step after the other."""
    names = _names(size)
    steps = [_step(name, [(before,)]) for name, before in zip(names, (START, *names), strict=False)]
    return _shape("chain", steps, [(name, "done") for name in names])


def fork_join(size: int) -> Shape:
    """One step, then all but two side by side, then one that waits for each of them."""
    first, *middle, last = _names(size)
    steps = [
        _step(first, [(START,)]),
        *(_step(name, [(first,)]) for name in middle),
        _step(last, [(name,) for name in middle]),
    ]
    return _shape("fork-join", steps, [(step.name, "done") for step in steps])


def loop(size: int) -> Shape:
    """A chain whose last step chooses: once more from the beginning, or out."""
    names = _names(size)
    again = f"{names[-1]}.again"
    steps = [_step(names[0], [(START, again)])]
    steps += [_step(name, [(before,)]) for name, before in zip(names[1:-1], names, strict=False)]
    last = Step(names[-1], (Slot((names[-2],)),), (Exit("again", (again,)), Exit("out", (names[-1],))))
    body = [(name, "done") for name in names[:-1]]
    walk = [*body, (names[-1], "again")] * (ROUNDS - 1) + [*body, (names[-1], "out")]
    return _shape("loop", [*steps, last], walk)


SHAPES = {"chain": chain, "fork-join": fork_join, "loop": loop}


def shape_of(name: str, size: int) -> Shape:
    return SHAPES[name](size)


def work_name(shape: str, size: int) -> str:
    return f"{shape} {size}"


def _names(size: int) -> list[str]:
    return [f"s{number}" for number in range(size)]


def _step(name: str, slots: list[tuple[str, ...]]) -> Step:
    return Step(name, tuple(Slot(events) for events in slots), (Exit("done", (name,)),))


def _shape(name: str, steps: list[Step], order: list[tuple[str, str]]) -> Shape:
    return Shape(name, Net(tuple(steps)), tuple(order))
