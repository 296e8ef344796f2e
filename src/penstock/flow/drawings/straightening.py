"""The last touch on heights: wires that bend by a few pixels become straight where there is room."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from math import inf
from statistics import median_low

from penstock.flow.drawings.grid import Grid

_LITTLE = 11.0
_EXACT = 1e-6

AdjacentCells = dict[int, list[tuple[int, float]]]
"""Cell -> the cells above (gap negative) and below (gap positive), with the least distance of tops."""

Bend = tuple[float, int, int]
"""(what to add to the left top to get the right one, left cell, right cell)."""


def straighten(
    grid: Grid, order: Sequence[Sequence[int]], tops: list[float], gaps: Sequence[Sequence[float]]
) -> None:
    """Move whole straight stretches by less than a row, never closer to a neighbour than `gaps` allows."""
    stretch = list(range(len(grid.cells)))
    members = {index: [index] for index in stretch}
    beside = _adjacent(order, gaps)
    for offset, left, right in _bends(grid, tops):
        if stretch[left] == stretch[right]:
            continue
        drift = tops[left] - tops[right] + offset
        if abs(drift) > _LITTLE:
            continue
        for mover, by in ((stretch[right], drift), (stretch[left], -drift)):
            up, down = _room(members[mover], stretch, beside, tops)
            if up - _EXACT <= by <= down + _EXACT:
                for index in members[mover]:
                    tops[index] += by
                _unite(stretch, members, stretch[left], stretch[right])
                break
    _draw_in(grid, tops, stretch, members, beside)


def _draw_in(
    grid: Grid,
    tops: list[float],
    stretch: Sequence[int],
    members: dict[int, list[int]],
    beside: AdjacentCells,
) -> None:
    """Bring lines that run far outside, such as those of loops, as near to their ends as there is room."""
    wishes: dict[int, list[float]] = defaultdict(list)
    for line in grid.lines:
        for other in line.others:
            one, two = stretch[line.hub.cell], stretch[other.cell]
            way = tops[other.cell] + other.offset - tops[line.hub.cell] - line.hub.offset
            if one != two:
                wishes[one].append(way)
                wishes[two].append(-way)
    for mover, cells in members.items():
        if wishes[mover] and all(grid.cells[index].node is None for index in cells):
            up, down = _room(cells, stretch, beside, tops)
            by = max(up, min(down, median_low(wishes[mover])))
            for index in cells:
                tops[index] += by


def _bends(grid: Grid, tops: Sequence[float]) -> list[Bend]:
    """The wires that are straight or nearly so, straight ones first."""
    found = []
    for _, left, right in grid.spans():
        offset = left.offset - right.offset
        drift = tops[left.cell] - tops[right.cell] + offset
        if abs(drift) <= _LITTLE:
            found.append((drift, offset, left.cell, right.cell))
    return [(offset, left, right) for _, offset, left, right in sorted(found, key=lambda bend: abs(bend[0]))]


def _adjacent(order: Sequence[Sequence[int]], gaps: Sequence[Sequence[float]]) -> AdjacentCells:
    beside: AdjacentCells = defaultdict(list)
    for column, distances in zip(order, gaps, strict=True):
        for upper, lower, gap in zip(column, column[1:], distances, strict=False):
            beside[upper].append((lower, gap))
            beside[lower].append((upper, -gap))
    return beside


def _room(
    cells: Sequence[int], stretch: Sequence[int], beside: AdjacentCells, tops: Sequence[float]
) -> tuple[float, float]:
    """How far these cells can move together: up (not above 0) and down (not below 0)."""
    up, down = -inf, inf
    for index in cells:
        for other, gap in beside.get(index, ()):
            if stretch[other] != stretch[index]:
                room = tops[other] - tops[index] - gap
                up, down = (up, min(down, room)) if gap > 0 else (max(up, room), down)
    return min(up, 0.0), max(down, 0.0)


def _unite(stretch: list[int], members: dict[int, list[int]], one: int, two: int) -> None:
    for index in members[two]:
        stretch[index] = one
    members[one].extend(members.pop(two))
