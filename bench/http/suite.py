"""`python -m bench.suites http`: the service beside the bare framework, on every store that is there."""

from __future__ import annotations

import json as json_text
import sys

from msgspec.structs import replace

from bench.engine.report import lines, plain, report_on
from bench.http.measure import Sizes, measure
from bench.http.places import places


def main(json: bool = False, db: str | None = None, runs: int | None = None, quick: bool = False) -> int:
    """Measure and print; 0 where every promise was kept, else 1."""
    sizes = Sizes().quick() if quick else Sizes()
    if runs is not None:
        sizes = replace(sizes, runs=runs)
    with places(db) as found:
        report = report_on([figure for place in found for figure in measure(place, sizes, _say)])
    print(json_text.dumps(plain(report), indent=2) if json else "\n".join(lines(report)))
    return 0 if report.met else 1


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
