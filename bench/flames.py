"""Flame graphs: where the time of W1 goes. `python -m bench.flames [FOLDER]` samples an engine at work on each store.

The sampler is py-spy, in an environment of its own (`make bench-setup`); it looks at running threads only.
"""

from __future__ import annotations

import math
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from xml.sax.saxutils import escape

from msgspec import Struct, field
from tests.postgres_server import PostgresServer

from bench.bars import NAMES
from bench.engine.places import disk
from bench.publishing import DOCS, PAGE, put
from bench.roster import ENVS, STORES
from bench.session import ROOT

PY_SPY = ENVS / "tools" / "bin" / "py-spy"
LOAD = (
    "import sys; from bench.engine.workloads import chains; from penstock.engine import event_loop;"
    " event_loop.run(chains(sys.argv[1], int(sys.argv[2])))"
)
RUNS, RATE, PATIENCE = 12_000, 400, 300
WIDE, HIGH, TOP, LEAST = 1_000, 17, 66, 0.004
DEEP = 22
LOADING = frozenset({"_find_and_load", "_call_with_frames_removed", "migrate", "publish"})
"""A stack with one of these is of the start, not of the work."""
PARTS = (
    (
        "kernel and flow: deciding",
        ("penstock/kernel", "penstock/flow", "penstock/steps", "penstock/expression"),
    ),
    (
        "codec: snapshots, history, messages",
        ("penstock/runtime/codec", "penstock/runtime/json", "penstock/runtime/queries/history"),
    ),
    ("runtime: batches, memory, dispatch", ("penstock/runtime", "penstock/engine", "penstock/metrics")),
    ("workers: calling tasks", ("penstock/workers", "penstock/boxes")),
    ("store: rows and statements", ("penstock/store",)),
    ("driver and event loop", ("asyncpg", "asyncio", "uvloop", "concurrent", "threading", "selectors")),
    ("the load itself", ("bench",)),
)
COLOURS = ("#d98c5f", "#d9b45f", "#5fa8b8", "#7fb069", "#8f7fc0", "#b5b5b5", "#c9c9c9", "#dddddd")
_FRAME = re.compile(r"(?P<name>.+) \((?P<file>[^()]*?)(?::\d+)?\)$")

Stack = tuple[tuple[str, str], ...]
"""Functions with their files, the outermost first."""


class Flame(Struct):
    """A function on a path, how often it was seen, and what it called."""

    name: str
    file: str
    count: int = 0
    called: dict[tuple[str, str], Flame] = field(default_factory=dict)


def read(text: str) -> Counter[Stack]:
    """What py-spy wrote: a stack and how often it was seen, a line. What happens only at the start is left out."""
    found: Counter[Stack] = Counter()
    for line in text.splitlines():
        path, _, count = line.rpartition(" ")
        frames = [_frame(each) for each in path.split(";") if not each.startswith(("process", "thread"))]
        loading = any(name in LOADING for name, _ in frames)
        if frames and count.isdigit() and not loading:
            found[tuple(frames)] += int(count)
    return found


def _frame(text: str) -> tuple[str, str]:
    found = _FRAME.match(text)
    return (found["name"], _short(found["file"])) if found else (text, "")


def _short(file: str) -> str:
    """`penstock/flow/decisions/advance.py`, wherever it is installed."""
    for mark in ("site-packages/", "/src/", "/lib/python3", f"{ROOT}/"):
        if mark in file:
            file = file.rpartition(mark)[2]
    return re.sub(r"^\.\d+/", "", file)


def part_of(file: str) -> int:
    """The part of the system that a file belongs to; the last one is everything else."""
    for number, (_, places) in enumerate(PARTS):
        if file.startswith(places):
            return number
    return len(PARTS)


def shares(stacks: Mapping[Stack, int]) -> dict[str, float]:
    """Which part of the time each part of the system had in its own hands."""
    total = sum(stacks.values()) or 1
    found = Counter[str]()
    names = [name for name, _ in PARTS] + ["other"]
    for stack, count in stacks.items():
        found[names[part_of(stack[-1][1])]] += count
    return {name: found[name] / total for name in names if found[name]}


def grown(stacks: Mapping[Stack, int]) -> Flame:
    root = Flame("all", "")
    for stack, count in stacks.items():
        root.count += count
        here = root
        for frame in stack:
            here = here.called.setdefault(frame, Flame(*frame))
            here.count += count
    return root


def drawn(root: Flame, title: str) -> str:
    """The SVG: the callers above, the called below them; what is too thin to be seen is left out."""
    boxes = list(_boxes(root, 0.0, 0, root.count or 1))
    depth = 1 + max((level for _, level, _, _ in boxes), default=0)
    height = TOP + depth * HIGH + 34
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDE} {height}" role="img"'
        f' aria-label="{escape(title)}">',
        "<style>text{font-family:system-ui,sans-serif;font-size:11px;fill:#1b2733}.t{font-size:15px;font-weight:600}"
        ".c{fill:#fff}@media (prefers-color-scheme:dark){.c{fill:#e4e8ec}}</style>",
        f'<rect class="c" width="{WIDE}" height="{height}" rx="8"/>',
        f'<text class="t" x="14" y="26">{escape(title)}</text>',
        *_legend(),
        *(_box(*each) for each in boxes),
        "</svg>\n",
    ]
    return "\n".join(parts)


def _legend() -> Iterator[str]:
    at = 14.0
    for (name, _), colour in zip(PARTS, COLOURS, strict=False):
        short = name.partition(":")[0]
        yield f'<rect x="{at:.0f}" y="38" width="11" height="11" fill="{colour}"/>'
        yield f'<text x="{at + 15:.0f}" y="48">{short}</text>'
        at += 34 + 6.2 * len(short)


def _boxes(flame: Flame, left: float, level: int, total: int) -> Iterator[tuple[Flame, int, float, float]]:
    width = flame.count / total * (WIDE - 20)
    if width < LEAST * WIDE or level > DEEP:
        return
    yield flame, level, left, width
    for called in sorted(flame.called.values(), key=lambda each: -each.count):
        yield from _boxes(called, left, level + 1, total)
        left += called.count / total * (WIDE - 20)


def _box(flame: Flame, level: int, left: float, width: float) -> str:
    x, y = 10 + left, TOP + level * HIGH
    room = math.floor((width - 6) / 6.1)
    label = (
        flame.name if len(flame.name) <= room else flame.name[: max(0, room - 1)] + "…" if room > 3 else ""
    )
    colour = COLOURS[part_of(flame.file)] if flame.file else COLOURS[-1]
    share = f"{100 * width / (WIDE - 20):.1f} %"
    said = escape(f"{flame.name} {flame.file} {share}")
    text = f'<text x="{x + 3:.1f}" y="{y + 12}">{escape(label)}</text>' if label else ""
    return (
        f'<g><title>{said}</title><rect x="{x:.1f}" y="{y}" width="{max(0.5, width - 0.6):.1f}" height="{HIGH - 1}"'
        f' fill="{colour}" rx="1.5"/>{text}</g>'
    )


def below(stacks: Mapping[Stack, int]) -> Counter[Stack]:
    """Without what every stack begins with: the interpreter, the loop."""
    found: Counter[Stack] = Counter()
    for stack, count in stacks.items():
        first = next(
            (n for n, (_, file) in enumerate(stack) if file.startswith("penstock/") and part_of(file) < 5), 0
        )
        found[stack[first:]] += count
    return found


def sampled(url: str, runs: int) -> Counter[Stack]:
    """Sample an engine that does so many runs."""
    with tempfile.NamedTemporaryFile(suffix=".txt") as file:
        command = [
            str(PY_SPY),
            "record",
            "--rate",
            str(RATE),
            "--format",
            "raw",
            "--function",
            "--output",
            file.name,
        ]
        load = [sys.executable, "-c", LOAD, url, str(runs)]
        subprocess.run([*command, "--", *load], check=True, cwd=ROOT, capture_output=True, timeout=PATIENCE)
        return read(Path(file.name).read_text(encoding="utf-8"))


def main(folder: Path, runs: int) -> int:
    if not PY_SPY.exists():
        print("flames: py-spy is missing: run `make bench-setup`", file=sys.stderr)
        return 1
    folder.mkdir(parents=True, exist_ok=True)
    found: dict[str, dict[str, float]] = {}
    server = PostgresServer().start()
    try:
        with tempfile.TemporaryDirectory(prefix="penstock-bench-", dir=disk()) as home:
            urls = {"sqlite": f"{home}/flames.db", "postgresql": server.create_database()}
            for store in STORES:
                stacks = sampled(urls[store], runs)
                title = f"W1 on {NAMES[store]}: where the engine's process spends its time"
                (folder / f"flame-{store}.svg").write_text(
                    drawn(grown(below(stacks)), title), encoding="utf-8"
                )
                found[store] = shares(stacks)
    finally:
        server.remove()
    print("\n".join(lines(found)))
    if folder == DOCS / "img":
        put(DOCS / PAGE, "flames", "\n".join(lines(found)))
    return 0


def lines(found: Mapping[str, Mapping[str, float]]) -> Iterator[str]:
    """The shares of both stores, as a table."""
    yield f"| part | {' | '.join(NAMES[store] for store in found)} |"
    yield f"| --- |{' ---: |' * len(found)}"
    for name in [*(name for name, _ in PARTS), "other"]:
        cells = [f"{100 * each.get(name, 0):.0f} %" for each in found.values()]
        if any(name in each for each in found.values()):
            yield f"| {name} | {' | '.join(cells)} |"


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else DOCS / "img", RUNS))
