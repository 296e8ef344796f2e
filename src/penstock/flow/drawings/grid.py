"""The layered graph: cells in columns, and pins where each line crosses the channel between two columns."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping

from msgspec import Struct

from penstock.flow.drawings.diagram import Diagram, Wire
from penstock.flow.drawings.shapes import Shape


class Cell(Struct, eq=False):
    """A node in its column, or (`node` None) a place where a line runs through a column."""

    index: int
    rank: int
    node: str | None
    shape: Shape
    backward: bool = False
    low: bool = False  # belongs to the failures, which run below everything else


class Pin(Struct, frozen=True):
    """Where a line touches a channel: a cell on its left or right side, `offset` below the cell's top."""

    cell: int
    offset: float
    left: bool  # the cell stands left of the channel


class Line(Struct, frozen=True):
    """All of one group within one channel: a tree between `hub` and `others`."""

    group: str
    failure: bool
    channel: int  # between the columns `channel` and `channel + 1`
    hub: Pin
    others: tuple[Pin, ...]

    @property
    def pins(self) -> tuple[Pin, ...]:
        return (self.hub, *self.others)


class Grid(Struct, frozen=True):
    """Columns of cells from left to right, and the lines between them."""

    cells: tuple[Cell, ...]
    columns: tuple[tuple[int, ...], ...]
    lines: tuple[Line, ...]

    def spans(self) -> Iterator[tuple[Line, Pin, Pin]]:
        """Each line that crosses its channel, with the pins at its left and right, for each of its ends."""
        for line in self.lines:
            for other in line.others:
                if line.hub.left != other.left:
                    yield (line, line.hub, other) if line.hub.left else (line, other, line.hub)


_POINT = Shape(0.0, 0.0, (0.0,), (0.0,))


class _Weaver:
    """Collects cells and pins while wires are led through the columns."""

    def __init__(self, shapes: Mapping[str, Shape], ranks: Mapping[str, int], low: Collection[str]) -> None:
        self.shapes, self.ranks, self.low = shapes, ranks, low
        self.cells: list[Cell] = []
        self.of_node: dict[str, int] = {}
        self.passing: dict[tuple[str, bool, int], int] = {}
        self.ties: dict[tuple[str, int], dict[tuple[Pin, Pin], None]] = defaultdict(dict)
        self.failing: dict[str, bool] = {}
        for name, shape in shapes.items():
            self.of_node[name] = self.add(Cell(len(self.cells), ranks[name], name, shape, False, name in low))

    def add(self, cell: Cell) -> int:
        self.cells.append(cell)
        return cell.index

    def point(self, wire: Wire, backward: bool, rank: int) -> int:
        """The cell where this group runs through a column: one for all its wires, so that they merge."""
        key = (wire.group, backward, rank)
        if key not in self.passing:
            low = wire.target in self.low
            self.passing[key] = self.add(Cell(len(self.cells), rank, None, _POINT, backward, low))
        return self.passing[key]

    def lead(self, wire: Wire, backward: bool) -> None:
        first, last = self.ranks[wire.source], self.ranks[wire.target]
        self.failing[wire.group] = wire.failure
        between = range(first, last - 1, -1) if backward else range(first + 1, last)
        cells = [self.point(wire, backward, rank) for rank in between]
        source, target = self.of_node[wire.source], self.of_node[wire.target]
        out = Pin(source, self.shapes[wire.source].ports[wire.port], True)
        into = Pin(target, self.shapes[wire.target].entries[wire.entry], False)
        channels = range(first, last - 2, -1) if backward else range(first, last)
        starts = [out, *(Pin(cell, 0.0, not backward) for cell in cells)]
        ends = [*(Pin(cell, 0.0, backward) for cell in cells), into]
        for channel, start, end in zip(channels, starts, ends, strict=True):
            self.ties[wire.group, channel][start, end] = None


def grid_of(
    diagram: Diagram, shapes: Mapping[str, Shape], ranks: Mapping[str, int], back: Collection[int]
) -> Grid:
    """Lead every wire through every column it passes."""
    weaver = _Weaver(shapes, ranks, _low(diagram, back))
    for index, wire in enumerate(diagram.wires):
        weaver.lead(wire, index in back)
    columns: list[list[int]] = [[] for _ in range(max(ranks.values(), default=0) + 1)]
    for cell in weaver.cells:
        columns[cell.rank].append(cell.index)
    ties = weaver.ties.items()
    lines = [_line(group, weaver.failing[group], channel, list(each)) for (group, channel), each in ties]
    return Grid(tuple(weaver.cells), tuple(map(tuple, columns)), tuple(lines))


def _line(group: str, failure: bool, channel: int, ties: list[tuple[Pin, Pin]]) -> Line:
    starts = dict.fromkeys(start for start, _ in ties)
    ends = dict.fromkeys(end for _, end in ties)
    if len(starts) == 1:
        return Line(group, failure, channel, next(iter(starts)), tuple(ends))
    return Line(group, failure, channel, next(iter(ends)), tuple(starts))


def _low(diagram: Diagram, back: Collection[int]) -> set[str]:
    """The nodes that only a failure leads to, directly or through others."""
    forward = [wire for index, wire in enumerate(diagram.wires) if index not in back]
    entering: dict[str, list[Wire]] = defaultdict(list)
    for wire in forward:
        entering[wire.target].append(wire)
    low: set[str] = set()
    found = True
    while found:
        fresh = {
            name
            for name, wires in entering.items()
            if name not in low and all(wire.failure or wire.source in low for wire in wires)
        }
        low |= fresh
        found = bool(fresh)
    return low
