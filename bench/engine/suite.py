"""`python -m bench.suites engine`: the durable engine beside its floor, on every store that is there."""

from __future__ import annotations

import json as json_text
import sys

from bench.engine.figures import Figure
from bench.engine.measure import Say, Sizes, measure
from bench.engine.places import Place, places
from bench.engine.report import lines, plain, report_on
from penstock.engine import event_loop


def main(json: bool = False, db: str | None = None, runs: int | None = None, quick: bool = False) -> int:
    """Measure and print; 0 where every promise was kept, else 1."""
    sizes = Sizes().quick() if quick else Sizes()
    if runs is not None:
        sizes = Sizes(runs=runs, idle=sizes.idle, past=sizes.past)
    with places(db) as found:
        report = report_on(event_loop.run(_measured(found, sizes, _say)))
    print(json_text.dumps(plain(report), indent=2) if json else "\n".join(lines(report)))
    return 0 if report.met else 1


async def _measured(found: list[Place], sizes: Sizes, say: Say) -> list[Figure]:
    return [figure for place in found for figure in await measure(place, sizes, say)]


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
