"""The charts of a measurement: what each contestant came to, the bars, and how cost grows."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from bench.results import Bar, Figure, Results
from bench.roster import BY_KEY, OURS, STORES
from bench.svg import Curve, Row, bars, curves, number

MOST = 100.0
W5 = "W5 run small"


def charts(results: Results) -> dict[str, str]:
    """Name → SVG; a chart that would be empty is left out."""
    made: dict[str, Callable[[Results], str | None]] = {
        "w1": _chain,
        "w2": _fan,
        "w3": _latency,
        "w5": _memory,
        "bars": _bars,
        "growth": _growth,
    }
    drawn = {name: draw(results) for name, draw in made.items()}
    return {name: svg for name, svg in drawn.items() if svg is not None}


def _under(results: Results, what: str) -> str:
    rounds = (
        "one short round"
        if results.rounds == 1
        else f"median of {results.rounds} rounds, whiskers from least to most"
    )
    return f"{what}; {rounds}; logarithmic"


def _row(results: Results, key: str, variant: str, figure: Figure, unit: str) -> Row:
    title = results.entries[key].title
    called = BY_KEY[key].variants.get(variant) if key in BY_KEY and variant else None
    name = f"{title}, {SHORT.get(called, called)}" if called else title
    low, high = figure.spread
    kind = "ours" if key.startswith(OURS) else "other"
    return Row(
        name=name, value=figure.middle, low=low, high=high, kind=kind, text=f"{number(figure.middle)} {unit}"
    )


SHORT = {"steps written down inside of one handler": "steps in one handler"}


def _rows(results: Results, work: str, unit: str, most: bool) -> list[Row]:
    found = [_row(results, key, variant, figure, unit) for key, variant, figure in results.having(work)]
    return sorted(found, key=lambda row: row.value, reverse=most)


def _chain(results: Results) -> str | None:
    rows = _rows(results, "W1", "runs/s", True)
    floors = [
        _floor(f"floor: {'SQLite' if store == 'sqlite' else 'PostgreSQL'}, no engine", figure)
        for store in STORES
        if (figure := results.figure(f"{OURS}-{store}", "floor W1"))
    ]
    under = _under(results, "durable runs of three steps a second, more is better")
    return bars("W1  Chains at saturation", under, [*floors, *rows]) if rows else None


def _floor(name: str, figure: Figure) -> Row:
    low, high = figure.spread
    text = f"{number(figure.middle)} runs/s"
    return Row(name=name, value=figure.middle, low=low, high=high, kind="floor", text=text)


def _fan(results: Results) -> str | None:
    rows = _rows(results, "W2 1000", "s", False)
    under = _under(results, "seconds of 1 → 1,000 → 1, less is better")
    return bars("W2  A fan of 1,000", under, rows) if rows else None


def _latency(results: Results) -> str | None:
    """The whisker here is the 95th percentile."""
    rows = []
    for key, variant, figure in results.having("W3 median"):
        high = results.figure(key, "W3 p95", variant)
        made = _row(results, key, variant, figure, "ms")
        top = max(made.value, high.middle if high else made.value)
        rows.append(
            Row(name=made.name, value=made.value, low=made.value, high=top, kind=made.kind, text=made.text)
        )
    under = "milliseconds of one run on an idle system; the whisker ends at the 95th percentile; logarithmic"
    return bars("W3  One run alone", under, sorted(rows, key=lambda row: row.value)) if rows else None


def _memory(results: Results) -> str | None:
    rows = _rows(results, W5, "µs", False)
    under = (
        "microseconds a step of a run of three steps, less is better; whiskers over all rounds; logarithmic"
    )
    return bars("W5  In memory", under, rows) if rows else None


def _bars(results: Results) -> str | None:
    """Each bar as what was found in times of what was promised: right of the line it is kept."""
    rows = [row for bar in results.bars for row in _judged(bar)]
    under = "found in times of what is promised; right of the dashed line a bar is kept; logarithmic"
    return bars("What is promised, and what was found", under, rows, limit=1.0) if rows else None


def _judged(bar: Bar) -> Iterator[Row]:
    if bar.found is None:
        return
    ends = sorted(_times(bar, each) for each in bar.spread or (bar.found, bar.found))
    value = _times(bar, bar.found)
    yield Row(
        name=_shorter(bar.name),
        value=value,
        low=ends[0],
        high=ends[1],
        kind="kept" if bar.kept else "missed",
        text=f"{number(value)} ×",
    )


def _times(bar: Bar, found: float) -> float:
    """In times of what is promised; an idle processor at 0 % is no infinity."""
    return min(MOST, found / bar.bar if bar.least else bar.bar / max(found, bar.bar / MOST))


def _shorter(name: str) -> str:
    """For the margin of a chart; the table has the whole name."""
    for long, short in SHORTER:
        name = name.replace(long, short)
    return name


SHORTER = (
    (", beside the best durable neighbour there", " / durable peers"),
    (", beside DBOS on SQLite", " / DBOS"),
    (", part of the floor", " / floor"),
    (", beside the fastest that schedules each step", " / peers"),
    (", beside Celery's", " / Celery's"),
    (", beside its median", " / median"),
    (" on SQLite after launch", ""),
    (" a step in memory, beside ", " in memory / "),
    (", cost after a long past", ", long past"),
    (" over HTTP", ""),
    (", beside W1 of DBOS there", " / DBOS W1"),
    ("Two nodes beside one, in times of what the floor gains", "Two nodes / floor's gain"),
    ("PostgreSQL", "PG"),
)


def _growth(results: Results) -> str | None:
    if not results.growth:
        return None
    made = [
        Curve(
            title=each.name,
            under=f"{each.unit}, by {each.of}",
            points=[(point.x, point.y) for point in each.points],
        )
        for each in results.growth
    ]
    return curves(
        "How cost grows", "both axes are logarithmic; Penstock on SQLite, nodes on PostgreSQL", made
    )
