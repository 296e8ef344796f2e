"""One kind of cost at a time: what is measured, and against which bar, is in docs/reference/speed.md."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping

from bench.engine import suite as engine
from bench.http import suite as http
from bench.net import suite as net
from bench.sources import suite as sources

SUITES: Mapping[str, Callable[..., int]] = {
    "net": net.main,
    "engine": engine.main,
    "http": http.main,
    "sources": sources.main,
}
LEAST_RUNS = 3


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.suites", description=__doc__)
    suites = parser.add_subparsers(dest="suite", metavar="SUITE", required=True, help=", ".join(SUITES))
    for name in SUITES:
        suite = suites.add_parser(name)
        suite.add_argument("--json", action="store_true", help="print the figures as JSON")
        if name != "net":
            suite.add_argument("--db", metavar="URL", help="an empty database, not those it makes by itself")
            suite.add_argument("--runs", metavar="N", type=_runs, help="runs at saturation")
            suite.add_argument("--quick", action="store_true", help="fewer runs, and a shorter past")
    asked = vars(parser.parse_args(arguments))
    return SUITES[asked.pop("suite")](**asked)


def _runs(text: str) -> int:
    number = int(text)
    if number < LEAST_RUNS:
        raise argparse.ArgumentTypeError(f"at least {LEAST_RUNS}")
    return number


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
