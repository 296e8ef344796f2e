"""What is promised: each bar as a ratio of figures of the same round, the median of the rounds counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from statistics import median

from bench.results import Bar, Figure, Results
from bench.roster import BY_KEY, CONTESTANTS, OURS, STORES

NAMES = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}
FLOOR_BARS = {"sqlite": 0.30, "postgresql": 0.40}

Ratio = Callable[[float, float], float]


def bars(results: Results) -> list[Bar]:
    """All of them; one whose figures are missing says so."""
    found: list[Bar] = []
    for judge in (_chain, _fan, _latency, _first, _memory, _past, _remote, _nodes):
        found += judge(results)
    return found


def _ours(store: str) -> str:
    return f"{OURS}-{store}"


def best(results: Results, work: str, keys: Iterable[tuple[str, str]], most: bool) -> Figure | None:
    """Round by round the best of those contestants who have a figure of it."""
    figures = [figure.by_round for key, variant in keys if (figure := results.figure(key, work, variant))]
    if not figures:
        return None
    pick, rounds = max if most else min, sorted({number for each in figures for number in each})
    return Figure("", [pick(each[number] for each in figures if number in each) for number in rounds], rounds)


def round_by_round(ours: Figure | None, theirs: Figure | None, how: Ratio) -> list[float]:
    """Of each round of which both have a figure."""
    mine, others = ({} if figure is None else figure.by_round for figure in (ours, theirs))
    return [how(value, others[number]) for number, value in mine.items() if number in others]


def ratio(
    name: str, ours: Figure | None, theirs: Figure | None, bar: float, least: bool, how: Ratio, note: str = ""
) -> Bar:
    """The median over the rounds of which both have a figure."""
    found = round_by_round(ours, theirs, how)
    if not found:
        note, owed = note or "no figure", ours is None
        return Bar(name=name, found=None, bar=bar, least=least, unit="times", note=note, owed=owed)
    return Bar(
        name=name,
        found=median(found),
        bar=bar,
        least=least,
        unit="times",
        spread=(min(found), max(found)),
        note=note,
    )


def value(name: str, figure: Figure | None, bar: float, least: bool = False, unit: str = "") -> Bar:
    if figure is None:
        return Bar(name=name, found=None, bar=bar, least=least, unit=unit, note="no figure", owed=True)
    return Bar(
        name=name, found=figure.middle, bar=bar, least=least, unit=unit or figure.unit, spread=figure.spread
    )


def over(mine: float, other: float) -> float:
    return mine / other


def under(mine: float, other: float) -> float:
    return other / mine


def _every(*, durable: bool = False, separate: bool = False, store: str = "") -> list[tuple[str, str]]:
    """Neighbours with their variants."""
    return [
        (each.key, variant)
        for each in CONTESTANTS
        if each.peer != OURS and (each.durable or not durable) and (not store or each.store == store)
        for variant in (each.separate if separate else each.variants or ("",))
    ]


def winner(results: Results, work: str, keys: Sequence[tuple[str, str]], most: bool) -> str:
    """Who the best is, for people."""
    found = [
        (figure.middle, key, variant)
        for key, variant in keys
        if (figure := results.figure(key, work, variant))
    ]
    if not found:
        return "no figure"
    _, key, variant = (max if most else min)(found)
    there = {key for _, key, _ in found}
    absent = [BY_KEY[key].title for key in dict.fromkeys(key for key, _ in keys) if key not in there]
    best = f"the best: {BY_KEY[key].title}" + (f" ({BY_KEY[key].variants[variant]})" if variant else "")
    return best + (f"; no figure of {', '.join(absent)}" if absent else "")


def _chain(results: Results) -> Iterator[Bar]:
    ours = results.figure(_ours("postgresql"), "W1")
    there = _every(durable=True, store="postgresql")
    note, rival = winner(results, "W1", there, True), best(results, "W1", there, True)
    yield ratio(
        "W1 on PostgreSQL, beside the best durable neighbour there", ours, rival, 25, True, over, note
    )
    mine, theirs = results.figure(_ours("sqlite"), "W1"), results.figure("dbos-sqlite", "W1")
    yield ratio("W1 on SQLite, beside DBOS on SQLite", mine, theirs, 50, True, over)
    for store in reversed(STORES):
        name = f"W1 on {NAMES[store]}, part of the floor"
        yield value(name, results.figure(_ours(store), "W1 of floor"), FLOOR_BARS[store], True, "times")


def fastest(results: Results) -> str | None:
    """Where W1 on PostgreSQL stands beside the fastest durable neighbour of any kind, and where nobody can be above."""
    every = _every(durable=True)
    ours, rival = results.figure(_ours("postgresql"), "W1"), best(results, "W1", every, True)
    floor = results.figure(_ours("postgresql"), "floor W1")
    if ours is None or rival is None or floor is None:
        return None
    return (
        f"The fastest durable neighbour of any kind ({winner(results, 'W1', every, True)}) need not be on PostgreSQL:"
        f" beside it W1 on PostgreSQL is {over(ours.middle, rival.middle):.1f} times as fast, and the floor there"
        f" {over(floor.middle, rival.middle):.1f} times."
    )


def _fan(results: Results) -> Iterator[Bar]:
    keys = _every(separate=True)
    rival = best(results, "W2 1000", keys, False)
    note = winner(results, "W2 1000", keys, False)
    for store in STORES:
        name = f"W2 of 1,000 on {NAMES[store]}, beside the fastest that schedules each step"
        yield ratio(name, results.figure(_ours(store), "W2 1000"), rival, 5, True, under, note)


def _latency(results: Results) -> Iterator[Bar]:
    celery = results.figure("celery", "W3 median")
    for store in STORES:
        middle, high = _middle_and_high(results, store, "W3")
        yield ratio(f"W3 median on {NAMES[store]}, beside Celery's", middle, celery, 1, False, over)
        low, top = _middle_and_high(results, store, "floor W3")
        bare = round_by_round(top, low, over)
        note = f"without an engine {median(bare):.2f}" if high and bare else ""
        yield ratio(f"W3 p95 on {NAMES[store]}, beside its median", high, middle, 2, False, over, note)


def _middle_and_high(results: Results, store: str, work: str) -> tuple[Figure | None, Figure | None]:
    middle, high = (results.figure(_ours(store), f"{work} {part}") for part in ("median", "p95"))
    return middle, high


def _first(results: Results) -> Iterator[Bar]:
    key = _ours("sqlite")
    yield value("W4 first run on SQLite after launch", results.figure(key, "W4 first run"), 1.0)
    yield value("W4 idle processor", results.figure(key, "W4 processor"), 1.0)
    yield value("W4 idle memory", results.figure(key, "W4 memory"), 90.0)


def _memory(results: Results) -> Iterator[Bar]:
    ours = results.figure("penstock-memory", "W5 run small")
    for key, bar in (("snakes", 1.0), ("langgraph", 0.1)):
        theirs = results.figure(key, "W5 run small")
        yield ratio(f"W5 a step in memory, beside {key}", ours, theirs, bar, False, over)


def _past(results: Results) -> Iterator[Bar]:
    for store in STORES:
        figure = results.figure(_ours(store), "W6")
        yield value(f"W6 on {NAMES[store]}, cost after a long past", figure, 1.2, unit="times")


def _remote(results: Results) -> Iterator[Bar]:
    for store in STORES:
        ours, theirs = results.figure(_ours(store), "W7"), results.figure(f"dbos-{store}", "W1")
        yield ratio(f"W7 over HTTP on {NAMES[store]}, beside W1 of DBOS there", ours, theirs, 10, True, over)


def _nodes(results: Results) -> Iterator[Bar]:
    figure = results.figure(_ours("postgresql"), "nodes of floor")
    yield value("Two nodes beside one, in times of what the floor gains", figure, 0.9, True, "times")
