"""Each checker of what is seen from outside finds what it is there for."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from msgspec.structs import replace

from penstock.flow.model.run_input import Done
from penstock.flow.views.run_view import time_text
from penstock.runtime.dispatch.gate import Report
from tests.simulation import outside
from tests.simulation.checkers import violations
from tests.simulation.evidence import BEGIN, Decided, Evidence, Look, Pause, Published, Ran, moment
from tests.simulation.test_checkers import good


def _run(evidence: Evidence, workflow: str) -> Ran:
    return next(ran for ran in evidence.runs.values() if ran.workflow == workflow)


def _look(evidence: Evidence, kind: str, run: str, answer: object, at: float = 90.0) -> None:
    known = frozenset(evidence.ledger.started)
    evidence.ledger.looks.append(Look(kind, run, at, at + 0.1, answer, known))


def _as(evidence: Evidence, workflow: str, **header: object) -> Evidence:
    """The run of `chain` as one of another workflow."""
    ran = _run(evidence, "chain")
    run = replace(ran.snapshot.run, workflow=workflow, **header)
    return replace(
        evidence, runs={**evidence.runs, ran.id: replace(ran, snapshot=replace(ran.snapshot, run=run))}
    )


def leave_out_of_a_list(evidence: Evidence) -> Evidence:
    _look(evidence, "list", "run-1", {"run-2": "succeeded"})
    return evidence


def deny_a_run(evidence: Evidence) -> Evidence:
    _look(evidence, "show", "run-1", "unknown")
    return evidence


def bring_back(evidence: Evidence) -> Evidence:
    _look(evidence, "show", "run-1", ("succeeded", None), 90)
    _look(evidence, "show", "run-1", ("running", None), 91)
    return evidence


def show_a_cancelled_run_as_if_nothing_was(evidence: Evidence) -> Evidence:
    _look(evidence, "show", _run(evidence, "cancel").id, ("running", None))
    return evidence


def _told(evidence: Evidence) -> list[tuple[int, str, str | None]]:
    return [(each.seq, each.kind, each.step) for each in _run(evidence, "chain").history]


def skip_an_entry(evidence: Evidence) -> Evidence:
    told = _told(evidence)
    _look(evidence, "history", "run-1", [told[0], *told[2:]])
    return evidence


def shorten_a_history(evidence: Evidence) -> Evidence:
    _look(evidence, "history", "run-1", _told(evidence), 90)
    _look(evidence, "history", "run-1", _told(evidence)[:2], 91)
    return evidence


def show_another_history(evidence: Evidence) -> Evidence:
    _look(evidence, "history", "run-1", [(1, "event", "b")])
    return evidence


def start_an_old_version(evidence: Evidence) -> Evidence:
    evidence.ledger.published.append(Published("chain", 2, -2.0, -1.0))
    return evidence


def do_a_step_of_another_version(evidence: Evidence) -> Evidence:
    ran = _run(evidence, "chain")
    history = [replace(each, step="z") if each.step == "c" else each for each in ran.history]
    return replace(evidence, runs={**evidence.runs, ran.id: replace(ran, history=history)})


def _ticks(evidence: Evidence, *ticks: float) -> Evidence:
    """A clock that made runs for these ticks, each begun a moment later."""
    ran, runs = _run(evidence, "chain"), dict(evidence.runs)
    for number, tick in enumerate(ticks):
        input = {"scheduled_at": time_text(moment(tick))}
        run = replace(ran.snapshot.run, id=f"tick-{number}", workflow="clock", input=input)
        history = [replace(each, at=moment(tick) + timedelta(seconds=1)) for each in ran.history]
        runs[run.id] = replace(ran, snapshot=replace(ran.snapshot, run=run), history=history)
    return replace(evidence, runs=runs, ticks=(0.0, 20.0))


def tick_twice(evidence: Evidence) -> Evidence:
    return _ticks(evidence, 4, 8, 8, 12, 16)


def leave_a_tick_out(evidence: Evidence) -> Evidence:
    return _ticks(evidence, 4, 12, 16)


def tick_no_more(evidence: Evidence) -> Evidence:
    return replace(_ticks(evidence, 4, 8), ticks=(0.0, 80.0))


def tick_too_early(evidence: Evidence) -> Evidence:
    early = _ticks(evidence, 4)
    ran = early.runs["tick-0"]
    return replace(
        early, runs={**early.runs, "tick-0": replace(ran, history=[replace(ran.history[0], at=BEGIN)])}
    )


def try_poison_again_and_again(evidence: Evidence) -> Evidence:
    poison = _as(evidence, "poison")
    held = next(held for held in evidence.ledger.held if held.lease.run == "run-1")
    evidence.ledger.held.append(replace(held, lease=replace(held.lease, attempt=5)))
    return poison


def send_away_and_do_it(evidence: Evidence) -> Evidence:
    evidence.ledger.refused["visit-1"] = "rate_limited"
    return _as(evidence, "visit", subject="visit-1")


def serve_and_forget(evidence: Evidence) -> Evidence:
    evidence.ledger.visits["visit-1"] = "run-77"
    return evidence


def _approved(evidence: Evidence, by: str, *decided: Decided) -> Evidence:
    ran = _run(evidence, "chain")
    history = [
        replace(each, step="ask", data={"by": by, "decision": "approved"}) if each.kind == "ended" else each
        for each in ran.history
        if each.kind != "ended" or each.step == "a"
    ]
    evidence.ledger.decided += decided
    return replace(evidence, runs={**evidence.runs, ran.id: replace(ran, history=history)})


def tell_two_that_they_decided(evidence: Evidence) -> Evidence:
    both = [
        Decided("run-1", "ben", "approved", "ben: approved"),
        Decided("run-1", "cem", "rejected", "cem: rejected"),
    ]
    return _approved(evidence, "ben", *both)


def let_her_decide_herself(evidence: Evidence) -> Evidence:
    return _approved(evidence, "ann", Decided("run-1", "ann", "approved", "ann: approved"))


def decide_nothing(evidence: Evidence) -> Evidence:
    evidence.ledger.decided.append(Decided("run-1", "ben", "approved", "ben: approved"))
    return evidence


def write_nothing_down(evidence: Evidence) -> Evidence:
    evidence.ledger.paused.append(Pause("run-1", 90.0, 91.0))
    return evidence


def refuse_what_was_accepted(evidence: Evidence) -> Evidence:
    evidence.ledger.told.append(replace(evidence.ledger.told[0], verdict="superseded", at=99.0))
    return evidence


def accept_two_results(evidence: Evidence) -> Evidence:
    told = evidence.ledger.told[0]
    other = Report(told.report.lease, Done(output={"n": 99}))
    evidence.ledger.told.append(replace(told, report=other, verdict="repeated", at=99.0))
    return evidence


PLANTED: list[tuple[Callable[[Evidence], Evidence], str]] = [
    (leave_out_of_a_list, "lists_show_what_was_acknowledged"),
    (deny_a_run, "lists_show_what_was_acknowledged"),
    (bring_back, "what_is_over_stays_over"),
    (show_a_cancelled_run_as_if_nothing_was, "cancelled_runs_are_shown_so"),
    (skip_an_entry, "history_is_shown_without_gaps"),
    (shorten_a_history, "history_is_shown_without_gaps"),
    (show_another_history, "history_is_shown_without_gaps"),
    (start_an_old_version, "runs_keep_their_version"),
    (do_a_step_of_another_version, "runs_keep_their_version"),
    (tick_twice, "each_tick_starts_one_run"),
    (leave_a_tick_out, "each_tick_starts_one_run"),
    (tick_no_more, "each_tick_starts_one_run"),
    (tick_too_early, "each_tick_starts_one_run"),
    (try_poison_again_and_again, "poison_is_given_up"),
    (send_away_and_do_it, "who_is_sent_away_did_nothing"),
    (serve_and_forget, "who_is_sent_away_did_nothing"),
    (tell_two_that_they_decided, "approvals_are_decided_once"),
    (let_her_decide_herself, "approvals_are_decided_once"),
    (decide_nothing, "approvals_are_decided_once"),
    (write_nothing_down, "acts_are_on_record"),
    (refuse_what_was_accepted, "a_repeated_report_is_answered_as_the_first"),
    (accept_two_results, "a_repeated_report_is_answered_as_the_first"),
]


@pytest.mark.parametrize(("plant", "checker"), PLANTED, ids=[plant.__name__ for plant, _ in PLANTED])
def test_what_is_planted_is_found(plant: Callable[[Evidence], Evidence], checker: str) -> None:
    assert checker in violations(plant(good()))


def test_every_checker_has_something_planted_for_it() -> None:
    assert {checker.__name__ for checker in outside.CHECKERS} == {name for _, name in PLANTED}
