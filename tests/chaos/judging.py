"""All checkers together, and what happened in numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from penstock.store.open import open_store
from tests.chaos.checking import (
    Runs,
    all_ended,
    findings,
    never_begun,
    read_executions,
    read_runs,
    taken_back,
)
from tests.chaos.client import Client
from tests.chaos.crew import Crew, read_stats, tracebacks


class Verdict(Struct):
    """How it came out: figures, and promise → how it was broken."""

    runs: Runs
    figures: dict[str, Any]
    wrong: dict[str, list[str]]


async def settle(url: str, client: Client, crew: Crew, folder: Path) -> Verdict:
    """Wait until every run on a shared database has ended, stop everybody, and ask all the questions."""
    store = await open_store(url)
    try:
        rest = await all_ended(store)
        await crew.stop()
        runs, damage = await read_runs(store), await store.check()
    finally:
        await store.close()
    wrong = judge(runs, client, crew, folder) | {"damage": damage}
    figures = figures_of(client, crew, folder, runs, wrong) | {"seconds until all ended": rest}
    return Verdict(runs, figures, wrong)


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
    stats = counted(read_stats(folder))
    distinct = {(each.run, each.step) for each in executions}
    return {
        "processes started": sum(member.starts for member in crew.members),
        "of these in vain": crew.in_vain,
        "operations": client.asked,
        "operations that failed": client.failed,
        "slowest operation, seconds": client.slowest,
        "runs acknowledged": len(client.acknowledged),
        "runs verified": len(runs),
        "tasks begun": len(executions),
        "tasks begun again": len(executions) - len(distinct),
        "duplicates suppressed": client.repeated + stats.get("reports repeated", 0),
        **stats,
        **{name: len(said) for name, said in wrong.items()},
    }


def late_results(folder: Path) -> bool:
    """Whether a result came too late by now, and was not taken."""
    return counted(read_stats(folder)).get("late results rejected", 0) > 0


def most_succeeded(figures: Mapping[str, Any]) -> bool:
    """Whether at least four of five operations did: where all is refused, nothing is tried."""
    return bool(figures["operations that failed"] <= 0.2 * figures["operations"])


def counted(stats: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """What all processes have counted together."""
    found: Counter[str] = Counter()
    for each in stats:
        worker = each["worker"] or {}
        found["late results rejected"] += worker.get("worker.rejected", 0)
        found["reports given up"] += worker.get("worker.dropped", 0)
        if "due" not in each:  # a worker elsewhere: it has no node
            continue
        found["reports repeated"] += each["reports"]["repeated"]
        found["leases lost"] += each["due"]["lost"]
        found["decisions"] += each["decisions"]["made"]
        found["stale decisions"] += each["decisions"]["stale"]
        found["loops begun again"] += sum(each["loops"].values())
    return dict(found)
