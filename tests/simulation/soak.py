"""Many more seeds than the tests play: `make soak`, or `python -m tests.simulation.soak --seeds 1000`."""

from __future__ import annotations

import argparse
import logging
import os
import sys
import time

from tests.simulation.engine import EnginePlug
from tests.simulation.figures import Figures, table, write_json
from tests.simulation.world import simulate


def main() -> int:
    """Play seeds until there are enough or the time is over; 1 where one of them found something."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulation.soak", description=__doc__)
    parser.add_argument("--seeds", type=int, default=500, help="how many seeds (500)")
    parser.add_argument("--first", type=int, default=1000, help="the first of them (1000)")
    parser.add_argument("--seconds", type=float, default=600, help="and how long at most (600)")
    options = parser.parse_args()
    logging.getLogger("penstock").setLevel(logging.CRITICAL + 1)
    figures, began = Figures(), time.monotonic()
    for seed in range(options.first, options.first + options.seeds):
        if time.monotonic() - began > options.seconds:
            break
        simulated = simulate(EnginePlug(), seed)
        figures.add(simulated)
        for checker, said in simulated.found.items():
            print(f"seed {seed}: {checker}: {said[:3]}", flush=True)
    rows = {**figures.rows(), "seconds": round(time.monotonic() - began, 1)}
    print(table(rows))
    if path := os.environ.get("PENSTOCK_FIGURES"):
        write_json(path, rows)
    return 1 if figures.found else 0


if __name__ == "__main__":
    sys.exit(main())
