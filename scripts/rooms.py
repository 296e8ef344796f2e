"""Draw the packages of Penstock, from the import graph, into docs/img/rooms.svg.

A package stands one row above the highest package that it imports. An arrow leads to each package that it imports and
reaches no other way: what an arrow's end imports, its beginning may import, too.
"""

from __future__ import annotations

import tomllib
from functools import cache
from html import escape
from itertools import pairwise
from pathlib import Path

import grimp
from msgspec import Struct

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "img" / "rooms.svg"
TITLE = "The packages of Penstock in rows: each imports only packages in rows below it"
PURE = "The core does no I/O and reads no clock"
"""The import contract that names the packages without side effects."""

WIDTH, MARGIN, BETWEEN = 760, 24, 20
BOX, ROW = 40, 66
TOP = 24
BEND, BEYOND = 8, " → "
"""How wide the bend of a long arrow is, and what is in the name of each."""
LETTER, PADDING = 5.5, 13
"""How wide a small letter is at most, and the space around a text."""

STYLE = """.rooms text{font-family:"Inter var",Inter,-apple-system,"Segoe UI",Roboto,Ubuntu,"Helvetica Neue",\
"DejaVu Sans Condensed","Noto Sans",Arial,sans-serif;font-size:10.5px;fill:#4a5460;text-anchor:middle}
.rooms .t{font-size:12.5px;font-weight:600;fill:#14191f}
.rooms .k{text-anchor:start;font-size:11px}
.rooms .bg{fill:#fafbfb}
.rooms .box{fill:#fff;stroke:#c8ced5}
.rooms .pure{fill:#e2f1f6;stroke:#0b6480}
.rooms .w{fill:none;stroke:#9aa3ad;stroke-width:1.1}
.rooms .a{fill:#9aa3ad}"""

Imports = dict[str, set[str]]


class Room(Struct, frozen=True):
    """A package as a box: its middle, and its width."""

    name: str
    inside: str
    x: float
    y: float
    width: float


def imports() -> Imports:
    """Which packages each package imports."""
    graph = grimp.build_graph("penstock", "penstock_release", cache_dir=None)
    found: Imports = {}
    for module in graph.modules:
        room = room_of(module)
        if room is not None:
            found.setdefault(room, set()).update(
                other
                for each in graph.find_modules_directly_imported_by(module)
                if (other := room_of(each)) not in (None, room)
            )
    return found


def room_of(module: str) -> str | None:
    """The package of a module; none for the names that `penstock` itself exports."""
    root, _, rest = module.partition(".")
    if root != "penstock":
        return root
    return rest.partition(".")[0] or None if rest != "__main__" else None


def rows_of(found: Imports) -> list[list[str]]:
    """The packages by row, the lowest first, each above what it imports."""

    @cache
    def row(room: str) -> int:
        return 1 + max((row(other) for other in found[room]), default=-1)

    rows: list[list[str]] = [[] for _ in range(1 + max(map(row, found)))]
    for room in sorted(found):
        rows[row(room)].append(room)
    return rows


def arrows_of(found: Imports) -> list[tuple[str, str]]:
    """The imports that do not follow from others."""

    @cache
    def below(room: str) -> frozenset[str]:
        return frozenset(found[room]).union(*(below(other) for other in found[room]))

    return sorted(
        (room, other)
        for room, others in found.items()
        for other in others
        if not any(other in below(each) for each in others)
    )


def placed(rows: list[list[str]], paths: list[list[str]]) -> dict[str, Room]:
    """Every room and bend at its place: in its row, above the middle of those to which its arrows lead."""
    rooms: dict[str, Room] = {}
    steps = [step for path in paths for step in pairwise(path)]
    for number, row in enumerate(rows):
        y = TOP + (len(rows) - 1 - number) * ROW + BOX / 2
        below = {
            name: [rooms[other].x for room, other in steps if room == name] or [WIDTH / 2] for name in row
        }
        middles = {name: round(sum(places) / len(places), 3) for name, places in below.items()}
        ordered = sorted(row, key=lambda name: (middles[name], name))
        sizes = {name: _size(name) for name in ordered}
        whole = sum(sizes.values()) + BETWEEN * (len(row) - 1)
        wanted = sum(middles.values()) / len(row) - whole / 2
        left = min(max(wanted, MARGIN), WIDTH - MARGIN - whole)
        for name in ordered:
            rooms[name] = Room(name, inside(name), left + sizes[name] / 2, y, sizes[name])
            left += sizes[name] + BETWEEN
    return rooms


def _size(name: str) -> float:
    return (
        BEND
        if BEYOND in name
        else max(84.0, 8 * len(name) + 2 * PADDING, LETTER * len(inside(name)) + 2 * PADDING)
    )


@cache
def inside(name: str) -> str:
    """The packages in a package."""
    folder = ROOT / "src" / ("penstock" if name != "penstock_release" else "") / name
    return " · ".join(sorted(each.parent.name for each in folder.glob("*/__init__.py")))


def pure_rooms() -> set[str]:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    [pure] = [each for each in contracts if each["name"] == PURE]
    return {name.removeprefix("penstock.") for name in pure["source_modules"]}


def paths_of(rows: list[list[str]], arrows: list[tuple[str, str]]) -> list[list[str]]:
    """What each arrow passes: an arrow that is longer than a row bends in each row between, and gets room there."""
    number = {room: number for number, row in enumerate(rows) for room in row}
    paths = []
    for room, other in arrows:
        bends = [(row, f"{room}{BEYOND}{other} {row}") for row in range(number[room] - 1, number[other], -1)]
        for row, bend in bends:
            rows[row].append(bend)
        paths.append([room, *(bend for _, bend in bends), other])
    return paths


def picture() -> str:
    """The SVG text."""
    found, pure = imports(), pure_rooms()
    rows = rows_of(found)
    paths = paths_of(rows, arrows_of(found))
    rooms = placed(rows, paths)
    height = TOP + len(rows) * ROW + 14
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="rooms" width="{WIDTH}" height="{height}" '
        f'viewBox="0 0 {WIDTH} {height}" role="img">',
        f"<title>{escape(TITLE)}</title>",
        f"<style>{STYLE}</style>",
        f'<rect class="bg" width="{WIDTH}" height="{height}" rx="8"/>',
        *(_arrow([rooms[each] for each in path]) for path in paths),
        *(_box(rooms[name], name in pure) for row in rows for name in row if BEYOND not in name),
        f'<rect class="pure" x="{MARGIN}" y="{height - 34}" width="16" height="12" rx="3"/>',
        f'<text class="k" x="{MARGIN + 24}" y="{height - 24}">decides: no clock, file, thread or network</text>',
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _box(room: Room, pure: bool) -> str:
    x, y = room.x - room.width / 2, room.y - BOX / 2
    kind = "pure" if pure else "box"
    box = f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{room.width:.1f}" height="{BOX}" rx="6"/>'
    if not room.inside:
        return f'{box}<text class="t" x="{room.x:.1f}" y="{room.y + 4:.1f}">{room.name}</text>'
    name = f'<text class="t" x="{room.x:.1f}" y="{room.y - 2:.1f}">{room.name}</text>'
    return f'{box}{name}<text x="{room.x:.1f}" y="{room.y + 13:.1f}">{room.inside}</text>'


def _arrow(path: list[Room]) -> str:
    """From the lower edge of the first to the upper edge of the last; straight through the row of a bend."""
    line = f"M{path[0].x:.1f} {path[0].y + BOX / 2:.1f}"
    for before, room in pairwise(path):
        begin, end = before.y + BOX / 2, room.y - BOX / 2 - (7 if room is path[-1] else 0)
        middle = (begin + end) / 2
        line += f"C{before.x:.1f} {middle:.1f} {room.x:.1f} {middle:.1f} {room.x:.1f} {end:.1f}"
        line += "" if room is path[-1] else f"v{BOX}"
    head = f"M{path[-1].x - 4:.1f} {end:.1f}h8l-4 7Z"
    return f'<path class="w" d="{line}"/><path class="a" d="{head}"/>'


if __name__ == "__main__":
    PICTURE.write_text(picture(), "utf-8")
