"""Each checker finds what it is there for: one that never fails is no evidence."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import pytest
from immutables import Map
from msgspec.structs import replace

from penstock.engine.authoring.loader import load
from penstock.flow.compile.compile import Flow
from penstock.flow.model.plan import Attempt, Entry
from penstock.flow.model.run import ElementKey, RunId
from penstock.flow.model.run_input import Done
from penstock.kernel.marking import Marking
from penstock.runtime.dispatch.gate import Assignment, Report
from penstock.runtime.inmemory.engine import InMemoryEngine
from penstock.runtime.inmemory.executor import Report as Reporting
from penstock.runtime.inmemory.play import play_out
from penstock.runtime.node.clock import VirtualClock
from penstock.store.rows.access import AuditRow
from penstock.store.rows.change import WHOLE
from penstock.store.rows.rows import DueTimer, Lease
from penstock.workers.execute.inline import InlineExecutor
from penstock.workers.task import tasks_of
from tests.simulation import outside
from tests.simulation.checkers import CHECKERS, violations
from tests.simulation.evidence import (
    BEGIN,
    Evidence,
    Halt,
    Ledger,
    Pause,
    Ran,
    Told,
    Written,
    moment,
    seconds,
)
from tests.simulation.workload import DEFINITIONS, Order


class _Clock:
    """Time as a test sets it."""

    def __init__(self) -> None:
        self.at = 0.0

    def time(self) -> float:
        return self.at


class _Executor(InlineExecutor):
    """Does what is asked at once; tasks that are named `long` do not end."""

    def begin(self, attempt: Attempt, report: Reporting) -> None:
        if attempt.task != "long":
            super().begin(attempt, report)

    def withdraw(self, run: RunId, element: ElementKey) -> None:
        pass


def _flow(name: str) -> Flow:
    return load(DEFINITIONS[name]).flow


def _echo(n: int) -> dict[str, int]:
    return {"n": n}


def good() -> Evidence:
    """Five runs that went well, on a host in memory, with the ledger of a faultless world."""
    clock, numbers, wall = VirtualClock(BEGIN), count(1), _Clock()
    host = InMemoryEngine(
        clock, _Executor(tasks_of({"echo": _echo, "slow": _echo})), lambda: f"run-{next(numbers)}"
    )
    ledger, all_orders, runs = Ledger(wall), list[Order](), dict[str, Ran]()
    for workflow in ("chain", "timer", "serial", "serial", "cancel"):
        wall.at = seconds(clock.now())
        order = Order(
            key=f"order-{len(all_orders)}",
            workflow=workflow,
            input={"n": 1, "user": "ann"},
            at=wall.at,
            again=False,
            cancel_after=0 if workflow == "cancel" else None,
        )
        run = host.start(_flow(workflow), input=order.input)
        ledger.starts[order.key].append(run)
        ledger.started[run] = ledger.asked[order.key] = wall.at
        if workflow == "cancel":
            host.cancel(run)
            ledger.canceled[run] = wall.at
        play_out(host, clock, run)
        hosted = host.run_of(run)
        all_orders.append(order)
        runs[run] = Ran(hosted.flow, hosted.snapshot, hosted.history)
        _write_down(ledger, wall, runs[run])
    record = [_record(run) for run in ledger.canceled]
    return Evidence(orders=all_orders, ledger=ledger, runs=runs, record=record)


def _record(run: str) -> AuditRow:
    return AuditRow(actor="ann", token_id=None, ip=None, action="cancel_run", target=run)


def _write_down(ledger: Ledger, wall: _Clock, ran: Ran) -> None:
    """What passed the gate and the store for a run, as if a worker had done it."""
    for entry in ran.history:
        wall.at = seconds(entry.at)
        ledger.written.append(Written(ran.id, entry.seq, wall.at))
        if entry.kind == "ended" and entry.attempt:
            lease = Lease(ran.id, entry.firing or 0, WHOLE, entry.attempt, 1)
            ledger.assign("w", _assignment(lease, entry, ran))
            ledger.through(lease)
            ledger.told.append(Told(wall.at, Report(lease, Done(output=entry.data)), "accepted"))


def _assignment(lease: Lease, entry: Entry, ran: Ran) -> Assignment:
    class Work:
        step, data = entry.step, ran.snapshot.data

    work: Any = Work()
    return Assignment(lease, work, moment(seconds(entry.at) + 10), None)


def test_a_world_without_faults_has_no_violations() -> None:
    assert violations(good()) == {}


def _run(evidence: Evidence, workflow: str) -> Ran:
    return next(ran for ran in evidence.runs.values() if ran.workflow == workflow)


def _with(evidence: Evidence, ran: Ran) -> Evidence:
    return replace(evidence, runs={**evidence.runs, ran.id: ran})


def _renumbered(entries: list[Entry]) -> list[Entry]:
    return [replace(entry, seq=number) for number, entry in enumerate(entries, 1)]


def lose_a_run(evidence: Evidence) -> Evidence:
    return replace(evidence, runs=dict(list(evidence.runs.items())[1:]))


def never_answer(evidence: Evidence) -> Evidence:
    del evidence.ledger.starts["order-0"]
    return evidence


def scare_a_customer(evidence: Evidence) -> Evidence:
    evidence.ledger.errors.append("order-1: the run cannot be read")
    return evidence


def leave_a_run_waiting(evidence: Evidence) -> Evidence:
    ran = _run(evidence, "chain")
    return _with(evidence, replace(ran, snapshot=replace(ran.snapshot, status="waiting")))


def leave_rows(evidence: Evidence) -> Evidence:
    return replace(evidence, left={"tasks": 1})


def take_too_long(evidence: Evidence) -> Evidence:
    return replace(evidence, in_time=False)


def give_a_wrong_result(evidence: Evidence) -> Evidence:
    ran = _run(evidence, "chain")
    return _with(evidence, replace(ran, snapshot=replace(ran.snapshot, result=[1, 2, 4])))


def fail_a_run(evidence: Evidence) -> Evidence:
    ran = _run(evidence, "chain")
    return _with(evidence, replace(ran, snapshot=replace(ran.snapshot, status="failed")))


def skip_a_number(evidence: Evidence) -> Evidence:
    ran = _run(evidence, "chain")
    return _with(evidence, replace(ran, history=[*ran.history[:-1], replace(ran.history[-1], seq=99)]))


def turn_time_back(evidence: Evidence) -> Evidence:
    ran = _run(evidence, "timer")
    last = replace(ran.history[-1], at=moment(-100))
    return _with(evidence, replace(ran, history=[*ran.history[:-1], last]))


def forget_a_token(evidence: Evidence) -> Evidence:
    ran = _run(evidence, "chain")
    extra = Marking(Map({0: ()}), Map(), Map(), Map())
    return _with(evidence, replace(ran, snapshot=replace(ran.snapshot, marking=extra)))


def fire_twice(evidence: Evidence) -> Evidence:
    ran = _run(evidence, "chain")
    fired = ran.entries("fired")[0]
    history = _renumbered([*ran.history, fired])
    return _with(evidence, replace(ran, history=history, snapshot=replace(ran.snapshot, seq=len(history))))


def end_twice(evidence: Evidence) -> Evidence:
    ran = _run(evidence, "chain")
    history = _renumbered([*ran.history, ran.entries("ended")[0]])
    return _with(evidence, replace(ran, history=history, snapshot=replace(ran.snapshot, seq=len(history))))


def accept_twice(evidence: Evidence) -> Evidence:
    evidence.ledger.told.append(evidence.ledger.told[0])
    return evidence


def accept_of_two_attempts(evidence: Evidence) -> Evidence:
    told = evidence.ledger.told[0]
    again = replace(told.report, lease=replace(told.report.lease, fence=2))
    evidence.ledger.told.append(replace(told, report=again))
    return evidence


def hear_a_zombie(evidence: Evidence) -> Evidence:
    held = evidence.ledger.held[0]
    lease = replace(held.lease, attempt=2)
    evidence.ledger.held.append(replace(held, lease=lease, worker="other", at=50, until=60))
    return evidence


def accept_and_forget(evidence: Evidence) -> Evidence:
    told = evidence.ledger.told[0]
    lost = Report(replace(told.report.lease, firing=77), Done(output={"n": 5}))
    evidence.ledger.told.append(replace(told, report=lost))
    return evidence


def take_what_was_refused(evidence: Evidence) -> Evidence:
    told = evidence.ledger.told[0]
    evidence.ledger.told[0] = replace(told, verdict="superseded", at=told.at - 1)
    return evidence


def ring_early(evidence: Evidence) -> Evidence:
    evidence.ledger.rung.append((DueTimer(1, "run-1", b"", moment(10)), 9.5))
    return evidence


def sleep_too_short(evidence: Evidence) -> Evidence:
    ran = _run(evidence, "timer")
    history = [
        replace(entry, at=moment(seconds(entry.at) + 1)) if entry.kind == "fired" else entry
        for entry in ran.history
    ]
    return _with(evidence, replace(ran, history=history))


def stamp_by_a_wrong_clock(evidence: Evidence) -> Evidence:
    ran = _run(evidence, "chain")
    history = [replace(entry, at=moment(seconds(entry.at) + 3600)) for entry in ran.history]
    return _with(evidence, replace(ran, history=history))


def steal(evidence: Evidence) -> Evidence:
    held = evidence.ledger.held[0]
    held.ended = None
    lease = replace(held.lease, fence=2)
    evidence.ledger.held.append(replace(held, lease=lease, worker="thief", at=held.until - 0.5, until=99))
    return evidence


def lease_twice(evidence: Evidence) -> Evidence:
    held = evidence.ledger.held[0]
    evidence.ledger.held.append(replace(held, worker="other", at=50, until=60))
    return evidence


def lower_the_fence(evidence: Evidence) -> Evidence:
    held = evidence.ledger.held[0]
    evidence.ledger.held.append(replace(held, lease=replace(held.lease, fence=0), at=50, until=60))
    return evidence


def overlap(evidence: Evidence) -> Evidence:
    serial = {ran.id for ran in evidence.runs.values() if ran.workflow == "serial"}
    first = next(held for held in evidence.ledger.held if held.lease.run in serial)
    first.ended, first.at = None, first.at - 1
    return evidence


def start_twice(evidence: Evidence) -> Evidence:
    evidence.ledger.starts["order-0"].append("run-2")
    return evidence


def make_a_run_too_many(evidence: Evidence) -> Evidence:
    ran = _run(evidence, "chain")
    header = replace(ran.snapshot.run, id=RunId("another"))
    return _with(evidence, replace(ran, snapshot=replace(ran.snapshot, run=header)))


def deliver_twice(evidence: Evidence) -> Evidence:
    ran = _run(evidence, "chain")
    start = replace(ran.history[0], event="finished")
    return _with(evidence, replace(ran, history=[start, start, *ran.history]))


def lose_a_child(evidence: Evidence) -> Evidence:
    ran = _run(evidence, "chain")
    header = replace(ran.snapshot.run, workflow="parent")
    return _with(evidence, replace(ran, snapshot=replace(ran.snapshot, run=header)))


def work_on_after_cancel(evidence: Evidence) -> Evidence:
    ran, held = _run(evidence, "cancel"), evidence.ledger.held[0]
    lease = replace(held.lease, run=ran.id)
    evidence.ledger.held.append(replace(held, lease=lease, at=evidence.ledger.canceled[ran.id] + 1, until=99))
    return evidence


def skip_the_clean_up(evidence: Evidence) -> Evidence:
    ran = _run(evidence, "cancel")
    return _with(evidence, replace(ran, history=[each for each in ran.history if each.step != "undo"]))


def forget_a_cancel(evidence: Evidence) -> Evidence:
    evidence.ledger.canceled[_run(evidence, "chain").id] = 99.0
    return evidence


def _attempt(ran: Ran, number: int) -> Entry:
    error = {"kind": "error", "message": "not yet"}
    return Entry(1, BEGIN, "attempt", "a", attempt=number, data={"error": error, "index": None}, firing=2)


def tell_an_attempt_twice(evidence: Evidence) -> Evidence:
    ran = _run(evidence, "chain")
    return _with(evidence, replace(ran, history=[*ran.history, _attempt(ran, 1), _attempt(ran, 1)]))


def fail_too_often(evidence: Evidence) -> Evidence:
    ran = _run(evidence, "chain")
    header = replace(ran.snapshot.run, workflow="flaky")
    tries = [_attempt(ran, number) for number in (1, 2, 3)]
    return _with(evidence, replace(ran, snapshot=replace(ran.snapshot, run=header), history=tries))


def care_too_late(evidence: Evidence) -> Evidence:
    ran = _run(evidence, "chain")
    lost = next(held for held in evidence.ledger.held if held.lease.run == ran.id)
    told = [told for told in evidence.ledger.told if told.report.lease != lost.lease]
    late = [
        replace(each, at=moment(500)) if each.firing == lost.lease.firing else each for each in ran.history
    ]
    evidence.ledger.told = told
    return _with(evidence, replace(ran, history=late))


def work_on_though_held(evidence: Evidence) -> Evidence:
    held = evidence.ledger.held[0]
    evidence.ledger.paused.append(Pause(held.lease.run, held.at - 1, held.at + 1))
    return evidence


def begin_though_held(evidence: Evidence) -> Evidence:
    ran = _run(evidence, "timer")
    [key] = [key for key, runs in evidence.ledger.starts.items() if ran.id in runs]
    made = min(each.at for each in evidence.ledger.written if each.run == ran.id)
    evidence.ledger.asked[key] = made
    evidence.ledger.halted.append(Halt(None, made - 1, made + 99))
    return evidence


def try_again(evidence: Evidence) -> Evidence:
    held = evidence.ledger.held[0]
    again = replace(held.lease, attempt=held.lease.attempt + 1)
    evidence.ledger.held.append(replace(held, lease=again, at=held.until, until=held.until + 10))
    calm = [
        replace(each, calm=held.lease.run in evidence.ledger.starts[each.key]) for each in evidence.orders
    ]
    return replace(evidence, orders=calm)


def try_again_after_a_stop(evidence: Evidence) -> Evidence:
    evidence.ledger.stopped["w"] = 0.0
    return try_again(evidence)


def damage_the_store(evidence: Evidence) -> Evidence:
    return replace(evidence, damage=["a timer has no run"])


PLANTED: list[tuple[Callable[[Evidence], Evidence], str]] = [
    (lose_a_run, "acknowledged_starts_are_there"),
    (never_answer, "acknowledged_starts_are_there"),
    (scare_a_customer, "customers_get_no_errors"),
    (leave_a_run_waiting, "every_run_ends"),
    (leave_rows, "every_run_ends"),
    (take_too_long, "every_run_ends"),
    (give_a_wrong_result, "every_run_comes_to_what_it_should"),
    (fail_a_run, "every_run_comes_to_what_it_should"),
    (skip_a_number, "history_has_no_gaps"),
    (turn_time_back, "history_has_no_gaps"),
    (forget_a_token, "history_folds_to_the_marking"),
    (fire_twice, "history_folds_to_the_marking"),
    (fire_twice, "each_firing_happens_once"),
    (end_twice, "each_firing_happens_once"),
    (accept_twice, "at_most_one_result_is_accepted"),
    (accept_of_two_attempts, "at_most_one_result_is_accepted"),
    (hear_a_zombie, "only_the_last_holder_is_heard"),
    (accept_and_forget, "accepted_results_are_in_the_history"),
    (take_what_was_refused, "late_reports_change_nothing"),
    (ring_early, "no_timer_rings_early"),
    (sleep_too_short, "no_timer_rings_early"),
    (stamp_by_a_wrong_clock, "history_is_stamped_by_the_stores_clock"),
    (steal, "no_lease_is_stolen_early"),
    (lease_twice, "fences_only_rise"),
    (lower_the_fence, "fences_only_rise"),
    (overlap, "serialized_steps_never_overlap"),
    (start_twice, "duplicates_are_suppressed"),
    (make_a_run_too_many, "duplicates_are_suppressed"),
    (deliver_twice, "duplicates_are_suppressed"),
    (lose_a_child, "children_begin_once"),
    (work_on_after_cancel, "cancelling_is_final"),
    (skip_the_clean_up, "cancelling_is_final"),
    (forget_a_cancel, "acknowledged_cancels_cancel"),
    (tell_an_attempt_twice, "failures_are_tried_again"),
    (fail_too_often, "failures_are_tried_again"),
    (care_too_late, "lost_work_is_tried_again_in_time"),
    (work_on_though_held, "paused_runs_get_no_work"),
    (begin_though_held, "nothing_starts_while_its_workflow_is_held"),
    (try_again, "healthy_work_takes_one_attempt"),
    (try_again_after_a_stop, "a_graceful_stop_costs_no_attempt"),
    (damage_the_store, "the_store_is_whole"),
]


@pytest.mark.parametrize(("plant", "checker"), PLANTED, ids=[plant.__name__ for plant, _ in PLANTED])
def test_what_is_planted_is_found(plant: Callable[[Evidence], Evidence], checker: str) -> None:
    assert checker in violations(plant(good()))


def test_every_checker_has_something_planted_for_it() -> None:
    inside = set(CHECKERS) - set(outside.CHECKERS)

    assert {checker.__name__ for checker in inside} == {name for _, name in PLANTED}
