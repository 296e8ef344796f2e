"""The diagram as one SVG file that stands alone: no script, no font, no address."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import hypot

from penstock.flow.drawings.diagram import Diagram, Marking, Node
from penstock.flow.drawings.layout import RADIUS, Layout, Point, Route, layout_of
from penstock.flow.drawings.nodes import draw_node, number, xml
from penstock.flow.drawings.style import STYLE
from penstock.flow.drawings.text_width import wrap

_EDGE = 28.0
_LEAST = 420.0
_NEAR = 4.0
_LINE = 720.0


def to_svg(diagram: Diagram, marking: Marking | None = None) -> str:
    """A picture of the diagram; with a marking, slots that hold events are filled and counted."""
    layout = layout_of(diagram)
    width = max(layout.width + 2 * _EDGE, _LEAST)
    lines = wrap(diagram.description, 12, min(width - 2 * _EDGE, _LINE), 3)
    head = 52.0 + 17 * len(lines)
    height = head + layout.height + _EDGE
    size = f'width="{number(width)}" height="{number(height)}" viewBox="0 0 {number(width)} {number(height)}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="penstock" {size} role="img">',
        f"<title>{xml(diagram.title)}</title>",
        *([f"<desc>{xml(diagram.description)}</desc>"] if diagram.description else []),
        f"<style>{STYLE}</style>",
        '<defs><pattern id="grid" width="16" height="16" patternUnits="userSpaceOnUse">'
        '<circle class="g" cx="8" cy="8" r=".8"/></pattern>'
        '<pattern id="hatch" width="7" height="7" patternUnits="userSpaceOnUse" '
        'patternTransform="rotate(45)">'
        '<path class="hatch" d="M0 0V7"/></pattern></defs>',
        '<rect class="bg" width="100%" height="100%"/><rect fill="url(#grid)" width="100%" height="100%"/>',
        f'<text class="h" x="{number(_EDGE)}" y="34">{xml(diagram.title)}</text>',
        *(
            f'<text class="d" x="{number(_EDGE)}" y="{number(54.0 + 17 * row)}">{xml(line)}</text>'
            for row, line in enumerate(lines)
        ),
        f'<g transform="translate({number((width - layout.width) / 2)} {number(head)})">',
        *_drawing(diagram, layout, marking or {}),
        "</g>",
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _drawing(diagram: Diagram, layout: Layout, marking: Marking) -> Iterator[str]:
    for source, target in diagram.cancels:
        yield _cancel(layout, source, target)
    for route in sorted(layout.routes, key=lambda route: (not route.failure, route.group)):
        yield _wire(route)
    yield from _bridges(layout.routes)
    for node in diagram.nodes:
        yield from draw_node(node, layout.spots[node.id], _held(node, marking))


def _held(node: Node, marking: Marking) -> list[int]:
    return [
        marking.get((node.name, slot), 0) if node.kind == "step" else 0 for slot in range(len(node.entries))
    ]


def _wire(route: Route) -> str:
    path = " ".join(_rounded(stroke) for stroke in route.strokes)
    failed = " f" if route.failure else ""
    arrows = " ".join(f"M{number(x + 3)} {number(y - 4)}l-5 4 5 4" for x, y in route.backward)
    back = f'<path class="a{failed}" d="{arrows}"/>' if arrows else ""
    return f'<path class="w{failed}" d="{path}"/>{back}'


def _bridges(routes: Sequence[Route]) -> Iterator[str]:
    """Where two lines cross, the upright one passes over the level one, so that a crossing is no junction."""
    levels, uprights = [], []
    for route in routes:
        for stroke in route.strokes:
            for (x1, y1), (x2, y2) in pairwise(stroke):
                if x1 == x2:
                    uprights.append((x1, min(y1, y2), max(y1, y2), route.group, route.failure))
                else:
                    levels.append((y1, min(x1, x2), max(x1, x2)))
    uprights.sort()
    corners = {(route.group, *point) for route in routes for stroke in route.strokes for point in stroke}
    for y, left, right in levels:
        crossed = uprights[bisect(uprights, (left + _NEAR,)) : bisect(uprights, (right - _NEAR,))]
        for x, top, bottom, group, failure in crossed:
            # At a corner they merge.
            if top + _NEAR < y < bottom - _NEAR and (group, x, y) not in corners:
                path = f"M{number(x)} {number(y - _NEAR)}v{number(2 * _NEAR)}"
                yield f'<path class="halo" d="{path}"/><path class="w{" f" if failure else ""}" d="{path}"/>'


def _rounded(stroke: Sequence[Point]) -> str:
    """A right-angled stroke with round corners."""
    path = [f"M{number(stroke[0][0])} {number(stroke[0][1])}"]
    for before, corner, after in zip(stroke, stroke[1:], stroke[2:], strict=False):
        room = min(RADIUS, hypot(corner[0] - before[0], corner[1] - before[1]))
        ahead = hypot(after[0] - corner[0], after[1] - corner[1])
        room = min(room, ahead / (1 if after == stroke[-1] else 2))
        start, end = _toward(corner, before, room), _toward(corner, after, room)
        path.append(f"L{number(start[0])} {number(start[1])}")
        path.append(f"Q{number(corner[0])} {number(corner[1])} {number(end[0])} {number(end[1])}")
    path.append(f"L{number(stroke[-1][0])} {number(stroke[-1][1])}")
    return "".join(path)


def _toward(corner: Point, other: Point, room: float) -> Point:
    length = hypot(other[0] - corner[0], other[1] - corner[1])
    part = room / length if length else 0.0
    return (corner[0] + (other[0] - corner[0]) * part, corner[1] + (other[1] - corner[1]) * part)


def _cancel(layout: Layout, source: str, target: str) -> str:
    """A dotted curve from a step to one that it withdraws, ending in a small cross."""
    one, two = layout.spots[source], layout.spots[target]
    down = two.y >= one.bottom
    x1, y1 = one.x + one.shape.width * 0.75, one.bottom if down or one.y == two.y else one.y
    x2, y2 = two.x + two.shape.width * 0.75, two.y - 4 if down else two.bottom + 4
    bend = max(24.0, abs(y2 - y1) / 2) * (1 if down else -1)
    if one.y == two.y:
        bend = 28.0
        return _curve(x1, y1, x2, y2, bend, bend)
    return _curve(x1, y1, x2, y2, bend, -bend)


def _curve(x1: float, y1: float, x2: float, y2: float, out: float, into: float) -> str:
    spots = [(x1, y1), (x1, y1 + out), (x2, y2 + into), (x2, y2)]
    start, *rest = (f"{number(x)} {number(y)}" for x, y in spots)
    points = f"M{start}C{' '.join(rest)}"
    cross = f"M{number(x2 - 3)} {number(y2 - 3)}l6 6m0-6l-6 6"
    return f'<path class="c" d="{points}"/><path class="cx" d="{cross}"/>'
