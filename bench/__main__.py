"""`make bench`: Penstock beside its neighbours. Writes bench/results, prints every bar; 1 where one is missed."""

from __future__ import annotations

import argparse
import compileall
import signal
import sys
import time
from itertools import chain, count
from pathlib import Path

from msgspec import DecodeError
from msgspec.structs import replace

from bench.bars import bars
from bench.charts import charts
from bench.comparison import QUICK, Plan, Say, measure
from bench.publishing import publish
from bench.results import Results, decode, encode
from bench.roster import HOME
from bench.table import bar_lines, table

RESULTS = HOME / "results"
SOURCE = HOME.parent / "src" / "penstock"


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument(
        "--quick",
        action="store_true",
        help="short rounds, the neighbours in one of them: within five minutes",
    )
    parser.add_argument(
        "--minutes", type=float, help="nobody gets another turn after that; the table says who had none"
    )
    parser.add_argument(
        "--show", metavar="FILE", type=Path, help="write table and charts of a JSON file anew"
    )
    parser.add_argument("--docs", action="store_true", help="put the figures into docs/performance.md, too")
    parser.add_argument("--to", metavar="FOLDER", type=Path, default=RESULTS)
    asked = parser.parse_args(arguments)
    if asked.show:
        try:
            results, stem = decode(asked.show.read_bytes()), asked.show.stem
            results.bars = bars(results)
        except (OSError, DecodeError) as error:
            parser.error(f"{asked.show} cannot be read: {error}")
    else:
        # As an installer leaves a package: the neighbours were installed, and nobody compiles at each launch.
        compileall.compile_dir(SOURCE, quiet=2)
        plan = QUICK if asked.quick else Plan()
        if asked.minutes is not None:
            plan = replace(plan, budget=60 * asked.minutes)
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # nothing is left behind then, either
        results = measure(plan, _saying())
        stem = _free(asked.to, f"{results.began[:10]}-{results.kind}")
    write(results, asked.to, stem)
    if asked.docs:
        publish(results)
    print("\n".join(bar_lines(results)))
    print(f"\nThe table is {asked.to / stem}.md")
    return 0 if results.met else 1


def _free(folder: Path, stem: str) -> str:
    """A name that no earlier measurement of the day has."""
    names = chain([stem], (f"{stem}-{number}" for number in count(2)))
    return next(name for name in names if not (folder / f"{name}.json").exists())


def write(results: Results, folder: Path, stem: str) -> None:
    """The JSON, the table, and a chart a question."""
    folder.mkdir(parents=True, exist_ok=True)
    drawn = charts(results)
    (folder / f"{stem}.json").write_bytes(encode(results) + b"\n")
    for name, svg in drawn.items():
        (folder / f"{stem}-{name}.svg").write_text(svg, encoding="utf-8")
    pictures = [f"{stem}-{name}.svg" for name in drawn]
    (folder / f"{stem}.md").write_text(table(results, pictures), encoding="utf-8")


def _saying() -> Say:
    began = time.monotonic()

    def say(text: str) -> None:
        print(f"{time.monotonic() - began:6.0f} s  {text}", file=sys.stderr, flush=True)

    return say


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
