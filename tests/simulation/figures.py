"""What many simulations come to, as one table and one record.

Seeds are played in parts, in any number of processes. `Figures.part` is what one part counted, in plain values;
`rows` of all parts together is the record: a flat map from the name of a figure to a number, or to a text `n/m`.
`tests.trust.figures.write` keeps it as `simulation.json` where PENSTOCK_FIGURES names a folder:

    seeds, virtual hours        how much was played
    operations                  calls over a wire: of nodes to the store, of workers and customers to nodes
    operations that failed      of them, those that a fault befell
    faults, faults: KIND        faults that happened on purpose, all and by kind (killed, lost, cut, jumped …)
    kills                       of nodes and workers
    runs verified               runs whose history, state, result and answers every checker has seen
    tasks executed, duplicate executions        a task is done at least once
    late results rejected, duplicates suppressed
    lost, double-applied, stuck                 findings of the checkers in LOST, DOUBLE and STUCK: must be 0
    seeds with a violation      seeds in which any checker found anything: must be 0
    rare paths hit              `n/m`: of the paths in RARE, those that some seed took
    planted bugs caught         `n/m`
    guarantees with a planted bug, scars of neighbours caught       their names
    seconds                     of one core
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from penstock.flow.model.run_input import Done
from tests.simulation.evidence import Evidence
from tests.simulation.world import Simulated

LOST = (
    "acknowledged_starts_are_there",
    "accepted_results_are_in_the_history",
    "acknowledged_cancels_cancel",
    "lists_show_what_was_acknowledged",
    "each_tick_starts_one_run",
)
DOUBLE = (
    "each_firing_happens_once",
    "at_most_one_result_is_accepted",
    "duplicates_are_suppressed",
    "children_begin_once",
    "approvals_are_decided_once",
)
STUCK = ("every_run_ends", "nothing_breaks_down")
"""Checkers by what it means for a user when they find something."""

RARE = (
    "a customer asks again",
    "a customer hears no_server",
    "a customer hears server_away",
    "a customer hears store_away",
    "a customer hears store_full",
    "a customer hears rate_limited",
    "a visitor is sent away: rate_limited",
    "an event comes before its run",
    "an event is a duplicate",
    "a report is repeated",
    "a report is superseded",
    "a worker comes over HTTP",
    "a worker learns that its lease is lost",
    "a real worker gives up work",
    "a task kills its worker",
    "work given back",
    "a run is held",
    "the workflow is held",
    "the installation is held",
    "a failed run is retried",
    "a new version is published",
    "somebody else was faster to decide",
    "somebody asks: list",
    "somebody asks: show",
    "somebody asks: history",
    "somebody asks: why",
    "node.killed",
    "node.paused",
    "node.stopped",
    "worker.killed",
    "worker.paused",
    "worker.stopped",
    "store.clock.jumped",
    "store.rows.unreadable",
    "store.bell.deaf",
    "store.full",
    "store.cut",
    "store.commit.lost",
    "store.commit.refused",
    "store.lease.lost",
    "gate.report.lost",
    "gate.report.twice",
    "work.poll.lost",
    "work.report.lost",
    "work.report.twice",
    "http.cut",
    "http.start.lost",
    "http.start.twice",
    "http.cancel.lost",
    "http.decide.lost",
    "http.emit.lost",
)
"""What must have happened in some seed: else the simulation says nothing about it."""


class Figures:
    """Counts over many seeds."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.struck: Counter[str] = Counter()
        self.seen: Counter[str] = Counter()
        self.virtual = 0.0
        self.found: dict[int, dict[str, list[str]]] = {}

    @classmethod
    def of(cls, parts: Iterable[Mapping[str, Any]]) -> Figures:
        """All parts together."""
        all = cls()
        for part in parts:
            all.counts.update(part["counts"])
            all.struck.update(part["struck"])
            all.seen.update(part["seen"])
            all.virtual += part["virtual"]
        return all

    def part(self) -> dict[str, Any]:
        """What was counted, in plain values."""
        rare = {name: count for name, count in self.seen.items() if name in RARE}
        return {
            "counts": dict(self.counts),
            "struck": dict(self.struck),
            "seen": rare,
            "virtual": self.virtual,
        }

    def add(self, simulated: Simulated) -> None:
        faults = simulated.faults
        self.struck.update(point for point, _ in faults.struck)
        self.seen += faults.seen
        self.virtual += simulated.fingerprint[1]
        self.counts.update(seeds=1, answered=faults.calls["answered"], failed=faults.calls["failed"])
        for name, checkers in (("lost", LOST), ("double-applied", DOUBLE), ("stuck", STUCK)):
            self.counts[name] += sum(len(simulated.found.get(checker, ())) for checker in checkers)
        if simulated.found:
            self.found[simulated.seed] = simulated.found
            self.counts["violated"] += 1
        if simulated.evidence is not None:
            self.counts.update(_counts(simulated.evidence))

    def never(self) -> list[str]:
        """What should have happened sometimes and did not: the simulation says nothing about it."""
        return [name for name in RARE if not self.seen[name] and not self.struck[name]]

    def rows(self) -> dict[str, Any]:
        """Name → figure, in the order in which they are read."""
        counts = self.counts
        kinds = Counter[str]()
        for point, count in self.struck.items():
            kinds[_kind(point)] += count
        return {
            "seeds": counts["seeds"],
            "virtual hours": round(self.virtual / 3600, 2),
            "operations": counts["answered"] + counts["failed"],
            "operations that failed": counts["failed"],
            **{f"faults: {kind}": count for kind, count in sorted(kinds.items())},
            "faults": kinds.total(),
            "kills": self.struck["node.killed"] + self.struck["worker.killed"],
            "runs verified": counts["runs"],
            "tasks executed": counts["tasks"],
            "duplicate executions": counts["again"],
            "late results rejected": counts["late"],
            "duplicates suppressed": counts["duplicates"],
            "lost": counts["lost"],
            "double-applied": counts["double-applied"],
            "stuck": counts["stuck"],
            "seeds with a violation": counts["violated"],
            "rare paths hit": f"{len(RARE) - len(self.never())}/{len(RARE)}",
        }


def _kind(point: str) -> str:
    """What befell, wherever: `store.commit.lost` and `http.start.lost` are lost answers."""
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


def recorded_rows(recorded: Sequence[tuple[str, Any, float]]) -> dict[str, Any]:
    """The record of what tests have told: parts as `figures` and bugs as `planted`, each with its seconds."""
    rows = Figures.of(value for name, value, _ in recorded if name == "figures").rows()
    seconds = sum(took for name, _, took in recorded if name in ("figures", "planted"))
    return {**rows, **planted_rows(recorded), "seconds": round(seconds, 1)}


def planted_rows(recorded: Sequence[tuple[str, Any, float]]) -> dict[str, Any]:
    """The bugs alone; nothing where none was planted."""
    planted = [value for name, value, _ in recorded if name == "planted"]
    caught = [each for each in planted if each["seed"] is not None]
    scars = {each["scar"] for each in caught}
    if not planted:
        return {}
    return {
        "planted bugs caught": f"{len(caught)}/{len(planted)}",
        "guarantees with a planted bug": _numbered(scars, "C"),
        "scars of neighbours caught": _numbered(scars, "N"),
    }


def _numbered(scars: Iterable[str], letter: str) -> str:
    found = (scar for scar in scars if scar.startswith(letter))
    return " ".join(sorted(found, key=lambda scar: int(scar[1:])))
