"""`python -m tests.fuzz [TARGET …]`: fuzz decoders, each in a process of its own, and print what came of it as JSON.

A crash is kept in `--keep`, so that it can be tried again: `python -m tests.fuzz TARGET --again FILE`.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from tests.fuzz.running import Limits, fuzzed, load

PLANTED_RUNS = 60_000
"""Inputs after which a bug that is planted must have been found."""


def main() -> int:
    """1 where a target has crashed."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET")
    parser.add_argument("--runs", type=int, default=2_000, help="inputs for each target")
    parser.add_argument("--seconds", type=int, default=0, help="go on for so long instead")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--plain", action="store_true", help="without atheris: no knowledge of coverage")
    parser.add_argument("--planted", choices=("no", "also", "only"), default="no", help="with a bug in each")
    parser.add_argument(
        "--keep", type=Path, help="a folder for inputs that crash, and for those that are new"
    )
    parser.add_argument("--again", type=Path, help="try one input")
    options = parser.parse_args()
    targets = load(options.plain or options.again is not None)
    wanted = options.targets or list(targets)
    if options.again:
        targets[wanted[0]](options.again.read_bytes())
        return 0
    found = []
    for planted in {"no": (False,), "also": (False, True), "only": (True,)}[options.planted]:
        runs, seconds = (PLANTED_RUNS, 0) if planted else (options.runs, options.seconds)
        limits = Limits(runs, seconds, options.seed, options.plain, planted, options.keep)
        found += [fuzzed(name, targets[name], limits) for name in wanted]
    print(json.dumps(found, indent=2))
    return int(any(each["crash"] for each in found))


if __name__ == "__main__":
    sys.exit(main())
