"""Where lines turn: each that is not straight gets a track in its channel, and no two lie on each other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from msgspec import Struct

from penstock.flow.drawings.grid import Grid, Line, Pin

TRACK = 12.0
_CLASH = 50
_NEAR = 5.0


class Turn(Struct):
    """A line within its channel: the heights of its pins at either side, and the track it turns on."""

    line: Line
    hub: float
    others: tuple[float, ...]
    lefts: tuple[float, ...]
    rights: tuple[float, ...]
    low: float
    high: float
    track: int = 0

    @property
    def straight(self) -> bool:
        return self.low == self.high


def turns_of(grid: Grid, tops: Sequence[float]) -> dict[int, list[Turn]]:
    """Channel -> its lines, with tracks counted from the left. Straight lines use none."""
    channels: dict[int, list[Turn]] = defaultdict(list)
    for line in grid.lines:
        channels[line.channel].append(_turn(line, tops))
    for turns in channels.values():
        _number([turn for turn in turns if not turn.straight])
    return channels


def _turn(line: Line, tops: Sequence[float]) -> Turn:
    def height(pin: Pin) -> float:
        return round(tops[pin.cell] + pin.offset, 1)

    heights = [height(pin) for pin in line.pins]
    return Turn(
        line,
        heights[0],
        tuple(heights[1:]),
        tuple(height(pin) for pin in line.pins if pin.left),
        tuple(height(pin) for pin in line.pins if not pin.left),
        min(heights),
        max(heights),
    )


def _number(turns: list[Turn]) -> None:
    """Give out tracks: first who must turn before whom, then as few tracks as that allows."""
    later: dict[int, dict[int, int]] = defaultdict(dict)
    for one in range(len(turns)):
        for two in range(one + 1, len(turns)):
            first, second = _cost(turns[one], turns[two]), _cost(turns[two], turns[one])
            if first < second:
                later[one][two] = second - first
            elif second < first:
                later[two][one] = first - second
    sequence = _sequence(len(turns), later)
    for spot, index in enumerate(sequence):
        turn = turns[index]
        before = [other for other in sequence[:spot] if index in later[other] or _overlap(turns[other], turn)]
        turn.track = max((turns[other].track for other in before), default=-1) + 1


def _cost(left: Turn, right: Turn) -> int:
    """Crossings where `left` turns on a track left of `right`; lying on each other counts as many."""
    crossings = sum(right.low < height < right.high for height in left.rights)
    crossings += sum(left.low < height < left.high for height in right.lefts)
    clashes = sum(abs(one - two) < _NEAR for one in left.rights for two in right.lefts)
    return crossings + _CLASH * clashes


def _overlap(one: Turn, two: Turn) -> bool:
    return one.low < two.high + _NEAR and two.low < one.high + _NEAR


def _sequence(count: int, later: dict[int, dict[int, int]]) -> list[int]:
    """An order that breaks little of `later`: next is always whoever has least owed before it."""
    owed = [0] * count
    for follow in later.values():
        for index, weight in follow.items():
            owed[index] += weight
    left = list(range(count))
    sequence = []
    while left:
        index = min(left, key=lambda candidate: (owed[candidate], candidate))
        left.remove(index)
        sequence.append(index)
        for other, weight in later.get(index, {}).items():
            owed[other] -= weight
    return sequence
