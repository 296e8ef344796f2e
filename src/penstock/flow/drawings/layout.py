"""Coordinates for a whole diagram, left to right in layers (after Sugiyama), with right-angled wires."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from msgspec import Struct, field

from penstock.flow.drawings.cell_positions import heights_of
from penstock.flow.drawings.diagram import Diagram
from penstock.flow.drawings.grid import Grid, Pin, grid_of
from penstock.flow.drawings.ordering import order_of
from penstock.flow.drawings.ranks import backward, ranks_of
from penstock.flow.drawings.routing import TRACK, Turn, turns_of
from penstock.flow.drawings.shapes import Shape, shapes_of

_MARGIN = 14.0
_NARROW = 22.0
RADIUS = 6.0

_SIDES = {"end": 0.0, "start": 1.0, "outside": 1.0, "missing": 1.0}
"""Pills stand at that side of their column which is nearer to their wire; others in its middle."""

Point = tuple[float, float]


class Spot(Struct, frozen=True):
    """Where a node stands: its left upper corner, and its shape."""

    x: float
    y: float
    shape: Shape

    @property
    def right(self) -> float:
        return self.x + self.shape.width

    @property
    def bottom(self) -> float:
        return self.y + self.shape.height


class Route(Struct, frozen=True):
    """The line of one group: right-angled strokes, and the middles of the stretches that run backwards."""

    group: str
    failure: bool
    strokes: tuple[tuple[Point, ...], ...]
    backward: tuple[Point, ...]


class Layout(Struct, frozen=True):
    """Every node's spot and every group's route, within a rectangle from (0, 0)."""

    width: float
    height: float
    spots: dict[str, Spot]
    routes: tuple[Route, ...]


def layout_of(diagram: Diagram) -> Layout:
    """The same diagram always gets the same places; boxes, pills and parallel wires do not overlap."""
    if not diagram.nodes:
        return Layout(0.0, 0.0, {}, ())
    shapes = shapes_of(diagram)
    back = backward([node.id for node in diagram.nodes], diagram.wires)
    ranks = ranks_of(diagram, back)
    shapes = _even(diagram, shapes, ranks)
    grid = grid_of(diagram, shapes, ranks, back)
    tops = heights_of(grid, order_of(grid))
    turns = turns_of(grid, tops)
    lefts, widths, total = _columns(grid, turns)
    kinds = {node.id: node.kind for node in diagram.nodes}
    spots = {}
    for cell in grid.cells:
        if cell.node is not None:
            room = widths[cell.rank] - cell.shape.width
            x = lefts[cell.rank] + room * _SIDES.get(kinds[cell.node], 0.5)
            spots[cell.node] = Spot(round(x, 1), tops[cell.index], cell.shape)
    routes = _routes(_Pen(grid, tops, turns, lefts, widths, spots))
    bottom = max([spot.bottom for spot in spots.values()] + [top + 8 for top in tops])
    return Layout(total, bottom, spots, routes)


def _even(diagram: Diagram, shapes: dict[str, Shape], ranks: dict[str, int]) -> dict[str, Shape]:
    """Boxes of a column are equally wide, as in a drawing made by hand."""
    widest: dict[int, float] = defaultdict(float)
    steps = {node.id for node in diagram.nodes if node.kind == "step"}
    for name in steps:
        widest[ranks[name]] = max(widest[ranks[name]], shapes[name].width)
    return {
        name: Shape(widest[ranks[name]], shape.height, shape.entries, shape.ports) if name in steps else shape
        for name, shape in shapes.items()
    }


def _columns(grid: Grid, turns: dict[int, list[Turn]]) -> tuple[list[float], list[float], float]:
    """The left edge and the width of each column, and the width of all with the channels around them."""
    widths = [
        max((grid.cells[index].shape.width for index in column), default=0.0) for column in grid.columns
    ]
    lefts = []
    x = _channel(turns.get(-1, ()))
    for rank, width in enumerate(widths):
        lefts.append(x)
        x += width + _channel(turns.get(rank, ()), last=rank == len(widths) - 1)
    return lefts, widths, x


def _channel(turns: Sequence[Turn], last: bool = True) -> float:
    tracks = 1 + max((turn.track for turn in turns if not turn.straight), default=-1)
    if not tracks:
        return 0.0 if last else _NARROW
    return max(_NARROW, 2 * _MARGIN + TRACK * (tracks - 1))


class _Pen(Struct):
    """Knows where pins and tracks are, and collects strokes by group."""

    grid: Grid
    tops: Sequence[float]
    turns: dict[int, list[Turn]]
    lefts: list[float]
    widths: list[float]
    spots: dict[str, Spot]
    strokes: dict[str, list[tuple[Point, ...]]] = field(default_factory=lambda: defaultdict(list))
    backward: dict[str, list[Point]] = field(default_factory=lambda: defaultdict(list))

    def point(self, pin: Pin) -> Point:
        cell = self.grid.cells[pin.cell]
        height = round(self.tops[pin.cell] + pin.offset, 1)
        if cell.node is None:
            left = self.lefts[cell.rank]
            return (left + self.widths[cell.rank] if pin.left else left, height)
        spot = self.spots[cell.node]
        return (spot.right if pin.left else spot.x, height)

    def track(self, turn: Turn) -> float:
        channel = turn.line.channel
        turns = self.turns[channel]
        count = 1 + max((other.track for other in turns if not other.straight), default=0)
        start = self.lefts[channel] + self.widths[channel] if channel >= 0 else 0.0
        last = channel == len(self.lefts) - 1
        room = _channel(turns, last) - TRACK * (count - 1)
        return start + room / 2 + TRACK * turn.track

    def turn(self, turn: Turn) -> None:
        """Draw a line in its channel: far pins first, nearer ones branch off, nothing is drawn twice."""
        hub, x = self.point(turn.line.hub), self.track(turn)
        strokes = self.strokes[turn.line.group]
        others = [self.point(pin) for pin in turn.line.others]
        begin: Point = hub
        for other in others:
            if other[1] == hub[1]:
                strokes.append((hub, other))
                begin = (x - RADIUS if hub[0] < x else x + RADIUS, hub[1])
        for side in (-1, 1):
            on_side = (point for point in others if (point[1] - hub[1]) * side > 0)
            far = sorted(on_side, key=lambda point: (-abs(point[1] - hub[1]), point))
            for row, other in enumerate(far):
                if row == 0:
                    strokes.append((begin, (x, hub[1]), (x, other[1]), other))
                    begin = (x - RADIUS if hub[0] < x else x + RADIUS, hub[1])
                else:
                    bend = min(RADIUS, abs(other[1] - hub[1]))
                    strokes.append(((x, other[1] - side * bend), (x, other[1]), other))

    def passes(self) -> None:
        """Draw the stretches that run through columns."""
        groups = {pin.cell: line.group for line in self.grid.lines for pin in line.pins}
        for cell in self.grid.cells:
            if cell.node is None:
                left, width, y = self.lefts[cell.rank], self.widths[cell.rank], self.tops[cell.index]
                self.strokes[groups[cell.index]].append(((left, y), (left + width, y)))
                if cell.backward:
                    self.backward[groups[cell.index]].append((left + width / 2, y))


def _routes(pen: _Pen) -> tuple[Route, ...]:
    pen.passes()
    for channel in sorted(pen.turns):
        for turn in pen.turns[channel]:
            pen.turn(turn)
    failing = {line.group: line.failure for line in pen.grid.lines}
    return tuple(
        Route(group, failing[group], tuple(strokes), tuple(pen.backward.get(group, ())))
        for group, strokes in pen.strokes.items()
    )
