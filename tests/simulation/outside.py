"""What must hold for those who ask from outside: what they are shown, sent away from, decide, publish and schedule."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import datetime
from itertools import pairwise

from penstock.flow.model.run import ENDED
from penstock.flow.model.run_input import Done
from penstock.store.rows.rows import Lease
from tests.simulation.evidence import Decided, Evidence, Look, Ran, Told, seconds
from tests.simulation.workload import POISON_TRIES, TICK

LATE_TICK = 30.0
"""Seconds by which the run of a tick may be late at the end: its feeder may have to be found first."""


def lists_show_what_was_acknowledged(evidence: Evidence) -> Iterator[str]:
    """C1: who asks after a start was acknowledged is shown the run, in lists as by its id."""
    for look in evidence.ledger.looks:
        if look.kind == "list":
            for run in sorted(look.known - look.answer.keys()):
                yield f"run {run}, told before {look.asked:.3f}, is not in the list of {look.told:.3f}"
        elif look.answer == "unknown":
            yield f"{look.kind} of run {look.run} at {look.told:.3f} says that there is none"


def what_is_over_stays_over(evidence: Evidence) -> Iterator[str]:
    """C1: who was shown that a run has ended is never shown anything else later, nor is anybody else."""
    over: list[tuple[float, str, str]] = []
    for look in sorted(evidence.ledger.looks, key=lambda look: look.told):
        shown = _shown(look)
        for told, run, status in over:
            if told < look.asked and run in shown and shown[run] != status:
                yield f"run {run} had {status} at {told:.3f}, and at {look.told:.3f} it is {shown[run]}"
        over += [
            (look.told, run, status)
            for run, status in shown.items()
            if status in ENDED and not _comes_back(evidence.runs.get(run))
        ]


def _comes_back(ran: Ran | None) -> bool:
    """Somebody retries those of `mend` when they failed."""
    return ran is not None and ran.workflow == "mend"


def _shown(look: Look) -> dict[str, str]:
    if look.kind == "list":
        return dict(look.answer)
    return {look.run: look.answer[0]} if look.kind == "show" and look.answer != "unknown" else {}


def cancelled_runs_are_shown_so(evidence: Evidence) -> Iterator[str]:
    """C15: who asks after a cancel was acknowledged sees a run that is canceled, or about to be."""
    for look in evidence.ledger.looks:
        at = evidence.ledger.canceled.get(look.run)
        if look.kind == "show" and at is not None and at < look.asked and "canceled" not in look.answer:
            yield f"run {look.run}, canceled at {at:.3f}, is shown as {look.answer} at {look.told:.3f}"


def history_is_shown_without_gaps(evidence: Evidence) -> Iterator[str]:
    """C8: a reader sees the first so many entries, never fewer than anybody saw before, and never others."""
    longest: defaultdict[str, list[tuple[float, int]]] = defaultdict(list)
    for look in sorted(evidence.ledger.looks, key=lambda look: look.told):
        if look.kind != "history" or look.answer == "unknown":
            continue
        numbers = [seq for seq, _, _ in look.answer]
        if numbers != list(range(1, len(numbers) + 1)):
            yield f"the history of run {look.run} shows entries {numbers} at {look.told:.3f}"
        before = max((many for told, many in longest[look.run] if told < look.asked), default=0)
        if len(numbers) < before:
            yield f"the history of run {look.run} had {before} entries, and {len(numbers)} at {look.told:.3f}"
        longest[look.run].append((look.told, len(numbers)))
        ran = evidence.runs.get(look.run)
        kept = [] if ran is None else [(each.seq, each.kind, each.step) for each in ran.history]
        if list(map(tuple, look.answer)) != kept[: len(numbers)]:
            yield f"the history of run {look.run} at {look.told:.3f} is not how the kept one begins"


def runs_keep_their_version(evidence: Evidence) -> Iterator[str]:
    """C11: a run is of the newest version when it began, and goes by it to its end."""
    ledger = evidence.ledger
    for order in evidence.orders:
        ran = evidence.run_of(order)
        if ran is None:
            continue
        known = [each for each in ledger.published if each.workflow == order.workflow]
        least = max((each.version for each in known if each.told < ledger.asked[order.key]), default=1)
        if ran.version < least:
            yield f"run {ran.id} is of version {ran.version}, though {least} was there when it was asked for"
    for ran in evidence.runs.values():
        strange = {entry.step for entry in ran.history if entry.step} - ran.flow.steps.keys()
        if strange:
            yield f"run {ran.id} of version {ran.version} did {sorted(strange)}, which is of another version"


def each_tick_starts_one_run(evidence: Evidence) -> Iterator[str]:
    """C10: one run for each tick of a schedule, none left out, none before its time."""
    if evidence.ticks is None:
        return
    ticks = Counter[float]()
    for ran in evidence.runs.values():
        if ran.workflow == "clock":
            tick = seconds(datetime.fromisoformat(ran.snapshot.run.input["scheduled_at"]))
            ticks[tick] += 1
            if seconds(ran.history[0].at) < tick:
                yield f"the run of tick {tick:.0f} began at {seconds(ran.history[0].at):.3f}"
    yield from (f"tick {tick:.0f} made {count} runs" for tick, count in sorted(ticks.items()) if count > 1)
    for one, two in pairwise(sorted(ticks)):
        if two != one + TICK:
            yield f"after tick {one:.0f} came tick {two:.0f}"
    if max(ticks, default=0.0) < evidence.ticks[1] - LATE_TICK:
        yield f"the last tick of {evidence.ticks[1]:.0f} seconds is {max(ticks, default=0.0):.0f}"


def poison_is_given_up(evidence: Evidence) -> Iterator[str]:
    """C13: a task that kills its worker is tried as often as its step says, and then its run fails."""
    tried = Counter(held.lease.run for held in evidence.ledger.held)
    for ran in evidence.runs.values():
        if ran.workflow != "poison":
            continue
        attempts = max(
            (held.lease.attempt for held in evidence.ledger.held if held.lease.run == ran.id), default=0
        )
        if attempts > POISON_TRIES:
            yield f"run {ran.id} had {attempts} attempts, handed out {tried[ran.id]} times"
        if ran.snapshot.status not in ("failed", "running", "waiting", "paused"):
            yield f"run {ran.id} {ran.snapshot.status}, though its task kills every worker"


def who_is_sent_away_did_nothing(evidence: Evidence) -> Iterator[str]:
    """C14: a refusal comes before anything is done, and who was not refused is served."""
    there = Counter(ran.snapshot.run.subject for ran in evidence.runs.values() if ran.workflow == "visit")
    for key, code in evidence.ledger.refused.items():
        if there[key]:
            yield f"{key} was sent away ({code}), and its run is there"
    for key, run in evidence.ledger.visits.items():
        if run not in evidence.runs or there[key] != 1:
            yield f"{key} was told run {run}; there are {there[key]} of it"
    yield from (f"there are {there[key]} runs of {key}" for key in evidence.ledger.unsure if there[key] > 1)


def approvals_are_decided_once(evidence: Evidence) -> Iterator[str]:
    """C17: one decision counts, everybody is told the same, and never is it of who may not decide."""
    for decided in evidence.ledger.decided:
        ran = evidence.runs.get(decided.run)
        ends = [] if ran is None else [each for each in ran.entries("ended") if each.step == "ask"]
        if len(ends) != 1:
            yield f"the approval of run {decided.run} ended {len(ends)} times"
            continue
        said = ends[0].data
        counts = f"{said['by']}: {said['decision']}"
        if decided.told not in (counts, "late", "barred"):
            yield f"{decided.who} was told '{decided.told}' of run {decided.run}, and it is '{counts}'"
        if decided.who == "ann" and (decided.told == counts or said["by"] == "ann"):
            yield f"ann decided about run {decided.run}, which she had started"


def acts_are_on_record(evidence: Evidence) -> Iterator[str]:
    """C18: who did what is written down together with it, for whatever was acknowledged."""
    record = Counter((row.actor, row.action, row.target) for row in evidence.record)
    acts = [("ann", "cancel_run", run) for run in evidence.ledger.canceled]
    acts += [("ann", "pause_run", pause.run) for pause in evidence.ledger.paused]
    acts += [(each.who, "decide_approval", each.run) for each in _winners(evidence)]
    for act in acts:
        if not record[act]:
            yield f"nothing on record of {' '.join(act)}"


def _winners(evidence: Evidence) -> Iterator[Decided]:
    for each in evidence.ledger.decided:
        if each.told == f"{each.who}: {each.wanted}":
            yield each


def a_repeated_report_is_answered_as_the_first(evidence: Evidence) -> Iterator[str]:
    """C6: the same result again is as good as the first; another one for the same attempt is not."""
    first: dict[Lease, Told] = {}
    for told in evidence.ledger.told:
        lease = told.report.lease
        taken = first.get(lease)
        if taken is None:
            if told.verdict == "accepted":
                first[lease] = told
            continue
        same = taken.report.outcome == told.report.outcome
        if same and told.verdict not in ("accepted", "repeated"):
            yield f"the same report for {lease} was accepted at {taken.at:.3f}, and is {told.verdict} now"
        if not same and isinstance(told.report.outcome, Done) and told.verdict in ("accepted", "repeated"):
            yield f"another report for {lease} is {told.verdict}, after one was accepted at {taken.at:.3f}"


CHECKERS = (
    lists_show_what_was_acknowledged,
    what_is_over_stays_over,
    cancelled_runs_are_shown_so,
    history_is_shown_without_gaps,
    runs_keep_their_version,
    each_tick_starts_one_run,
    poison_is_given_up,
    who_is_sent_away_did_nothing,
    approvals_are_decided_once,
    acts_are_on_record,
    a_repeated_report_is_answered_as_the_first,
)
