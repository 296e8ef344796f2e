"""What many simulations come to, as one table: what was tried, what went wrong on purpose, and what it cost."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from penstock.flow.occurrence import Done
from penstock.testing.faults import Tally
from tests.simulation.evidence import Evidence
from tests.simulation.world import Simulated

LOST = ("acknowledged_starts_are_there", "accepted_results_are_in_the_history", "acknowledged_cancels_cancel")
DOUBLE = ("each_firing_happens_once", "at_most_one_result_is_accepted", "duplicates_are_suppressed")
STUCK = ("every_run_ends", "nothing_breaks_down")
"""Checkers by what it means for a user when they find something."""

RARE = (
    "a customer asks again",
    "an event comes before its run",
    "an event is a duplicate",
    "a report is repeated",
    "a report is superseded",
    "a worker learns that its lease is lost",
    "a real worker gives up work",
    "work given back",
    "a run is held",
    "the workflow is held",
    "the installation is held",
    "a failed run is retried",
    "node.killed",
    "node.paused",
    "node.stopped",
    "worker.killed",
    "worker.paused",
    "worker.stopped",
    "store.clock.jumped",
    "store.rows.unreadable",
    "store.cut",
    "store.commit.lost",
    "store.commit.refused",
    "store.lease.lost",
    "gate.report.lost",
    "gate.report.twice",
)
"""What must have happened in some seed: else the simulation says nothing about it."""


class Figures:
    """Counts over many seeds."""

    def __init__(self) -> None:
        self.tally = Tally()
        self.counts: Counter[str] = Counter()
        self.virtual = 0.0
        self.found: dict[int, dict[str, list[str]]] = {}

    def add(self, simulated: Simulated) -> None:
        self.tally.add(simulated.faults)
        self.virtual += simulated.fingerprint[1]
        for name, checkers in (("lost", LOST), ("double-applied", DOUBLE), ("stuck", STUCK)):
            self.counts[name] += sum(len(simulated.found.get(checker, ())) for checker in checkers)
        if simulated.found:
            self.found[simulated.seed] = simulated.found
        if simulated.evidence is not None:
            self.counts.update(_counts(simulated.evidence))

    def rows(self) -> dict[str, Any]:
        """Name → figure, in the order in which they are read."""
        tally, counts = self.tally, self.counts
        kinds = Counter(_kind(point) for point in tally.struck.elements())
        missed = tally.never(RARE)
        return {
            "seeds": tally.seeds,
            "virtual hours": round(self.virtual / 3600, 2),
            "calls answered": tally.calls["answered"],
            "calls failed": tally.calls["failed"],
            **{f"faults: {kind}": count for kind, count in sorted(kinds.items())},
            "faults": kinds.total(),
            "kills": tally.struck["node.killed"] + tally.struck["worker.killed"],
            "runs verified": counts["runs"],
            "tasks executed": counts["tasks"],
            "duplicate executions": counts["again"],
            "late results rejected": counts["late"],
            "duplicates suppressed": counts["duplicates"],
            "lost": counts["lost"],
            "double-applied": counts["double-applied"],
            "stuck": counts["stuck"],
            "seeds with a violation": len(self.found),
            "rare paths hit": f"{len(RARE) - len(missed)}/{len(RARE)}",
        }


def _kind(point: str) -> str:
    """What befell, wherever: `store.commit.lost` and `gate.beat.lost` are lost answers."""
    first, last = point.split(".")[0], point.rpartition(".")[2]
    return f"{first} {last}" if first in ("node", "worker") else last


def _counts(evidence: Evidence) -> dict[str, int]:
    ledger = evidence.ledger
    done = {told.report.lease for told in ledger.told if isinstance(told.report.outcome, Done)}
    elements = {(lease.run, lease.firing, lease.index) for lease in done}
    verdicts = Counter(told.verdict for told in ledger.told)
    answers = Counter(answer for answers in ledger.emitted.values() for answer in answers)
    asked_again = sum(len(runs) - 1 for runs in ledger.starts.values())
    return {
        "runs": len(evidence.runs),
        "tasks": len(ledger.held),
        "again": len(done) - len(elements),
        "late": verdicts["superseded"] + verdicts["conflict"],
        "duplicates": verdicts["repeated"] + answers["duplicate"] + asked_again,
    }


def table(rows: Mapping[str, Any]) -> str:
    """The figures under each other."""
    width = max(map(len, rows))
    return "\n".join(f"  {name:<{width}}  {value}" for name, value in rows.items())


def write_json(path: str, rows: Mapping[str, Any]) -> None:
    Path(path).write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")


def with_planted(
    rows: dict[str, Any], planted: Sequence[Mapping[str, Any]], seconds: float
) -> dict[str, Any]:
    """The figures together with how many planted bugs were found."""
    caught = [each for each in planted if each["seed"] is not None]
    scars = {each["scar"] for each in caught if each["scar"].startswith("N")}
    return {
        **rows,
        "planted bugs caught": f"{len(caught)}/{len(planted)}",
        "scars of neighbours caught": " ".join(sorted(scars, key=lambda scar: int(scar[1:]))),
        "seconds": round(seconds, 1),
    }
