"""What must hold after every simulation: each promise has its own checker, for one may hide another."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from itertools import pairwise

from penstock.flow.model.plan import Entry
from penstock.flow.model.run import ENDED
from penstock.flow.model.run_input import Done, Failed
from penstock.flow.views.replay import BrokenHistory, fold
from penstock.store.rows.rows import Lease
from tests.simulation import outside
from tests.simulation.evidence import Evidence, Held, Ran, Told, moment, seconds
from tests.simulation.workload import FAILURES, FIRINGS, NEXT_FIRINGS, WAIT, Order

Checker = Callable[[Evidence], Iterator[str]]

SLACK = 45.0
"""Seconds between a decision and its commit, at most: its node may be paused, and the way to the store slow."""


LAG = 45.0
"""Seconds by which what a node knows of the store's time may be late: the slowest answer, heard after a pause."""


PROMPT = 120.0
"""Seconds within which the loss of a task is seen at the latest: all nodes may be away for most of the trouble."""


def acknowledged_starts_are_there(evidence: Evidence) -> Iterator[str]:
    """C1: what a caller was told survives everything."""
    for order in evidence.orders:
        for run in evidence.ledger.starts.get(order.key, ()):
            if run not in evidence.runs:
                yield f"{order.key} was told run {run}, which is not there"
        if order.key not in evidence.ledger.starts:
            yield f"{order.key} was never answered, though the faults had stopped"


def customers_get_no_errors(evidence: Evidence) -> Iterator[str]:
    """What is away for a while is told as such: nobody is told that his run is damaged."""
    yield from evidence.ledger.errors


def every_run_ends(evidence: Evidence) -> Iterator[str]:
    """C4: nothing is stuck once the faults have stopped."""
    if not evidence.in_time:
        yield "not everything ended within its time after the last fault"
    for ran in evidence.runs.values():
        if ran.snapshot.status not in ENDED:
            yield f"run {ran.id} of {ran.workflow} is {ran.snapshot.status} for ever"
    for what, count in evidence.left.items():
        if count:
            yield f"{count} {what} are left when every run has ended"


def every_run_comes_to_what_it_should(evidence: Evidence) -> Iterator[str]:
    """The whole of it, seen by the customer: the right end with the right result."""
    for order in evidence.orders:
        ran = evidence.run_of(order)
        if ran is None or ran.snapshot.status not in ENDED:
            continue
        status = ran.snapshot.status
        wanted = {"succeeded", "canceled"} if order.cancel_after is not None else {"succeeded"}
        if order.workflow == "poison":
            wanted = {"failed"}
        if status not in wanted:
            yield f"{order.key}: run {ran.id} of {order.workflow} {status}: {ran.snapshot.error}"
        elif status == "succeeded" and order.cancel_after is None and not _right(evidence, order, ran):
            yield f"{order.key}: run {ran.id} came to {ran.snapshot.result!r}"


def _right(evidence: Evidence, order: Order, ran: Ran) -> bool:
    """Whether the result is that of the run's version, or of its child's where the child does the work."""
    children = [each.version for each in evidence.runs.values() if each.snapshot.run.parent == ran.id]
    return bool(ran.snapshot.result == order.result(children[0] if children else ran.version))


def history_has_no_gaps(evidence: Evidence) -> Iterator[str]:
    """C8: the entries of a run are numbered without gaps, up to the one that its state says."""
    for ran in evidence.runs.values():
        numbers = [entry.seq for entry in ran.history]
        if numbers != list(range(1, ran.snapshot.seq + 1)):
            gaps = [f"{one} → {two}" for one, two in pairwise([0, *numbers]) if two != one + 1]
            yield f"run {ran.id} at {ran.snapshot.seq} has {len(numbers)} entries; gaps: {gaps[:5]}"
        # Each node knows the store's time from its last answer, which may have been late.
        lag = LAG + sum(far for _, far in evidence.ledger.jumps)
        if any(seconds(after.at) < seconds(before.at) - lag for before, after in pairwise(ran.history)):
            yield f"the time goes back in the history of run {ran.id}"


def history_folds_to_the_marking(evidence: Evidence) -> Iterator[str]:
    """C2: the stored state is what the history says."""
    for ran in evidence.runs.values():
        try:
            folded = fold(ran.flow, ran.history)
        except (BrokenHistory, KeyError, AssertionError) as error:
            yield f"the history of run {ran.id} cannot have happened: {error!r}"
            continue
        if folded.tokens != ran.snapshot.marking.tokens:
            yield f"the history of run {ran.id} folds to another marking than the stored one"


def each_firing_happens_once(evidence: Evidence) -> Iterator[str]:
    """C3: a step fires as often as the net says, and each firing ends once."""
    for ran in evidence.runs.values():
        fired = Counter(entry.step for entry in ran.entries("fired"))
        wanted = FIRINGS.get(ran.workflow) if ran.version == 1 else NEXT_FIRINGS
        if ran.snapshot.status == "succeeded" and wanted is not None and dict(fired) != wanted:
            yield f"the steps of run {ran.id} of {ran.workflow} fired {dict(fired)}, not {wanted}"
        ends = Counter(
            entry.firing for entry in ran.history if entry.kind in ("ended", "withdrawn") and entry.firing
        )
        begun = Counter(entry.seq for entry in ran.entries("fired"))
        if ran.snapshot.status in ENDED and ends != begun:
            yield f"firings of run {ran.id}: begun {sorted(begun.elements())}, ended {sorted(ends.elements())}"


def at_most_one_result_is_accepted(evidence: Evidence) -> Iterator[str]:
    """C5: of one attempt one report is accepted, and of all attempts one result."""
    accepted = [told for told in evidence.ledger.told if told.verdict == "accepted"]
    for lease, count in Counter(told.report.lease for told in accepted).items():
        if count > 1:
            yield f"{count} reports for {lease} were accepted"
    done = Counter(_element(told) for told in accepted if isinstance(told.report.outcome, Done))
    for element, count in done.items():
        if count > 1:
            yield f"{count} results for {element} were accepted"


def only_the_last_holder_is_heard(evidence: Evidence) -> Iterator[str]:
    """C5: once a task was given to somebody else, the result of who had it before is not taken."""
    last: dict[tuple[str, int, int], tuple[int, int]] = {}
    for held in evidence.ledger.held:
        lease = held.lease
        element, rank = (lease.run, lease.firing, lease.index), (lease.attempt, lease.fence)
        last[element] = max(rank, last.get(element, (0, 0)))
    for told in evidence.ledger.told:
        lease = told.report.lease
        if told.verdict != "accepted" or not isinstance(told.report.outcome, Done):
            continue
        if (lease.attempt, lease.fence) < last.get(_element(told), (0, 0)):
            yield f"the result of {lease} was accepted, though {last[_element(told)]} was given by then"


def accepted_results_are_in_the_history(evidence: Evidence) -> Iterator[str]:
    """C1 and C6: the result that a worker was told is taken is the one that the run goes on with."""
    for told in evidence.ledger.told:
        outcome, lease = told.report.outcome, told.report.lease
        if told.verdict not in ("accepted", "repeated") or not isinstance(outcome, Done):
            continue
        ran = evidence.runs.get(lease.run)
        if ran is None or not any(_is_result(entry, told) for entry in ran.history):
            yield f"the result of {lease} was {told.verdict} and is not in the history"


def _is_result(entry: Entry, told: Told) -> bool:
    lease, outcome = told.report.lease, told.report.outcome
    if entry.firing != lease.firing or not isinstance(outcome, Done):
        return False
    if entry.kind == "ended" and lease.index < 0:
        return entry.attempt == lease.attempt and entry.data == outcome.output
    if entry.kind == "attempt" and isinstance(entry.data, dict) and entry.data.get("index") == lease.index:
        return entry.attempt == lease.attempt and entry.data.get("output") == outcome.output
    return False


def late_reports_change_nothing(evidence: Evidence) -> Iterator[str]:
    """C5: a result that was refused is not in the history, unless it had been accepted before."""
    taken = {told.report.lease for told in evidence.ledger.told if told.verdict in ("accepted", "repeated")}
    for told in evidence.ledger.told:
        ran = evidence.runs.get(told.report.lease.run)
        if told.verdict != "superseded" or told.report.lease in taken or ran is None:
            continue
        ended = next((entry for entry in ran.history if _is_result(entry, told)), None)
        if ended is not None and _committed_at(evidence, ran, ended) >= told.at:
            yield f"the result of {told.report.lease} was refused and taken later"


def _committed_at(evidence: Evidence, ran: Ran, entry: Entry) -> float:
    return min(
        (each.at for each in evidence.ledger.written if each.run == ran.id and each.seq >= entry.seq),
        default=0.0,
    )


def no_timer_rings_early(evidence: Evidence) -> Iterator[str]:
    """C9: by the true time, which is the store's."""
    for timer, at in evidence.ledger.rung:
        if timer.due > moment(at):
            yield f"a timer of run {timer.run} due at {timer.due} was handed out at {moment(at)}"
    for ran in evidence.runs.values():
        if ran.workflow != "timer":
            continue
        for begun in ran.entries("fired"):
            ended = [each for each in ran.entries("ended") if each.firing == begun.seq]
            if begun.step == "rest" and ended and seconds(ended[0].at) < seconds(begun.at) + WAIT:
                yield f"run {ran.id} waited from {begun.at} to {ended[0].at} only"


def history_is_stamped_by_the_stores_clock(evidence: Evidence) -> Iterator[str]:
    """C9: the clocks of nodes do not matter, however wrong they are."""
    written: defaultdict[str, list[tuple[int, float]]] = defaultdict(list)
    for each in evidence.ledger.written:
        written[each.run].append((each.seq, each.at))
    for ran in evidence.runs.values():
        commits = iter(sorted(written[ran.id]))
        last, at = next(commits, (0, 0.0))
        for entry in ran.history:
            while entry.seq > last:
                last, at = next(commits, (entry.seq, at))
            if not at - SLACK - evidence.ledger.late(at) <= seconds(entry.at) <= at + 0.001:
                yield f"entry {entry.seq} of run {ran.id} says {entry.at}, and was committed at {moment(at)}"
                break


def no_lease_is_stolen_early(evidence: Evidence) -> Iterator[str]:
    """C9: nobody else gets a task as long as its holder may count on it; fencing would hide that."""
    holders: defaultdict[tuple[str, int, int], list[Held]] = defaultdict(list)
    for held in sorted(evidence.ledger.held, key=lambda held: (held.lease.fence, held.at)):
        lease = held.lease
        holders[lease.run, lease.firing, lease.index].append(held)
    for element, all_held in holders.items():
        for before, after in pairwise(sorted(all_held, key=lambda held: held.at)):
            if after.at < before.over:
                yield (
                    f"{element} was given to {after.worker} at {after.at:.3f}, though {before.worker} had it "
                    f"until {before.over:.3f}"
                )


def fences_only_rise(evidence: Evidence) -> Iterator[str]:
    """C5: each lease of an attempt has a higher fence than the one before; none is given twice."""
    for lease, count in Counter(held.lease for held in evidence.ledger.held).items():
        if count > 1:
            yield f"{lease} was given {count} times"
    fences: dict[tuple[str, int, int], tuple[int, int]] = {}
    for held in sorted(evidence.ledger.held, key=lambda held: held.at):  # a paused node may hand it on late
        lease = held.lease
        element, rank = (lease.run, lease.firing, lease.index), (lease.attempt, lease.fence)
        if rank < fences.get(element, (0, 0)):
            yield f"{element} was given as attempt and fence {rank} after {fences[element]}"
        fences[element] = max(rank, fences.get(element, (0, 0)))


def serialized_steps_never_overlap(evidence: Evidence) -> Iterator[str]:
    """R: two firings with one key are never under way at once."""
    by_key: defaultdict[str, list[Held]] = defaultdict(list)
    for held in evidence.ledger.held:
        ran = evidence.runs.get(held.lease.run)
        if ran is not None and ran.workflow == "serial":
            by_key[held.data["user"]].append(held)
    for key, all_held in by_key.items():
        for before, after in pairwise(sorted(all_held, key=lambda held: held.at)):
            if before.lease.run != after.lease.run and after.at < before.over:
                yield (
                    f"key {key}: run {after.lease.run} began at {after.at:.3f}, run {before.lease.run} had it "
                    f"until {before.over:.3f}"
                )


def duplicates_are_suppressed(evidence: Evidence) -> Iterator[str]:
    """C7: asking twice gives one run, sending twice one event."""
    for key, runs in evidence.ledger.starts.items():
        if len(set(runs)) > 1:
            yield f"{key} was told different runs: {sorted(set(runs))}"
    wanted = Counter(order.workflow for order in evidence.orders)
    there = Counter(
        ran.workflow
        for ran in evidence.runs.values()
        if ran.snapshot.run.parent is None and ran.workflow not in ("visit", "clock")
    )
    if there != wanted:
        yield f"there are runs {dict(there)}, though {dict(wanted)} were ordered"
    for ran in evidence.runs.values():
        came = Counter(entry.event for entry in ran.entries("event") if entry.step is None)
        if came["finished"] > 1:
            yield f"the event of run {ran.id} came {came['finished']} times"


def children_begin_once(evidence: Evidence) -> Iterator[str]:
    """A firing of a sub-workflow has one child, however often its start was tried."""
    children = Counter(ran.snapshot.run.parent for ran in evidence.runs.values())
    for ran in evidence.runs.values():
        if ran.workflow == "parent" and ran.snapshot.status == "succeeded" and children[ran.id] != 1:
            yield f"run {ran.id} has {children[ran.id]} children"


def cancelling_is_final(evidence: Evidence) -> Iterator[str]:
    """C15: after the acknowledgement nothing but the clean-up is handed out, and it runs once."""
    for run, at in evidence.ledger.canceled.items():
        ran = evidence.runs.get(run)
        for held in evidence.ledger.held:
            if held.lease.run == run and held.step != "undo" and held.at > at:
                yield f"step {held.step} of run {run} was handed out after it was canceled"
        if ran is not None and ran.snapshot.status == "canceled":
            undone = [entry for entry in ran.entries("ended") if entry.step == "undo"]
            if len(undone) != 1:
                yield f"the clean-up of run {run} ran {len(undone)} times"


def acknowledged_cancels_cancel(evidence: Evidence) -> Iterator[str]:
    """C1: who was told that a run is canceled finds it canceled."""
    for run in evidence.ledger.canceled:
        ran = evidence.runs.get(run)
        if ran is not None and ran.snapshot.status in ENDED and ran.snapshot.status != "canceled":
            yield f"run {run} {ran.snapshot.status}, though its cancelling was acknowledged"


def failures_are_tried_again(evidence: Evidence) -> Iterator[str]:
    """An attempt that failed or was lost is in the history once, and a failure does not cost two."""
    for ran in evidence.runs.values():
        tried = Counter(
            (entry.firing, entry.data.get("index"), entry.attempt)
            for entry in ran.entries("attempt")
            if isinstance(entry.data, dict)
        )
        twice = sorted(str(each) for each, count in tried.items() if count > 1)
        if twice:
            yield f"attempts of run {ran.id} that are told twice: {twice}"
        errors = [entry.data.get("error") or {} for entry in ran.entries("attempt")]
        failed = sum(error.get("kind") == "error" for error in errors)
        if ran.workflow == "flaky" and failed > FAILURES:
            yield f"run {ran.id} failed {failed} times, and its task only {FAILURES} times"


def lost_work_is_tried_again_in_time(evidence: Evidence) -> Iterator[str]:
    """C4: once a lease is over, somebody else gets the task, or the run hears of it, within a lease or two."""
    ledger = evidence.ledger
    told = {_try(each.report.lease) for each in ledger.told}
    latest: dict[tuple[str, int, int, int], float] = {}
    for held in ledger.held:
        latest[_try(held.lease)] = max(held.over, latest.get(_try(held.lease), 0.0))
    for this, over in latest.items():
        ran = evidence.runs.get(this[0])
        if this in told or ran is None:
            continue
        heard = (seconds(entry.at) for entry in ran.history if _hears(entry, this))
        if all(at > over + PROMPT + ledger.late(at) for at in heard):
            yield f"{this} was lost at {over:.3f}, and nobody cared for {PROMPT:.0f} s"


def _hears(entry: Entry, tried: tuple[str, int, int, int]) -> bool:
    """Whether the history says how an attempt ended, or that it does not matter any more."""
    _, firing, index, attempt = tried
    if entry.firing != firing:
        return False
    if entry.kind == "attempt":
        return entry.attempt == attempt and (entry.data["index"] in (index, None))
    return entry.kind in ("ended", "withdrawn")


def paused_runs_get_no_work(evidence: Evidence) -> Iterator[str]:
    """Who was told that a run is held sees nothing of it begin until he lets it go on."""
    for pause in evidence.ledger.paused:
        for held in evidence.ledger.held:
            if held.lease.run == pause.run and pause.since < held.at < pause.until:
                yield f"step {held.step} of run {pause.run} was handed out at {held.at:.3f}, while it was held"


def nothing_starts_while_its_workflow_is_held(evidence: Evidence) -> Iterator[str]:
    """A run that is made while its workflow or the installation is held gets no work."""
    orders = {order.key: order for order in evidence.orders}
    for key, runs in evidence.ledger.starts.items():
        begun = [held for held in evidence.ledger.held if held.lease.run == runs[0]]
        made = min((each.at for each in evidence.ledger.written if each.run == runs[0]), default=0.0)
        for halt in evidence.ledger.halted:
            mine = halt.workflow in (None, orders[key].workflow)
            asked = evidence.ledger.asked.get(key, 0.0)
            if mine and halt.since < asked <= made < halt.until:
                yield from (
                    f"step {held.step} of run {runs[0]} was handed out at {held.at:.3f}, while it was held"
                    for held in begun
                    if held.at < halt.until and held.step != "undo"  # a run that ends is not held any more
                )


def healthy_work_takes_one_attempt(evidence: Evidence) -> Iterator[str]:
    """However long a task is, its worker beats: nobody else gets it."""
    gone = evidence.ledger.stopped.keys() | evidence.ledger.poisoned
    yield from _repeated(evidence, lambda worker: worker not in gone)


def a_graceful_stop_costs_no_attempt(evidence: Evidence) -> Iterator[str]:
    """A worker that is stopped finishes what it has begun, and gives the rest back."""
    stopped = evidence.ledger.stopped.keys() - evidence.ledger.poisoned
    yield from _repeated(evidence, lambda worker: worker in stopped)


def _repeated(evidence: Evidence, chosen: Callable[[str], bool]) -> Iterator[str]:
    """Work of the calm part that was tried again after one of the chosen workers had it, though it did not fail."""
    calm = {
        evidence.ledger.starts[order.key][0]
        for order in evidence.orders
        if order.calm and evidence.run_of(order)
    }
    failed = {
        _try(told.report.lease) for told in evidence.ledger.told if isinstance(told.report.outcome, Failed)
    }
    tried = {_try(held.lease) for held in evidence.ledger.held}
    for held in evidence.ledger.held:
        this = _try(held.lease)
        again = (*this[:3], this[3] + 1) in tried
        if held.lease.run in calm and again and this not in failed and chosen(held.worker):
            yield f"{held.lease} was healthy in the hands of {held.worker}, and was tried again"


def _try(lease: Lease) -> tuple[str, int, int, int]:
    return lease.run, lease.firing, lease.index, lease.attempt


def the_store_is_whole(evidence: Evidence) -> Iterator[str]:
    """The store finds nothing wrong with its rows."""
    yield from evidence.damage


def _element(told: Told) -> tuple[str, int, int]:
    lease = told.report.lease
    return lease.run, lease.firing, lease.index


CHECKERS: tuple[Checker, ...] = (
    acknowledged_starts_are_there,
    customers_get_no_errors,
    every_run_ends,
    every_run_comes_to_what_it_should,
    history_has_no_gaps,
    history_folds_to_the_marking,
    each_firing_happens_once,
    at_most_one_result_is_accepted,
    only_the_last_holder_is_heard,
    accepted_results_are_in_the_history,
    late_reports_change_nothing,
    no_timer_rings_early,
    history_is_stamped_by_the_stores_clock,
    no_lease_is_stolen_early,
    fences_only_rise,
    serialized_steps_never_overlap,
    duplicates_are_suppressed,
    children_begin_once,
    cancelling_is_final,
    acknowledged_cancels_cancel,
    failures_are_tried_again,
    lost_work_is_tried_again_in_time,
    paused_runs_get_no_work,
    nothing_starts_while_its_workflow_is_held,
    healthy_work_takes_one_attempt,
    a_graceful_stop_costs_no_attempt,
    the_store_is_whole,
    *outside.CHECKERS,
)


def violations(evidence: Evidence) -> dict[str, list[str]]:
    """Checker → what it found; those that found nothing are left out."""
    found = {checker.__name__: list(checker(evidence)) for checker in CHECKERS}
    return {name: said for name, said in found.items() if said}
