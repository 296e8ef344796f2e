"""Many more seeds than the tests play: `make soak`, or `python -m tests.simulation.soak --seeds 1000`.

One seed again, and which of its faults matter: `python -m tests.simulation.soak --seed 4711 --small --shrink`.
"""

from __future__ import annotations

import argparse
import logging
import sys
import time

from tests.simulation.engine import EnginePlug
from tests.simulation.figures import Figures
from tests.simulation.replaying import again, commit, shrunk
from tests.simulation.world import SMALL, Scale, Simulated, simulate
from tests.trust.figures import table, write


def main() -> int:
    """Play seeds until there are enough or the time is over; 1 where one of them found something."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulation.soak", description=__doc__)
    parser.add_argument("--seeds", type=int, default=500, help="how many seeds (500)")
    parser.add_argument("--first", type=int, default=100_000, help="the first of them (100000)")
    parser.add_argument("--seconds", type=float, default=600, help="and how long at most (600)")
    parser.add_argument("--small", action="store_true", help="small ones, ten in the time of one")
    parser.add_argument("--seed", type=int, help="this one alone")
    parser.add_argument("--shrink", action="store_true", help="find the faults that matter where one fails")
    options = parser.parse_args()
    logging.getLogger("penstock").setLevel(logging.CRITICAL + 1)
    scale = SMALL if options.small else Scale()
    alone = options.seed is not None
    seeds = [options.seed] if alone else range(options.first, options.first + options.seeds)
    figures, began = Figures(), time.monotonic()
    for seed in seeds:
        if time.monotonic() - began > options.seconds:
            break
        simulated = simulate(EnginePlug(), seed, scale)
        figures.add(simulated)
        if simulated.found:
            _tell(simulated, scale, options.shrink)
    rows = {**figures.rows(), "seconds": round(time.monotonic() - began, 1), "commit": commit()}
    print(table(rows))
    write("soak", rows)
    return 1 if figures.found else 0


def _tell(simulated: Simulated, scale: Scale, shrink: bool) -> None:
    for checker, said in simulated.found.items():
        print(f"seed {simulated.seed}, commit {commit()}: {checker}: {said[:3]}", flush=True)
    print(f"  again: {again(simulated.seed, scale)}", flush=True)
    if shrink:
        few = shrunk(simulated, scale)
        print(f"  of {len(simulated.faults.struck)} faults these matter: {few}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
