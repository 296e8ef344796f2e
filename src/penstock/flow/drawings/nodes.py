"""Boxes and pills as SVG."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from xml.sax.saxutils import escape

from penstock.flow.drawings import icons
from penstock.flow.drawings.diagram import Entry, Node
from penstock.flow.drawings.layout import Spot
from penstock.flow.drawings.shapes import FIRST, RING, ROW, SMALL, TITLE, badge_width, joins, words_of
from penstock.flow.drawings.text_width import shorten, width_of

_TONES = {"OK": "ok", "FAIL": "bad", "TIMEOUT": "bad"}
_MARKS = {"OK": icons.CHECK, "FAIL": icons.CROSS, "TIMEOUT": icons.CLOCK, "CANCEL": icons.STROKE}


def number(value: float) -> str:
    """At most one digit behind the point, none where it is 0."""
    return f"{value:.1f}".removesuffix(".0")


def xml(text: str) -> str:
    """Text for an element or a quoted attribute; characters that XML forbids become a visible mark."""
    return escape("".join(_allowed(letter) for letter in text), {'"': "&quot;"})


def _allowed(letter: str) -> str:
    code = ord(letter)
    whole = code in (0x9, 0xA, 0xD) or 0x20 <= code <= 0xD7FF or 0xE000 <= code <= 0xFFFD or code > 0xFFFF
    return letter if whole else "\N{REPLACEMENT CHARACTER}"


def draw_node(node: Node, spot: Spot, held: Sequence[int]) -> Iterator[str]:
    """One group: its tooltip, its shape, its ports. `held` counts the events that wait in each slot."""
    place = f'transform="translate({number(spot.x)} {number(spot.y)})"'
    yield f'<g class="{node.kind}" data-name="{xml(node.name)}" {place}>'
    yield f"<title>{xml(_tooltip(node))}</title>"
    yield from _box(node, spot) if node.kind == "step" else _pill(node, spot)
    if node.kind == "step":
        for entry, y, count in zip(node.entries, spot.shape.entries, held, strict=True):
            yield from _entry(entry, y, count)
        for port, y in zip(node.ports, spot.shape.ports, strict=True):
            yield _port(spot.shape.width, y, port.failure)
    yield "</g>"


def _tooltip(node: Node) -> str:
    about = {"outside": "comes from outside", "missing": "nothing fires this event"}.get(node.kind, "")
    parts = [node.name, *([node.text] if node.text != node.name else []), node.note, about, *node.badges]
    return " · ".join(part for part in parts if part)


def _text(style: str, x: float, y: float, text: str, end: bool = False) -> str:
    anchor = ' text-anchor="end"' if end else ""
    return f'<text class="{style}" x="{number(x)}" y="{number(y)}"{anchor}>{xml(text)}</text>'


def _icon(picture: str, x: float, y: float, size: float, style: str = "") -> str:
    place = f"translate({number(x)} {number(y)}) scale({size / 16:g})"
    return f'<g class="i{style}" transform="{place}">{picture}</g>'


def _port(x: float, y: float, failure: bool) -> str:
    if failure:
        return f'<rect class="pt f" x="{number(x - 4)}" y="{number(y - 4)}" width="8" height="8" rx="1"/>'
    return f'<circle class="pt" cx="{number(x)}" cy="{number(y)}" r="4"/>'


def _entry(entry: Entry, y: float, count: int) -> Iterator[str]:
    wanted = entry.need or 1
    style = "pt full" if count >= wanted else "pt"
    yield f'<circle class="{style}" cx="0" cy="{number(y)}" r="{6 if count > 1 else 4}"/>'
    if 0 < count < wanted:
        yield f'<path class="full" d="M0 {number(y - 4)}a4 4 0 0 0 0 8z"/>'
    elif count > 1:
        shown = str(count) if count < 10 else "9+"
        yield f'<text class="q" x="0" y="{number(y + 3.2)}" text-anchor="middle">{shown}</text>'


def _box(node: Node, spot: Spot) -> Iterator[str]:
    width, height = spot.shape.width, spot.shape.height
    size = f'width="{number(width)}" height="{number(height)}" rx="5"'
    yield f'<rect class="box{" off" if node.disabled else ""}" {size}/>'
    if node.disabled:
        yield f'<rect fill="url(#hatch)" {size}/>'
    labels = [width_of(port.label, SMALL) + 10 if port.label else 0.0 for port in node.ports]
    beside = {y: label for y, label in zip(spot.shape.ports, labels, strict=True)}
    yield _icon(icons.icon_of(node.task), 11, FIRST - 7, 14)
    room = width - 30 - 10
    yield _text("t", 30, FIRST + 4.3, shorten(node.text, TITLE, room - beside.get(FIRST, 0.0), bold=True))
    if node.note:
        row = FIRST + ROW
        yield _text("n", 11, row + 3.8, shorten(node.note, SMALL, width - 21 - beside.get(row, 0.0)))
    for port, y in zip(node.ports, spot.shape.ports, strict=True):
        if port.label:
            yield _text("p", width - 9, y + 3.8, port.label, end=True)
    if joins(node):
        yield from _join(node, spot)
    yield from _badges(node, height)


def _join(node: Node, spot: Spot) -> Iterator[str]:
    """The bar that ties the slots: solid for all of them, outlined for either, in pieces for n of m."""
    top, bottom = spot.shape.entries[0] - 7, spot.shape.entries[-1] + 7
    if len(node.entries) > 1:
        yield f'<rect class="jn" x="8" y="{number(top)}" width="3" height="{number(bottom - top)}" rx="1.5"/>'
    elif node.entries[0].need:
        yield from _pieces(node.entries[0], top - 1.5)
    else:
        yield f'<rect class="jo" x="8" y="{number(top)}" width="4" height="14" rx="1.5"/>'
    for word, y in zip(words_of(node), spot.shape.entries, strict=True):
        if word:
            yield _text("p b", 18, y + 3.8, word)


def _pieces(entry: Entry, top: float) -> Iterator[str]:
    count = min(entry.of, 7)
    filled = min(entry.need, count)
    piece = (17 - 1.5 * (count - 1)) / count
    for row in range(count):
        style = "jn" if row < filled else "jo"
        y = top + row * (piece + 1.5)
        yield f'<rect class="{style}" x="8" y="{number(y)}" width="4" height="{number(piece)}"/>'


def _badges(node: Node, height: float) -> Iterator[str]:
    x = 10.0
    for badge in node.badges:
        tone = " warn" if badge.startswith(("cancels", "unknown")) else " acc" if badge == "loop" else ""
        width = badge_width(badge)
        place = f'x="{number(x)}" y="{number(height - 23)}"'
        yield f'<rect class="tag{tone}" {place} width="{number(width)}" height="15" rx="3"/>'
        yield _text(f"k{tone}", x + 5, height - 12, badge)
        x += width + 4


def _pill(node: Node, spot: Spot) -> Iterator[str]:
    width, height = spot.shape.width - (RING if node.unused else 0.0), spot.shape.height
    styles = {"start": "s", "outside": "x", "missing": "bad", "event": "ev"}
    style = styles.get(node.kind) or _TONES.get(node.name, "s")
    failed = " f" if node.failure else ""
    shape = f'width="{number(width)}" height="{number(height)}" rx="{number(height / 2)}"'
    yield f'<rect class="{style}{failed}" {shape}/>'
    middle = height / 2
    if node.kind in ("event", "start"):
        yield f'<circle class="pt" cx="13" cy="{number(middle)}" r="3.2"/>'
    else:
        tone = "" if style == "x" else f" {style}"
        picture = icons.INBOUND if node.kind == "outside" else _MARKS.get(node.name, icons.QUESTION)
        yield _icon(picture, 8, middle - 6, 12, tone)
    tone = {"start": "b s", "end": f"b {style}", "missing": "bad", "outside": "b"}.get(node.kind, "p")
    shown = shorten(node.text, SMALL, 200, bold=node.kind in ("start", "end"))
    yield _text(tone, 22 if node.kind in ("event", "start") else 24, middle + 3.8, shown)
    if node.note:
        yield _text("k", width - 10, middle + 3.5, node.note, end=True)
    if node.unused:
        yield f'<path class="w{failed}" d="M{number(width)} {number(middle)}h8"/>'
        yield f'<circle class="pt" cx="{number(width + 12)}" cy="{number(middle)}" r="4"/>'
