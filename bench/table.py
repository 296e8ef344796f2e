"""The Markdown of a measurement: bars, figures, the machine, settings, and what each does not promise."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bench.bars import fastest
from bench.results import Bar, Entry, Figure, Results
from bench.roster import BY_KEY
from bench.svg import number

COLUMNS = (
    ("W1", "W1 runs/s"),
    ("W2 100", "W2 100, s"),
    ("W2 1000", "W2 1,000, s"),
    ("W3 median", "W3 median, ms"),
    ("W3 p95", "p95, ms"),
    ("W4 first run", "W4 first run, s"),
    ("W4 memory", "MB"),
    ("W4 processor", "idle CPU, %"),
)
WORDS = {True: "kept", False: "**missed**", None: "not measured"}


def table(results: Results, pictures: Sequence[str] = ()) -> str:
    """The whole report."""
    return "\n".join(
        [
            *_head(results),
            *_bars(results),
            *(line for name in pictures for line in ("", f"![{_alt(name)}]({name})")),
            *_durable(results),
            *_floors(results),
            *_memory(results),
            *_more(results),
            *_limits(results),
            *_growth(results),
            *_settings(results),
            *_errors(results),
            "",
        ]
    )


def bar_lines(results: Results) -> Iterator[str]:
    """Every bar, for a terminal."""
    yield ""
    for bar in results.bars:
        word = {True: "kept", False: "MISSED", None: "not measured"}[bar.kept]
        why = f" ({bar.note})" if bar.note and not bar.kept else ""
        yield f"{bar.name:<76} {_found(bar):>12}   {_bar(bar):<16} {word}{why}"
    yield ""
    yield "Every bar that could be measured was kept." if results.met else "A bar was missed."


def _head(results: Results) -> Iterator[str]:
    yield f"# Penstock beside its neighbours, {results.kind}"
    yield ""
    rounds = f"{results.rounds} round{'' if results.rounds == 1 else 's'}"
    if results.whole is not None and results.whole < results.rounds:
        rounds += f", shorter than the full ones, with all neighbours in {results.whole} of them"
    ours = f"Penstock of commit {results.commit}, " if results.commit else ""
    yield (
        f"{results.began}, {results.seconds / 60:.1f} minutes, {rounds}, everybody in turn; {ours}"
        f"Python {results.python}, {results.machine}, {results.cores} cores that load, servers and workers share."
    )
    yield "Figures are medians of the rounds, with the least and the most where there are several. Compare ratios"
    yield "within this table: the fsync of a disk swings tenfold from one hour to the next."
    for note in results.notes:
        yield f"\n{note}"


def _bars(results: Results) -> Iterator[str]:
    yield "\n## Bars\n"
    yield "| bar | found | promised | |"
    yield "| --- | ---: | ---: | --- |"
    for bar in results.bars:
        note = f" ({bar.note})" if bar.note else ""
        yield f"| {bar.name}{note} | {_found(bar)}{_spread(bar)} | {_bar(bar)} | {WORDS[bar.kept]} |"
    if said := fastest(results):
        yield f"\n{said}"


def _durable(results: Results) -> Iterator[str]:
    yield "\n## W1 to W4\n"
    yield f"| | {' | '.join(title for _, title in COLUMNS)} |"
    yield f"| --- |{' ---: |' * len(COLUMNS)}"
    for key in BY_KEY:
        entry = results.entries.get(key)
        if entry is not None:
            yield from _rows(key, entry)


def _rows(key: str, entry: Entry) -> Iterator[str]:
    variants = list(BY_KEY[key].variants) or [""]
    for variant in variants:
        called = BY_KEY[key].variants.get(variant, "")
        name = f"{entry.title}: {called}" if called else entry.title
        cells = [_cell(entry.figure(work, variant)) for work, _ in COLUMNS]
        if not variant or any(cells):
            yield f"| {name} | {' | '.join(each or '–' for each in cells)} |"


def _floors(results: Results) -> Iterator[str]:
    for key, title in (("penstock-sqlite", "SQLite"), ("penstock-postgresql", "PostgreSQL")):
        cells = [_cell(results.figure(key, f"floor {work}")) for work, _ in COLUMNS]
        if any(cells):
            yield f"| *floor: {title} without an engine* | {' | '.join(each or '–' for each in cells)} |"


def _memory(results: Results) -> Iterator[str]:
    rows = [
        (entry, entry.figure("W5 run small"), entry.figure("W5 run mixed"))
        for entry in results.entries.values()
    ]
    rows = [row for row in rows if row[1] is not None]
    if not rows:
        return
    yield "\n## W5, in memory, µs a step\n"
    yield "| | chain of 3 | 10 steps with a decision, a fork and a join |"
    yield "| --- | ---: | ---: |"
    for entry, small, mixed in rows:
        yield f"| {entry.title} | {_cell(small) or '–'} | {_cell(mixed) or '–'} |"


def _more(results: Results) -> Iterator[str]:
    yield "\n## W6, W7 and nodes\n"
    yield "| | " + " | ".join(("SQLite", "PostgreSQL")) + " |"
    yield "| --- | ---: | ---: |"
    for work, title in (
        ("W6 runs", "W6: runs that had ended"),
        ("W6", "W6: cost of a run then, in times of one where none had ended"),
        ("W6 after", "W6: runs/s then"),
        ("W6 bytes", "a finished run on disk, bytes"),
        ("W7", "W7: runs/s started and worked on over HTTP"),
        ("nodes one", "one node, runs/s"),
        ("nodes two", "two nodes, runs/s"),
        ("nodes one busy", "one node: processors busy, %"),
        ("nodes two busy", "two nodes: processors busy, %"),
        ("nodes floor one", "the floor with one connection, runs/s"),
        ("nodes floor two", "the floor with two connections, runs/s"),
        ("nodes gain", "two nodes, in times of one"),
        ("nodes floor gain", "the floor: two connections, in times of one"),
    ):
        cells = [_cell(results.figure(f"penstock-{store}", work)) for store in ("sqlite", "postgresql")]
        if any(cells):
            yield f"| {title} | {' | '.join(each or '–' for each in cells)} |"
    yield "\nW1 of Restate, Temporal and Prefect goes over the network already: it is their W7, too."


def _limits(results: Results) -> Iterator[str]:
    if not results.limits:
        return
    yield "\n## The machine\n"
    yield "| a second | before | after |"
    yield "| --- | ---: | ---: |"
    for name in results.limits[0]:
        cells = [number(each[name]) if name in each else "–" for each in results.limits]
        yield f"| {name} | {' | '.join(cells)} |"
    probes = [each for values in results.fsyncs.values() for each in values]
    if probes:
        yield f"\nBefore the turns the disk did {number(min(probes))} to {number(max(probes))} fsyncs a second."


def _growth(results: Results) -> Iterator[str]:
    if not results.growth:
        return
    yield "\n## How cost grows\n"
    for each in results.growth:
        points = ", ".join(f"{number(point.x)}: {number(point.y)}" for point in each.points)
        note = f" ({each.note})" if each.note else ""
        yield f"- **{each.name}**, {each.unit} by {each.of}: {points}{note}"


def _settings(results: Results) -> Iterator[str]:
    yield "\n## Settings, and what each does not promise\n"
    yield "| | versions | settings | not promised |"
    yield "| --- | --- | --- | --- |"
    for entry in results.entries.values():
        if entry.settings:
            versions = ", ".join(f"{name} {version}" for name, version in entry.versions.items())
            yield f"| {entry.title} | {versions or '–'} | {entry.settings} | {entry.lacks} |"


def _errors(results: Results) -> Iterator[str]:
    found = [(entry.title, error) for entry in results.entries.values() for error in entry.errors]
    if found:
        yield "\n## What went wrong\n"
        for title, error in found:
            yield f"- {title}: {error}"


def _cell(figure: Figure | None) -> str:
    if figure is None:
        return ""
    low, high = figure.spread
    if len(figure.values) == 1 or number(low) == number(high):
        return number(figure.middle)
    return f"{number(figure.middle)} ({number(low)}–{number(high)})"


def _found(bar: Bar) -> str:
    return "–" if bar.found is None else f"{number(bar.found)} {bar.unit}".strip()


def _spread(bar: Bar) -> str:
    if bar.spread is None or number(bar.spread[0]) == number(bar.spread[1]):
        return ""
    return f" ({number(bar.spread[0])}–{number(bar.spread[1])})"


def _bar(bar: Bar) -> str:
    return f"{'at least' if bar.least else 'at most'} {bar.bar:g}"


def _alt(picture: str) -> str:
    return picture.rpartition("-")[2].removesuffix(".svg")
