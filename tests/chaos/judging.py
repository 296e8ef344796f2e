"""All checkers together, and one table of what happened, for people and as JSON."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.chaos.checking import Runs, findings, never_begun, read_executions, taken_back
from tests.chaos.client import Client
from tests.chaos.crew import Crew, read_stats, tracebacks

FIGURES = "PENSTOCK_FIGURES"
"""The variable with a folder that keeps the figures of each test as JSON."""


def judge(runs: Runs, client: Client, crew: Crew, folder: Path) -> dict[str, list[str]]:
    """Promise → how it was broken."""
    executions = read_executions(folder / "ledger")
    return findings(runs, client.acknowledged) | {
        "never begun": never_begun(runs, executions),
        "taken back": list(taken_back(runs, executions)),
        "told otherwise": client.wrong,
        "ended otherwise": crew.wrong_ends,
        "tracebacks": tracebacks(folder),
    }


def figures_of(
    client: Client, crew: Crew, folder: Path, runs: Runs, wrong: Mapping[str, Sequence[str]]
) -> dict[str, Any]:
    """What happened, in numbers."""
    executions = read_executions(folder / "ledger")
    distinct = {(each.run, each.step) for each in executions}
    return {
        "processes started": sum(member.starts for member in crew.members),
        "of these in vain": crew.in_vain,
        "operations": client.asked,
        "operations that failed": client.failed,
        "slowest operation, seconds": client.slowest,
        "runs acknowledged": len(client.acknowledged),
        "runs in the store": len(runs),
        "tasks begun": len(executions),
        "tasks begun again": len(executions) - len(distinct),
        **counted(read_stats(folder)),
        **{name: len(said) for name, said in wrong.items()},
    }


def counted(stats: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """What all processes have counted together."""
    found: Counter[str] = Counter()
    for each in stats:
        worker = each["worker"] or {}
        found["late reports rejected"] += worker.get("worker.rejected", 0)
        found["reports given up"] += worker.get("worker.dropped", 0)
        found["leases lost"] += each["due"]["lost"]
        found["decisions"] += each["decisions"]["made"]
        found["stale decisions"] += each["decisions"]["stale"]
        found["loops begun again"] += sum(each["loops"].values())
    return dict(found)


def tell(name: str, folder: Path, figures: Mapping[str, Any]) -> None:
    """Print the table, and write it as JSON."""
    width = max(len(label) for label in figures)
    print(f"\n{name}")
    for label, value in figures.items():
        shown = f"{value:,.1f}" if isinstance(value, float) else f"{value:,}"
        print(f"  {label:<{width}}  {shown:>10}")
    kept = Path(os.environ.get(FIGURES, folder))
    kept.mkdir(parents=True, exist_ok=True)
    (kept / f"{name}.json").write_text(json.dumps(dict(figures), indent=2) + "\n", encoding="utf-8")
