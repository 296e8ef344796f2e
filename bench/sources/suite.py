"""`python -m bench.suites sources`: notifications of objects that start runs, a search over very many keys, calls."""

from __future__ import annotations

import asyncio
import json as json_text
import sys

from bench.engine.figures import Figure
from bench.engine.places import Place, places
from bench.engine.report import lines, plain, report_on
from bench.sources.calling import called
from bench.sources.notifying import notified
from bench.sources.searching import searched_by_itself
from penstock.engine import event_loop

NOTIFICATIONS, KEYS, SECONDS = 10_000, 1_000_000, 4.0
NOTIFICATIONS_BAR, MEMORY_BAR, CALL_BAR = 1_000.0, 150.0, 1.0


def main(json: bool = False, db: str | None = None, runs: int | None = None, quick: bool = False) -> int:
    """Measure and print; 0 where every promise was kept, else 1."""
    told = runs or (NOTIFICATIONS // 5 if quick else NOTIFICATIONS)
    with places(db) as found:
        figures = [figure for place in found for figure in _taken(place, told)]
    figures += _search(KEYS // 20 if quick else KEYS)
    figures += _call(SECONDS / 4 if quick else SECONDS)
    report = report_on(figures)
    print(json_text.dumps(plain(report), indent=2) if json else "\n".join(lines(report)))
    return 0 if report.met else 1


def _taken(place: Place, number: int) -> list[Figure]:
    _say(f"{place.name}: {number:,} notifications of objects, each of which starts a run")
    found = event_loop.run(notified(place.url, number))
    bar = NOTIFICATIONS_BAR if place.name == "sqlite" else None
    work = "O1 notifications of objects"
    return [
        Figure(store=place.name, work=work, value=found.per_s, unit="/s", bar=bar, least=True),
        Figure(store=place.name, work="O1 processor for one", value=found.processor, unit="ms"),
    ]


def _search(keys: int) -> list[Figure]:
    _say(f"a search over {keys:,} keys of an S3 that answers at once")
    found = asyncio.run(searched_by_itself(keys))
    return [
        Figure(store="s3", work=f"O2 search of {keys:,} keys", value=found.looked / found.seconds, unit="/s"),
        Figure(store="s3", work="O2 search, memory", value=found.memory, unit="MB", bar=MEMORY_BAR),
    ]


def _call(seconds: float) -> list[Figure]:
    """Nothing is stored on the way: which store there is makes no difference."""
    _say("a call of three steps beside an empty request, one at a time")
    found = called("memory:", seconds)
    return [
        Figure(store="memory", work="O3 call of 3 steps: p50", value=found.call, unit="ms"),
        Figure(
            store="memory", work="O3 more than an empty request", value=found.adds, unit="ms", bar=CALL_BAR
        ),
    ]


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
