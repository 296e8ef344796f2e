"""How large each node is, and where on its edges wires leave and arrive."""

from __future__ import annotations

from msgspec import Struct

from penstock.flow.drawings.diagram import Diagram, Node
from penstock.flow.drawings.text_width import width_of

TITLE, SMALL = 12.0, 11.0
ROW = 18.0
FIRST = 17.0
_MAX_WIDTH, _MIN_WIDTH = 236.0, 128.0
PILL, TALL_PILL = 20.0, 26.0
RING = 16.0


class Shape(Struct, frozen=True):
    """Size of a node, and the heights of its entries and ports below its top."""

    width: float
    height: float
    entries: tuple[float, ...]
    ports: tuple[float, ...]


def words_of(node: Node) -> list[str]:
    """What stands beside each entry of a step: "all 3" beside the first of several, "either", "2 of 3"."""
    words = [entry.word for entry in node.entries]
    if len(words) > 1:
        words[0] = f"all {len(words)}" + (f", {words[0]}" if words[0] else "")
    return words


def joins(node: Node) -> bool:
    """Whether the entries stand below the title, tied by a bar."""
    return len(node.entries) > 1 or any(entry.word for entry in node.entries)


def badge_width(badge: str) -> float:
    return width_of(badge, 10) + 10


def shapes_of(diagram: Diagram) -> dict[str, Shape]:
    return {node.id: _box(node) if node.kind == "step" else _pill(node) for node in diagram.nodes}


def _box(node: Node) -> Shape:
    joined = joins(node)
    first = FIRST + 2 * ROW + 2 if joined else FIRST
    entries = tuple(first + ROW * index for index in range(len(node.entries)))
    base = entries[(len(entries) - 1) // 2] if joined else FIRST
    ports = tuple(base + ROW * index for index in range(len(node.ports)))
    lowest = max((FIRST + ROW, *entries, *ports))
    height = lowest + 15 + (21 if node.badges else 0)
    return Shape(_box_width(node), height, entries, ports)


def _box_width(node: Node) -> float:
    labels = max((width_of(port.label, SMALL) + 12 for port in node.ports if port.label), default=0.0)
    lines = [
        width_of(node.text, TITLE, bold=True) + 44 + labels,
        width_of(node.note, SMALL) + 24 + labels,
        sum(badge_width(badge) + 4 for badge in node.badges) + 18,
        max((width_of(word, SMALL, bold=True) for word in words_of(node)), default=0.0) + 40 + labels,
    ]
    return float(round(min(max(*lines, _MIN_WIDTH), _MAX_WIDTH)))


def _pill(node: Node) -> Shape:
    small = node.kind == "event"
    height = PILL if small else TALL_PILL
    bold = node.kind in ("start", "end")
    width = (31 if node.kind in ("event", "start") else 34) + min(width_of(node.text, SMALL, bold), 200.0)
    if node.note:
        width += width_of(node.note, 10) + 8
    if node.unused:
        width += RING
    middle = height / 2
    return Shape(float(round(width)), height, (middle,) * len(node.entries), (middle,) * len(node.ports))
