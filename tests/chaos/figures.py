"""What all experiments come to, as one table and one record.

Each experiment tells its figures with `tell`, under its name. At the end of the tests, however many processes they
ran in, they are shown, and written where PENSTOCK_FIGURES names a folder (see `tests.trust.figures`): the sums to
`chaos.json`, a flat map with every kind in FAULTS and every name in SUMS; each experiment by itself to
`experiments/chaos.json`:

    {"experiments": {NAME: {FIGURE: number or text, …}, …}, "faults": {KIND: count, …}, "total": {FIGURE: sum, …}}

What did not happen is 0. A promise that was broken
is a `lost`, `double-applied` or `stuck` above 0, and the test of its experiment failed; `other findings` are what
else was found wrong: a damaged file, an error that nobody foresaw, a process that ended by itself.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.trust import figures as trust

PROPERTY = "chaos"
FAULTS: dict[str, tuple[str, ...]] = {
    "kills": ("kills of nodes", "kills of workers", "kills of engines"),
    "pauses": ("stops of nodes", "stops of workers"),
    "partitions": ("partitions of nodes", "partitions of workers", "partitions of the standby"),
    "lost replies": ("lost replies of the database", "lost replies of nodes"),
    "broken lines": ("broken lines",),
    "slow lines": ("slow lines",),
    "database crashes": ("crashes of the database",),
    "failovers": ("failovers: primary killed", "failovers: primary cut off", "failovers: primary paused"),
    "disk full": ("disks full",),
    "slow fsyncs": ("slow fsyncs", "stalled commits"),
    "clock jumps": ("jumps of the database's clock", "nodes with a wrong clock"),
    "version skew": ("processes of the earlier release",),
    "floods": ("floods",),
}
"""Kind → the figures of experiments that count it."""
LOST, DOUBLED, STUCK = ("lost", "taken back", "told otherwise"), ("doubled",), ("stuck", "never begun")
OTHERS = ("torn", "ended otherwise", "tracebacks", "damage")
SUMS: dict[str, tuple[str, ...]] = {
    "operations": ("operations",),
    "operations that failed": ("operations that failed",),
    "runs verified": ("runs verified",),
    "tasks executed": ("tasks begun",),
    "duplicate executions": ("tasks begun again",),
    "duplicates suppressed": ("duplicates suppressed",),
    "late results rejected": ("late results rejected",),
    "lost": LOST,
    "double-applied": DOUBLED,
    "stuck": STUCK,
    "other findings": OTHERS,
    "seconds": ("seconds",),
}

Record = Callable[[str, object], None]


def tell(record: Record, name: str, figures: Mapping[str, Any]) -> None:
    """Hand the figures of an experiment to whoever gathers them: `record` is pytest's `record_property`."""
    record(PROPERTY, {"name": name, "figures": dict(figures)})


def gathered(told: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """All experiments, and their sums."""
    all_figures: Counter[str] = Counter()
    for each in told:
        all_figures.update({name: n for name, n in each["figures"].items() if isinstance(n, int | float)})

    def summed(names: Sequence[str]) -> Any:
        return round(sum(all_figures[name] for name in names), 1)

    return {
        "experiments": {
            each["name"]: each["figures"] for each in sorted(told, key=lambda each: str(each["name"]))
        },
        "faults": {kind: summed(names) for kind, names in FAULTS.items()},
        "total": {"chaos experiments": len(told)} | {name: summed(names) for name, names in SUMS.items()},
    }


def flat(record: Mapping[str, Any]) -> dict[str, Any]:
    """The sums under names of their own."""
    return {**record["faults"], **record["total"]}


def write(record: Mapping[str, Any], folder: Path) -> None:
    """Put it where `make trust` finds it."""
    trust.write("chaos", flat(record), folder)
    apart = folder / "experiments"
    apart.mkdir(exist_ok=True)
    (apart / "chaos.json").write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
