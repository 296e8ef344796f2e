"""Runs that are alike: what is decided about the first one of a batch is so for the others, and not worked out again.

The head of a run tells all of it but its header, and data that is still its input. So runs of one version whose heads
are the same bytes are in the same `state`, and where the same happens to them, and nothing comes with it, the same
follows. Such are runs that carry nothing but their input: each goes where the one before it went, in its own name.
The contract: plan and change are the very ones that are made without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from penstock.flow.compile.compile import Flow
from penstock.flow.model.plan import Attempt, Plan
from penstock.flow.model.run import Snapshot
from penstock.flow.model.run_input import Begun, Done, Reported
from penstock.runtime.decisions.decision import Decision, Reserve, SlotReservation, new_run_of, new_task
from penstock.runtime.decisions.request import Request
from penstock.runtime.node.run_cache import CachedRun
from penstock.store.rows.change import Change, EndedTask, NewTask

Place = tuple[int] | tuple[int, int, int, str]
"""Where a run is and what happens there. It names objects by their ids: those of one batch live as long as it."""


class Move(Struct, eq=False):
    """What was decided about the first one, and what is written of it once that is known."""

    plan: Plan
    change: Change | None = None


class BatchMemo:
    """What one batch knows of its runs."""

    __slots__ = ("_states", "_tasks", "moves")

    def __init__(self) -> None:
        self.moves: dict[Place, Move] = {}
        self._states: dict[tuple[int, bytes], bytes] = {}
        self._tasks: dict[tuple[int, str, int, str | None], NewTask] = {}

    def state(self, flow: Flow, head: bytes) -> bytes:
        """The head itself, and the same object for all that have the same."""
        return self._states.setdefault((id(flow), head), head)

    def task(self, flow: Flow, attempt: Attempt, desk: SlotReservation | None) -> NewTask:
        """The row of a first attempt: that of a run that came to the same step with as much behind it."""
        worker = None if desk is None else desk.worker
        key = id(flow), attempt.step, attempt.firing, worker
        task = self._tasks.get(key)
        if task is None:
            task = self._tasks[key] = new_task(attempt, desk, False)
        return task


def is_bare(live: CachedRun, request: Request) -> bool:
    """Whether nothing comes with it that only this run has, and its change would tell nobody else."""
    occurrence, snapshot = request.occurrence, live.snapshot
    run = snapshot.run
    if run.parent is not None:
        return False
    if type(occurrence) is Reported:
        done = occurrence.outcome
        return (
            request.lease is not None
            and type(done) is Done
            and done.output is None
            and done.set is None
            and done.tags is None
            and done.correlate is None
            and not (done.replace_tags or occurrence.outside)
        )
    return (
        type(occurrence) is Begun
        and request.new is not None
        and run.input is None
        and request.start_key is None
        and request.is_plain
        and not (occurrence.tags or run.labels or snapshot.tags or snapshot.paused)
    )


def place_of(live: CachedRun, request: Request) -> Place | None:
    """Where a run is to which something bare happens; None: only its own state is known there."""
    occurrence = request.occurrence
    if type(occurrence) is Reported and live.state is not None:
        done = occurrence.outcome
        assert type(done) is Done
        return id(live.state), occurrence.firing, occurrence.attempt, done.port
    return (id(live.flow),) if request.new is not None else None


def followed(live: CachedRun, requests: Sequence[Request], move: Move, now: datetime) -> Decision:
    """The decision about a run that goes where another went."""
    plan = _plan(move.plan, live.snapshot)
    return Decision(live, requests, plan.answers, plan, now, straight=True, bare=True, move=move)


def _plan(first: Plan, was: Snapshot) -> Plan:
    to, run, data = first.snapshot, was.run, was.data
    result = data if to.result is to.data else to.result
    snapshot = replace(to, run=run, data=data, result=result, seen=was.seen)
    attempts = [replace(attempt, run=run, data=data) for attempt in first.attempts]
    return Plan(
        first.base, snapshot, first.history, first.answers, attempts, (), (), (), (), (), (), False, []
    )


def followed_change(decision: Decision, first: Change, reserve: Reserve, alike: BatchMemo) -> Change:
    """What is written of it, with its work promised to who will do it."""
    request, snapshot = decision.requests[0], decision.plan.snapshot
    lease = request.lease
    tasks = tasks_of(decision, reserve, alike) if first.tasks else ()
    new = None if request.new is None else new_run_of(decision.live, request, decision.now)
    ended = first.ended
    if lease is not None and ended[0].fence != lease.fence:
        ended = (EndedTask(lease.firing, lease.index, lease.attempt, lease.fence),)
    decision.state = first.head
    return Change(
        snapshot.run.id, first.base, first.revision, first.seq, first.status, first.ended_at, None, first.head, new,
        first.page, first.page_from, tasks, ended, first.over, True, first.goes_on,
    )  # fmt: skip


def tasks_of(decision: Decision, reserve: Reserve, alike: BatchMemo) -> tuple[NewTask, ...]:
    """The rows of the attempts of a straight plan, each promised to who will do it."""
    tasks, flow = [], decision.live.flow
    for attempt in decision.plan.attempts:
        desk = reserve(attempt)
        if desk is not None:
            decision.desks.append((attempt, desk))
        tasks.append(alike.task(flow, attempt, desk))
    return tuple(tasks)
