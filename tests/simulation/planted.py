"""Bugs that neighbours really had, put into the engine from outside: a simulation that misses one proves nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from typing import Any
from zlib import crc32

from msgspec.structs import replace

from penstock.flow.decisions import advance, finish
from penstock.flow.decisions.state import DecisionState
from penstock.flow.model.run import Failure
from penstock.flow.model.run_input import Canceled, Failed, Reported, TimedOut
from penstock.runtime.commands.commands import Commands
from penstock.runtime.decisions import advancer, plan_to_change
from penstock.runtime.decisions.decision import Decision, Request
from penstock.runtime.decisions.fast.fast_path import FastPath
from penstock.runtime.dispatch.dispatch import Dispatch
from penstock.runtime.dispatch.gate import Report, Verdict
from penstock.runtime.node import node, timers
from penstock.runtime.node.run_cache import CachedRun
from penstock.runtime.node.supervisor import LoopHealth
from penstock.runtime.node.timers import Timers
from penstock.store.rows.change import WHOLE
from penstock.store.rows.rows import DueTask, Worker
from penstock.store.sqlite.session import Session, writes
from penstock.store.sqlite.tables import tasks
from penstock.workers.worker.worker import Worker as RealWorker
from tests.simloop import current_process
from tests.simulation import planted_outside
from tests.simulation.planting import Bug, Patch, both, sql


def _any_attempt(patch: Patch) -> None:
    """Take a report for the attempt under way, whichever it was for."""
    real = finish.report

    def report(turn: DecisionState, reported: Reported) -> Any:
        element = turn.elements.get((reported.firing, reported.index))
        return real(turn, reported if element is None else replace(reported, attempt=element.attempt))

    rules: dict[Any, Any] = advance._RULES
    patch.setitem(rules, Reported, report)


def _stale_rescue(patch: Patch) -> None:
    """Find what is lost, and write it off by its id a while later."""

    def end(self: Timers, task: DueTask) -> None:
        lease = task.lease
        index = None if lease.index == WHOLE else lease.index
        input = Reported(lease.firing, index, lease.attempt, TimedOut(task.limit))
        asyncio.get_running_loop().call_later(8, self.submit, Request(lease.run, input))

    patch.setattr(Timers, "_end", end)


def _local_clock(patch: Patch) -> None:
    """Decide by the node's own clock."""
    real = plan_to_change.decide

    def decide(live: CachedRun, requests: Sequence[Request], now: datetime, fast: FastPath) -> Decision:
        process = current_process()
        ahead = crc32(process.name.encode()) % 3600 if process is not None else 0
        return real(live, requests, now + timedelta(seconds=ahead), fast)

    patch.setattr(advancer, "decide", decide)


def _never_poll(patch: Patch) -> None:
    """Rely on the bell alone."""

    async def sleep(self: Timers) -> None:
        await self._wake.wait()
        self._wake.clear()

    patch.setattr(Timers, "_sleep", sleep)


def _die_at_once(patch: Patch) -> None:
    """Let a loop end at its first failure, for good."""

    async def keep_up(name: str, loop: Callable[[], Awaitable[None]], pulse: LoopHealth) -> None:
        try:
            await loop()
        except Exception as error:
            pulse.last = str(error)

    patch.setattr(node, "keep_up", keep_up)


def _early_answer(patch: Patch) -> None:
    """Tell a worker that its result is taken before it is written."""

    async def report(self: Dispatch, reports: Sequence[Report]) -> list[Verdict]:
        for each in reports:
            lease = each.lease
            index = None if lease.index == WHOLE else lease.index
            done = Reported(lease.firing, index, lease.attempt, each.outcome)
            self._submit(Request(lease.run, done, lambda *_: None, lease=lease))
        return ["accepted"] * len(reports)

    patch.setattr(Dispatch, "report", report)


def _early_cancel(patch: Patch) -> None:
    """Tell that a run is canceled before it is."""

    async def cancel(self: Commands, run: str, force: bool = False, reason: str | None = None) -> None:
        self._submit(Request(run, Canceled(force, reason)))

    patch.setattr(Commands, "cancel", cancel)


def _reaper_knows_kinds(patch: Patch) -> None:
    """Let the reaper judge only what its own node knows: it fails for good what it has not heard of."""
    real = Timers._end

    def end(self: Timers, task: DueTask) -> None:
        commands: Any = getattr(self.begin_child, "__self__")  # noqa: B009
        lease = task.lease
        if commands._look.__self__.memory.get(lease.run) is not None:
            return real(self, task)
        index = None if lease.index == WHOLE else lease.index
        failed = Failed(error=Failure("error", "nobody here knows this task"), retry=False)
        self.submit(Request(lease.run, Reported(lease.firing, index, lease.attempt, failed), lease=lease))

    patch.setattr(Timers, "_end", end)


def _prune_the_dead(patch: Patch) -> None:
    """Sweep out workers that have not been seen for a while, whenever another one comes."""
    real = tasks._register

    def register(session: Session, worker: Worker) -> None:
        real(session, worker)
        session.run("drop_gone_workers", (session.now - 12 * _SECONDS,))

    patch.setattr(tasks.SqliteTasks, "register", writes(register))


def _escape(patch: Patch) -> None:
    """Let what cannot be read end the round."""

    def each(take: Callable[[Any], None], rows: Sequence[Any]) -> None:
        for row in rows:
            take(row)

    patch.setattr(timers, "_each", each)


def _impatient_stop(patch: Patch) -> None:
    """Stop a worker without waiting for what it does."""
    real = RealWorker.drain

    async def drain(self: RealWorker, grace: timedelta) -> None:
        await real(self, timedelta(0))

    patch.setattr(RealWorker, "drain", drain)


_NO_FENCE = sql(
    "end_task",
    ("attempt, fence) IN", "attempt > 0, fence > 0) IN"),
    (":attempt, :fence", ":attempt > 0, :fence > 0"),
)
_NO_CAS = both(
    sql("update_run", ("run.revision = new.base", "new.base >= 0")),
    sql("update_running", ("run.revision = new.base", "new.base >= 0")),
)
_SECONDS = 1_000_000
_ATTENDED = "(worker IS NULL OR worker IN (SELECT id FROM worker))"

BUGS = (
    Bug("no fence", "C5", "only_the_last_holder_is_heard", both(_NO_FENCE, _any_attempt)),
    Bug("stale rescue", "N1", "no_lease_is_stolen_early", both(_stale_rescue, _any_attempt)),
    Bug(
        "heartbeat without a fence",
        "N5",
        "no_lease_is_stolen_early",
        sql("renew_task", ("attempt = :attempt", ":attempt > 0"), ("fence = :fence", ":fence > 0")),
    ),
    Bug(
        "lease without an end",
        "N7",
        "every_run_ends",
        sql("lease_task", ("expires = :expires", "expires = max(:expires, 9000000000000000000)")),
    ),
    Bug("reaper that must know the task", "N2", "every_run_comes_to_what_it_should", _reaper_knows_kinds),
    Bug(
        "only a longest time for all",
        "N3",
        "lost_work_is_tried_again_in_time",
        sql("lease_task", ("expires = :expires", f"expires = max(:expires, :now + {3600 * _SECONDS})")),
    ),
    Bug(
        "only tasks of workers that attend",
        "N4",
        "every_run_ends",
        both(
            _prune_the_dead,
            sql("expired_tasks", ("expires <= :now", f"expires <= :now AND {_ATTENDED}")),
            sql("next_due", ("FROM task", f"FROM task WHERE {_ATTENDED}")),
        ),
    ),
    Bug(
        "heartbeat that extends nothing",
        "N10",
        "healthy_work_takes_one_attempt",
        sql(
            "renew_task",
            ("lease_until = :now + beat", "lease_until = max(lease_until, :now * 0)"),
            ("min(:now + beat, stop_by, end_by)", "expires"),
        ),
    ),
    Bug("unreadable row that stops the others", "N13", "every_run_ends", _escape),
    Bug("stop that does not wait", "C4", "a_graceful_stop_costs_no_attempt", _impatient_stop),
    Bug(
        "paused tasks handed out",
        "R12",
        "paused_runs_get_no_work",
        sql("hold_tasks", ("held = 1, expires = :never", "expires = max(expires, :never * 0)")),
    ),
    Bug("no poll", "N8", "every_run_ends", _never_poll),
    Bug("a loop that dies", "N14", "every_run_ends", _die_at_once),
    Bug(
        "dedup after commit",
        "N12",
        "duplicates_are_suppressed",
        sql("insert_start_key", ("DO NOTHING", "DO UPDATE SET run = excluded.run")),
    ),
    Bug(
        "retention of live runs",
        "N16",
        "acknowledged_starts_are_there",
        sql(
            "outdated_runs",
            ("status = :status AND ended_at IS NOT NULL", ":status <> ''"),
            ("ended_at <= :before", ":before > 0"),
        ),
    ),
    Bug(
        "stale cache",
        "N20",
        "history_folds_to_the_marking",
        both(
            _NO_CAS,
            sql("insert_page", ("INSERT INTO", "INSERT OR REPLACE INTO")),
            sql("insert_task", ("INSERT INTO", "INSERT OR REPLACE INTO")),
        ),
    ),
    Bug("local clock", "C9", "history_is_stamped_by_the_stores_clock", _local_clock),
    Bug(
        "lease judged early",
        "C9",
        "no_lease_is_stolen_early",
        sql("expired_tasks", ("expires <= :now", f"expires <= :now + {5 * _SECONDS}")),
    ),
    Bug(
        "timer rung early",
        "C9",
        "no_timer_rings_early",
        sql("due_timers", ("ready_at <= :now", f"ready_at <= :now + {5 * _SECONDS}")),
    ),
    Bug(
        "message gone when handed out",
        "C4",
        "every_run_ends",
        sql(
            "take_message",
            ("UPDATE message SET ready_at = :until WHERE", "DELETE FROM message WHERE :until > 0 AND"),
        ),
    ),
    Bug(
        "lock leak",
        "R10",
        "every_run_ends",
        both(
            sql("drop_lock", ("WHERE", "WHERE run = '' AND")),
            sql("drop_locks_of_runs", ("WHERE", "WHERE run = '' AND")),
        ),
    ),
    Bug("key for everybody", "R11", "serialized_steps_never_overlap", sql("locks_held", ("count(*)", "0"))),
    Bug(
        "history gap",
        "C8",
        "history_has_no_gaps",
        sql("insert_page", ("column1 IS NOT NULL", "column2 <> 3")),
    ),
    Bug("result acknowledged too early", "C1", "accepted_results_are_in_the_history", _early_answer),
    Bug("cancel acknowledged too early", "C15", "cancelling_is_final", _early_cancel),
    *planted_outside.BUGS,
)
