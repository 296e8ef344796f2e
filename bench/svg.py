"""Drawings by hand: horizontal bars on a logarithmic scale with their spread, and small curves. Light and dark."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from xml.sax.saxutils import escape

from msgspec import Struct

WIDTH, LEFT, RIGHT, ROW, TOP, FOOT = 760, 250, 120, 24, 64, 40
STYLE = """
  .card { fill: #ffffff; stroke: #d9dee4 } .title { fill: #1b2733; font-weight: 600; font-size: 15px }
  .small { fill: #55636f; font-size: 11.5px } .name, .value { fill: #1b2733; font-size: 12.5px }
  .grid { stroke: #e4e8ec } .spread, .limit { stroke: #1b2733; stroke-width: 1.4 } .limit { stroke-dasharray: 4 3 }
  .ours { fill: #1f7a8c } .other { fill: #a9b4be } .floor { fill: #d9a441 }
  .kept { fill: #2f8f5b } .missed { fill: #c8553d }
  .line { fill: none; stroke: #1f7a8c; stroke-width: 2 }
  text { font-family: system-ui, -apple-system, "Segoe UI", Roboto, sans-serif }
  @media (prefers-color-scheme: dark) {
    .card { fill: #1c2229; stroke: #39434d } .title, .name, .value { fill: #e8edf1 } .small { fill: #a7b3bd }
    .grid { stroke: #333d46 } .spread, .limit { stroke: #e8edf1 } .other { fill: #66737f } .ours { fill: #3fa3b7 }
    .line { stroke: #3fa3b7 } .kept { fill: #46b078 } .missed { fill: #de6e55 } .floor { fill: #e0b25c }
  }
"""


class Row(Struct, frozen=True, kw_only=True):
    """One bar: what it is, how long, from where to where it varied, and how it is painted."""

    name: str
    value: float
    low: float
    high: float
    kind: str = "other"
    text: str = ""


def page(width: float, height: float, title: str, under: str, body: Sequence[str]) -> str:
    """A card with a title and a line below it."""
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}"'
            f' height="{height:g}" role="img" aria-label="{escape(title)}">',
            f"<style>{STYLE}</style>",
            f'<rect class="card" x="0.5" y="0.5" width="{width - 1:g}" height="{height - 1:g}" rx="8"/>',
            f'<text class="title" x="18" y="28">{escape(title)}</text>',
            f'<text class="small" x="18" y="47">{escape(under)}</text>',
            *body,
            "</svg>\n",
        ]
    )


def bars(title: str, under: str, rows: Sequence[Row], limit: float | None = None) -> str:
    """Bars on a logarithmic scale; a dashed line at `limit`."""
    ends = [each for row in rows for each in (row.low, row.high, row.value) if each > 0]
    first, last = span([*ends, *([limit] if limit else [])])
    scale = Scale(first, last, LEFT, WIDTH - RIGHT)
    height = TOP + ROW * len(rows) + FOOT
    body = list(_grid(scale, TOP - 6, height - FOOT + 4))
    if limit is not None:
        at = scale.at(limit)
        body.append(
            f'<line class="limit" x1="{at:.1f}" x2="{at:.1f}" y1="{TOP - 6}" y2="{height - FOOT + 4}"/>'
        )
    for number, row in enumerate(rows):
        body += _bar(scale, row, TOP + ROW * number)
    return page(WIDTH, height, title, under, body)


def _bar(scale: Scale, row: Row, top: float) -> Iterator[str]:
    middle, end = top + ROW / 2, scale.at(row.value)
    yield f'<text class="name" x="{LEFT - 10}" y="{middle + 4:.1f}" text-anchor="end">{escape(row.name)}</text>'
    yield (
        f'<rect class="{row.kind}" x="{scale.left}" y="{top + 4:.1f}" width="{max(1.0, end - scale.left):.1f}"'
        f' height="{ROW - 8}" rx="2"><title>{escape(f"{row.name}: {row.text}")}</title></rect>'
    )
    low, high = scale.at(row.low), scale.at(row.high)
    if high - low > 1:
        yield f'<line class="spread" x1="{low:.1f}" x2="{high:.1f}" y1="{middle:.1f}" y2="{middle:.1f}"/>'
        for at in (low, high):
            yield f'<line class="spread" x1="{at:.1f}" x2="{at:.1f}" y1="{middle - 4:.1f}" y2="{middle + 4:.1f}"/>'
    yield f'<text class="value" x="{max(end, high) + 7:.1f}" y="{middle + 4:.1f}">{escape(row.text)}</text>'


class Scale:
    """Numbers to places, by their logarithm."""

    def __init__(self, first: float, last: float, left: float, right: float) -> None:
        self.first, self.last, self.left, self.right = first, last, left, right

    def at(self, value: float) -> float:
        share = math.log(max(value, self.first) / self.first) / math.log(self.last / self.first)
        return self.left + share * (self.right - self.left)

    def marks(self) -> Iterator[float]:
        """Powers of ten."""
        for power in range(
            math.ceil(math.log10(self.first) - 1e-9), math.floor(math.log10(self.last) + 1e-9) + 1
        ):
            yield 10.0**power


def span(values: Sequence[float]) -> tuple[float, float]:
    """Whole powers of ten around values; the first one is below the least, so that its bar can be seen."""
    least, most = (min(values), max(values)) if values else (1.0, 10.0)
    first = 10.0 ** math.floor(math.log10(least * 0.7))
    last = most * 1.15
    return first, max(last, first * 10)


def _grid(scale: Scale, top: float, bottom: float) -> Iterator[str]:
    for mark in scale.marks():
        at = scale.at(mark)
        yield f'<line class="grid" x1="{at:.1f}" x2="{at:.1f}" y1="{top}" y2="{bottom}"/>'
        yield f'<text class="small" x="{at:.1f}" y="{bottom + 16}" text-anchor="middle">{number(mark)}</text>'


def number(value: float) -> str:
    """A number for people: three digits that matter."""
    if value >= 100:
        return f"{value:,.0f}"
    if value >= 10:
        return f"{value:.1f}".removesuffix(".0")
    return f"{value:.3g}"


class Curve(Struct, frozen=True, kw_only=True):
    """A small diagram: what it shows, and its points."""

    title: str
    under: str
    points: Sequence[tuple[float, float]]


def curves(title: str, under: str, made: Sequence[Curve]) -> str:
    """Small curves side by side, two in a row, both axes logarithmic."""
    wide, high = 380, 190
    rows = math.ceil(len(made) / 2)
    body = [
        part
        for index, each in enumerate(made)
        for part in _curve(each, index % 2 * wide, 60 + index // 2 * high)
    ]
    return page(2 * wide, 70 + rows * high, title, under, body)


def _curve(curve: Curve, left: float, top: float) -> Iterator[str]:
    yield f'<text class="name" x="{left + 18}" y="{top + 18}" font-weight="600">{escape(curve.title)}</text>'
    yield f'<text class="small" x="{left + 18}" y="{top + 34}">{escape(curve.under)}</text>'
    xs, ys = [max(x, 1.0) for x, _ in curve.points], [y for _, y in curve.points]
    across = Scale(min(xs), max(max(xs), min(xs) * 1.001), left + 44, left + 340)
    low, up = min(ys), max(ys)
    tall = Scale(low * 0.4, max(up, low * 1.001) * 1.6, top + 158, top + 44)
    places = [(across.at(x), tall.at(y)) for x, y in zip(xs, ys, strict=True)]
    yield f'<polyline class="line" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in places)}"/>'
    for (x, y), (at, value) in zip(places, curve.points, strict=True):
        yield f'<circle class="ours" cx="{x:.1f}" cy="{y:.1f}" r="3.4"/>'
        yield f'<text class="value" x="{x:.1f}" y="{y - 8:.1f}" text-anchor="middle">{number(value)}</text>'
        yield f'<text class="small" x="{x:.1f}" y="{top + 176}" text-anchor="middle">{number(at)}</text>'
