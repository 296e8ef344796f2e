"""The order of cells within each column, with few crossings: barycentre sweeps, exchanges of neighbours."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import defaultdict

from penstock.flow.drawings.grid import Grid, Pin

_SWEEPS = 14
_EXCHANGES = 6
_WORK = 30_000  # cells looked at in all sweeps: a net of thousands of wires must not take minutes

Links = dict[int, list[tuple[int, float, float]]]
"""Cell -> (neighbour, where on the neighbour, where on the cell), both between 0 and 1."""


def order_of(grid: Grid) -> list[list[int]]:
    """Each column from top to bottom; the best order met in a fixed number of sweeps."""
    before, after, beside = _links(grid)
    columns = _first_order(grid, after)
    low = [cell.low for cell in grid.cells]
    for column in columns:
        column.sort(key=low.__getitem__)
    best, fewest = [list(column) for column in columns], _crossings(columns, after)
    for sweep in range(max(2, min(_SWEEPS, _WORK // (len(grid.cells) + 1)))):
        forward = sweep % 2 == 0
        _sweep(columns, before if forward else after, beside, forward, low)
        _exchange(columns, before, after, low)
        count = _crossings(columns, after)
        if count < fewest:
            best, fewest = [list(column) for column in columns], count
    return best


def _links(grid: Grid) -> tuple[Links, Links, Links]:
    """What each cell touches in the column before it, after it, and in its own."""
    before: Links = defaultdict(list)
    after: Links = defaultdict(list)
    beside: Links = defaultdict(list)
    for line in grid.lines:
        for other in line.others:
            hub_at, other_at = _fraction(grid, line.hub), _fraction(grid, other)
            left, right = (line.hub, other) if line.hub.left else (other, line.hub)
            left_at, right_at = (hub_at, other_at) if line.hub.left else (other_at, hub_at)
            if line.hub.left == other.left:
                beside[left.cell].append((right.cell, right_at, left_at))
                beside[right.cell].append((left.cell, left_at, right_at))
            else:
                after[left.cell].append((right.cell, right_at, left_at))
                before[right.cell].append((left.cell, left_at, right_at))
    return before, after, beside


def _fraction(grid: Grid, pin: Pin) -> float:
    height = grid.cells[pin.cell].shape.height
    return pin.offset / height if height else 0.5


def _first_order(grid: Grid, after: Links) -> list[list[int]]:
    """Cells as a walk from the beginnings meets them: branches stay together."""
    columns: list[list[int]] = [[] for _ in grid.columns]
    seen: set[int] = set()
    for root in (index for column in grid.columns for index in column):
        stack = [root]
        while stack:
            index = stack.pop()
            if index not in seen:
                seen.add(index)
                columns[grid.cells[index].rank].append(index)
                follow = sorted(after.get(index, []), key=lambda link: link[2])
                stack.extend(link[0] for link in reversed(follow))
    return columns


def _sweep(columns: list[list[int]], links: Links, beside: Links, forward: bool, low: list[bool]) -> None:
    place = {cell: float(row) for column in columns for row, cell in enumerate(column)}
    for column in columns if forward else reversed(columns):
        wish = {cell: (low[cell], _desired_position(cell, links, beside, place)) for cell in column}
        column.sort(key=wish.__getitem__)
        place.update((cell, float(row)) for row, cell in enumerate(column))


def _desired_position(cell: int, links: Links, beside: Links, place: dict[int, float]) -> float:
    near = links.get(cell)
    if near:
        return sum(place[other] + at for other, at, _ in near) / len(near)
    level = beside.get(cell)
    return sum(place[other] + 0.5 for other, _, _ in level) / len(level) if level else place[cell]


def _exchange(columns: list[list[int]], before: Links, after: Links, low: list[bool]) -> None:
    """Swap neighbours as long as that removes crossings; only where something moved is looked at again."""
    place = {cell: float(row) for column in columns for row, cell in enumerate(column)}
    due = set(range(len(columns)))
    for _ in range(_EXCHANGES):
        moved = [rank for rank in sorted(due) if _exchange_in(columns[rank], before, after, place, low)]
        due = {near for rank in moved for near in (rank - 1, rank, rank + 1) if 0 <= near < len(columns)}


def _exchange_in(
    column: list[int], before: Links, after: Links, place: dict[int, float], low: list[bool]
) -> bool:
    moved = False
    for row in range(len(column) - 1):
        upper, lower = column[row], column[row + 1]
        if low[upper] != low[lower]:
            continue
        if _excess(upper, lower, before, place) + _excess(upper, lower, after, place) > 0:
            column[row], column[row + 1] = lower, upper
            place[upper], place[lower] = place[lower], place[upper]
            moved = True
    return moved


def _excess(upper: int, lower: int, links: Links, place: dict[int, float]) -> int:
    """How many crossings fewer there would be with `lower` above `upper`."""
    mine, theirs = links.get(upper), links.get(lower)
    if not mine or not theirs:
        return 0
    if len(mine) == len(theirs) == 1:
        one, two = place[mine[0][0]] + mine[0][1], place[theirs[0][0]] + theirs[0][1]
        return (one > two) - (one < two)
    spots = sorted(place[other] + at for other, at, _ in mine)
    excess = 0
    for other, at, _ in theirs:
        spot = place[other] + at
        excess += len(spots) - bisect_right(spots, spot) - bisect_left(spots, spot)
    return excess


def _crossings(columns: list[list[int]], after: Links) -> int:
    place = {cell: float(row) for column in columns for row, cell in enumerate(column)}
    total = 0
    for column in columns:
        ends = [
            (place[cell] + own, place[other] + at)
            for cell in column
            for other, at, own in after.get(cell, ())
        ]
        met: list[float] = []
        for _, end in sorted(ends):
            total += len(met) - bisect_right(met, end)
            insort(met, end)
    return total
