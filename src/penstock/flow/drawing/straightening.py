"""The last touch on heights: wires that bend by a few pixels become straight where there is room."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from penstock.flow.drawing.grid import Grid

_LITTLE = 11.0

Bend = tuple[float, int, int]
"""(what to add to the left top to get the right one, left cell, right cell)."""


def straighten(
    grid: Grid, order: Sequence[Sequence[int]], tops: list[float], gaps: Sequence[Sequence[float]]
) -> None:
    """Move whole straight stretches by less than a row, never closer to a neighbour than `gaps` allows."""
    stretch = list(range(len(grid.cells)))
    members = {index: [index] for index in stretch}
    beside = _neighbours(order, gaps)
    for offset, left, right in _bends(grid, tops):
        if stretch[left] == stretch[right]:
            continue
        drift = tops[left] - tops[right] + offset
        if abs(drift) > _LITTLE:
            continue
        for mover, by in ((stretch[right], drift), (stretch[left], -drift)):
            if _free(members[mover], stretch, beside, tops, by):
                for index in members[mover]:
                    tops[index] += by
                _unite(stretch, members, stretch[left], stretch[right])
                break


def _bends(grid: Grid, tops: Sequence[float]) -> list[Bend]:
    """The wires that are straight or nearly so, straight ones first."""
    found = []
    for line in grid.lines:
        for other in line.others:
            if line.hub.left != other.left:
                left, right = (line.hub, other) if line.hub.left else (other, line.hub)
                offset = left.offset - right.offset
                drift = tops[left.cell] - tops[right.cell] + offset
                if abs(drift) <= _LITTLE:
                    found.append((drift, offset, left.cell, right.cell))
    return [(offset, left, right) for _, offset, left, right in sorted(found, key=lambda bend: abs(bend[0]))]


def _neighbours(
    order: Sequence[Sequence[int]], gaps: Sequence[Sequence[float]]
) -> dict[int, list[tuple[int, float]]]:
    """Cell -> the cells above (gap negative) and below (gap positive), with the least distance of tops."""
    beside: dict[int, list[tuple[int, float]]] = defaultdict(list)
    for column, distances in zip(order, gaps, strict=True):
        for upper, lower, gap in zip(column, column[1:], distances, strict=False):
            beside[upper].append((lower, gap))
            beside[lower].append((upper, -gap))
    return beside


def _free(
    cells: Sequence[int],
    stretch: Sequence[int],
    beside: dict[int, list[tuple[int, float]]],
    tops: list[float],
    by: float,
) -> bool:
    if not by:
        return True
    for index in cells:
        for other, gap in beside.get(index, ()):
            if stretch[other] != stretch[index]:
                room = tops[other] - tops[index] - gap
                if (gap > 0 and by > room + 1e-6) or (gap < 0 and by < room - 1e-6):
                    return False
    return True


def _unite(stretch: list[int], members: dict[int, list[int]], one: int, two: int) -> None:
    for index in members[two]:
        stretch[index] = one
    members[one].extend(members.pop(two))
