"""Heights: each cell as near as its column allows to where its wires run straight."""

from __future__ import annotations

from bisect import insort
from collections import defaultdict
from collections.abc import Sequence
from itertools import accumulate, pairwise
from math import inf

from penstock.flow.drawings.grid import Cell, Grid, Line
from penstock.flow.drawings.shapes import PILL
from penstock.flow.drawings.straightening import straighten

_ROUNDS = 7
_STILL = 0.001
_PUSHES = 40
_SMALL_STEP = 26.0  # half of it to either side would be two ugly little bends instead of one

Pull = tuple[int, float, float]
"""(neighbour, how far the own top must lie below the neighbour's for a straight wire, how strongly)."""
Pulls = dict[int, list[Pull]]
Point = tuple[float, float]


def heights_of(grid: Grid, order: Sequence[Sequence[int]]) -> list[float]:
    """The top of every cell, the highest at 0. Cells never overlap; failures stay below the rest."""
    low = [cell.low for cell in grid.cells]
    tops = [0.0] * len(grid.cells)
    main = [_Column(grid, [index for index in column if not low[index]]) for column in order]
    for column in main:
        for index, offset in zip(column.cells, column.offsets, strict=True):
            tops[index] = offset - column.offsets[-1] / 2
    before, after = _pulls(grid, [not flag for flag in low])
    _rounds(main, before, after, tops)
    floors = [_floor(grid, column.cells, tops) for column in main]
    below = [
        _Column(grid, [index for index in column if low[index]], floor)
        for column, floor in zip(order, floors, strict=True)
    ]
    _sink(grid, below, tops)
    before, after = _pulls(grid, [True] * len(low))
    _rounds(below, before, after, tops)
    straighten(grid, order, tops, [_gaps(grid, column) for column in order])
    highest = min(tops, default=0.0)
    return [round(top - highest, 1) for top in tops]


class _Column:
    """Cells from top to bottom, the least distance of each from the first, and the least top of the first."""

    def __init__(self, grid: Grid, cells: Sequence[int], floor: float = -inf) -> None:
        self.cells, self.floor = cells, floor
        self.offsets = list(accumulate(_gaps(grid, cells), initial=0.0))[: len(cells)]


def _rounds(columns: Sequence[_Column], before: Pulls, after: Pulls, tops: list[float]) -> None:
    """Let every column settle in turn, looking left, then right, at last to both sides."""
    cells = [index for column in columns for index in column.cells]
    both = {index: before.get(index, []) + after.get(index, []) for index in cells}
    for number in range(_ROUNDS):
        forward = number % 2 == 0
        pulls = both if number >= _ROUNDS - 3 else before if forward else after
        for column in columns if forward else reversed(columns):
            _settle(column, pulls, tops)


def _floor(grid: Grid, cells: Sequence[int], tops: list[float]) -> float:
    if not cells:
        return -inf
    last = grid.cells[cells[-1]]
    return tops[last.index] + last.shape.height + (26.0 if last.node else 16.0)


def _sink(grid: Grid, columns: Sequence[_Column], tops: list[float]) -> None:
    """Lay each line of the failures level, below all that it passes."""
    for column in columns:
        for index in column.cells:
            tops[index] = -inf
    chain = {
        pin.cell: line.group for line in grid.lines for pin in line.pins if grid.cells[pin.cell].node is None
    }
    level: dict[str, float] = {}
    base = min((column.floor for column in columns if column.floor > -inf), default=0.0)
    for _ in range(_PUSHES):
        moved = False
        for column in columns:
            lowest = max(column.floor, base)
            steps = [after - here for here, after in zip(column.offsets, column.offsets[1:], strict=False)]
            for index, step in zip(column.cells, [*steps, 0.0], strict=False):
                name = chain.get(index, "")
                top = max(lowest, level.get(name, -inf)) if name else lowest
                moved = moved or top != tops[index]
                tops[index] = top
                if name:
                    level[name] = top
                lowest = top + step
        if not moved:
            return


def _pulls(grid: Grid, counts: Sequence[bool]) -> tuple[Pulls, Pulls]:
    """What draws each cell from its left and from its right; only cells that count draw others."""
    before: Pulls = defaultdict(list)
    after: Pulls = defaultdict(list)
    for line, left, right in grid.spans():
        weight = _weight(line, grid.cells[left.cell], grid.cells[right.cell])
        if counts[left.cell]:
            before[right.cell].append((left.cell, left.offset - right.offset, weight))
        if counts[right.cell]:
            after[left.cell].append((right.cell, right.offset - left.offset, weight))
    return before, after


def _weight(line: Line, left: Cell, right: Cell) -> float:
    points = (left.node is None) + (right.node is None)
    named = 1.5 if right.shape.height == PILL else 1.0  # a name stands straight behind who fires it
    # A fork bends where it forks, not before.
    shared = 1.0 if len(line.others) == 1 else 0.95 / len(line.others)
    return (1.0, 2.0, 8.0)[points] * named * shared * (0.25 if line.failure and points < 2 else 1.0)


def _gaps(grid: Grid, column: Sequence[int]) -> list[float]:
    """From each cell's top to the least top of the next one."""
    cells = [grid.cells[index] for index in column]
    return [upper.shape.height + _space(upper, lower) for upper, lower in pairwise(cells)]


def _space(upper: Cell, lower: Cell) -> float:
    if upper.node is None and lower.node is None:
        return 11.0
    if upper.node is None or lower.node is None:
        return 16.0
    return 14.0 if max(upper.shape.height, lower.shape.height) < 30 else 26.0


def _settle(column: _Column, pulls: Pulls, tops: list[float]) -> None:
    """Put every cell of one column where the sum of its bends is least (isotonic regression by medians)."""
    blocks: list[tuple[float, list[Point], int]] = []
    for index, offset in zip(column.cells, column.offsets, strict=True):
        pulled = pulls.get(index, ())
        points = sorted((tops[other] + shift - offset, weight) for other, shift, weight in pulled)
        points = points or [(tops[index] - offset, _STILL)]
        size, level = 1, _median(points)
        while blocks and blocks[-1][0] > level:
            _, above, count = blocks.pop()
            for point in above:
                insort(points, point)
            size, level = size + count, _median(points)
        blocks.append((level, points, size))
    levels = [max(level, column.floor) for level, _, size in blocks for _ in range(size)]
    for index, offset, level in zip(column.cells, column.offsets, levels, strict=True):
        tops[index] = level + offset


def _median(points: Sequence[Point]) -> float:
    """The weighted median; between two middle points far apart their mean, else the upper one."""
    half, seen, row = sum(weight for _, weight in points) / 2, 0.0, -1
    while seen < half - 1e-9:
        row += 1
        seen += points[row][1]
    value = points[row][0]
    if seen > half + 1e-9:
        return value
    following = points[row + 1][0]
    return value if following - value < _SMALL_STEP else (value + following) / 2
