"""The figures of all stages as one table.

A test writes what it counted to `FOLDER/NAME.json`, where PENSTOCK_FIGURES names the folder: a flat map from the
name of a figure to a number, or to a text such as `26/26`. Figures of the same name are added up.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

FOLDER = "PENSTOCK_FIGURES"
LONG = "PENSTOCK_TRUST"
"""The variable that makes tests try for longer than in `make test`."""
NONE_ALLOWED = ("lost", "double-applied", "stuck", "crashes of a decoder")
"""Figures that must be 0."""
WHOLE = ("planted bugs caught", "rare paths hit")
"""Figures `n/m` of which n must be m."""
OFTEN = (
    "kills",
    "pauses",
    "partitions",
    "lost replies",
    "broken lines",
    "slow lines",
    "database crashes",
    "failovers",
    "disk full",
    "slow fsyncs",
    "clock jumps",
    "version skew",
    "floods",
)
"""Faults that must have struck real processes, each at least so many times."""
LEAST = 5
ROWS = (
    "seeds",
    "virtual hours",
    "faults",
    *OFTEN,
    "power cuts",
    "operations",
    "operations that failed",
    "runs verified",
    "tasks executed",
    "duplicate executions",
    "duplicates suppressed",
    "late results rejected",
    "runs soaked",
    "bad inputs",
    "inputs to decoders",
    *NONE_ALLOWED,
    *WHOLE,
)
"""Figures that must be there, in the order in which they are read; others come after them."""
_SHARE = re.compile(r"(\d+)/(\d+)")

Figures = Mapping[str, Any]


def write(name: str, figures: Figures, folder: Path | None = None) -> None:
    """Keep figures where `make trust` finds them; else in `folder`, or nowhere."""
    kept = os.environ.get(FOLDER)
    place = Path(kept) if kept else folder
    if place is not None:
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{name}.json").write_text(json.dumps(dict(figures), indent=2) + "\n", encoding="utf-8")


def read(folder: Path) -> list[Figures]:
    """What the tests have written, in the order of their names."""
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]


def combined(parts: Sequence[Figures]) -> dict[str, Any]:
    """All figures, those of one name added up."""
    found: dict[str, Any] = {}
    for part in parts:
        for name, value in part.items():
            found[name] = _sum(found[name], value) if name in found else value
    return found


def wrong(figures: Figures, whole: bool = False) -> list[str]:
    """What must not be, in plain words. `whole`: every stage was run, so nothing may be missing or rare."""
    said = _lacking(figures) if whole else []
    said += [f"{name} is {figures[name]}, and must be 0" for name in NONE_ALLOWED if figures.get(name)]
    for name in WHOLE:
        share = _SHARE.fullmatch(str(figures.get(name, "0/0")))
        if share and share[1] != share[2]:
            said.append(f"{name} is {share[0]}")
    return said


def _lacking(figures: Figures) -> list[str]:
    """What was not tried at all, or hardly."""
    said = [f"nobody has counted '{name}'" for name in ROWS if name not in figures]
    rare = [name for name in OFTEN if figures.get(name, LEAST) < LEAST]
    return said + [f"'{name}' is {figures[name]}, and must be {LEAST} at least" for name in rare]


def in_order(figures: Figures) -> dict[str, Any]:
    """The figures as they are read."""
    known = [name for name in ROWS if name in figures]
    return {name: figures[name] for name in (*known, *(name for name in figures if name not in known))}


def table(figures: Figures) -> str:
    """The figures under each other."""
    width = max((len(name) for name in figures), default=0)
    return "\n".join(f"  {name:<{width}}  {shown(value):>12}" for name, value in figures.items())


def shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:,.1f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def page(figures: Figures) -> str:
    """The figures as a page of the documentation."""
    rows = "\n".join(f"| {name} | {shown(value)} |" for name, value in figures.items())
    return f"{_ABOVE}\n| | |\n| --- | ---: |\n{rows}\n"


def _sum(one: Any, other: Any) -> Any:
    if isinstance(one, str):
        first, second = _SHARE.fullmatch(one), _SHARE.fullmatch(str(other))
        if first and second:
            return f"{int(first[1]) + int(second[1])}/{int(first[2]) + int(second[2])}"
        return " ".join(sorted({*one.split(), *str(other).split()}, key=lambda word: (len(word), word)))
    return one + other


_ABOVE = """# The figures of trust

Written by `make trust`, which runs everything that tries to break Penstock: simulated machines, real processes under
fault, power cuts, attacks, and bugs that are planted to see that they are found. The same as
[JSON](trust.json). What it is that is tried stands with each of the [guarantees](guarantees.md), and
[how](explain/durability.md#how-it-is-known).

**Lost**, **double-applied** and **stuck** are what must never happen; the command fails where one of them is not 0,
where a planted bug was not caught, or where a kind of fault hardly happened. Tasks that were executed again are no
fault: a task is done [at least once](guarantees.md). *Faults* are those of the simulation, by kind below; kills to
floods befell real processes.
"""
