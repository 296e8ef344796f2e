"""Planted bugs that those outside would meet: in the API, in what is shown, decided, published and scheduled."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime
from itertools import count
from typing import Any

from msgspec.structs import replace

from penstock.access.caller import Caller
from penstock.api import app
from penstock.api.call import Call
from penstock.api.guard import admit
from penstock.api.service import Service
from penstock.engine import operations, run_queries
from penstock.engine.approvals import ApprovalDecisions
from penstock.engine.engine import Engine
from penstock.flow.compile.compile import Flow
from penstock.flow.decisions import finish
from penstock.flow.model.retry_policy import RetryPolicy
from penstock.runtime.commands import commands
from penstock.runtime.dispatch import dispatch
from penstock.runtime.dispatch.gate import Report, Verdict
from penstock.runtime.errors import AlreadyDecided
from penstock.runtime.node.flow_cache import FlowCache
from penstock.runtime.node.node import Node
from penstock.runtime.node.run_cache import CachedRun
from penstock.runtime.queries.history import show_page
from penstock.runtime.queries.run_lists import list_runs
from penstock.sources.schedules import ticks
from penstock.sources.schedules.rules import Rules, due_tick
from penstock.store.rows.rows import ApprovalRow
from tests.simulation.planting import Bug, Patch


def _fire_twice(patch: Patch) -> None:
    """Put what a step gives into the net twice."""
    real = finish.fire_way

    def fire_way(*args: Any) -> None:
        real(*args)
        real(*args)

    patch.setattr(finish, "fire_way", fire_way)


def _forget_the_first(patch: Patch) -> None:
    """Tell who repeats a report that it is too late."""

    async def verdict_of(store: Any, report: Report) -> Verdict:
        return "superseded"

    patch.setattr(dispatch, "verdict_of", verdict_of)


def _leave_out(patch: Patch) -> None:
    """Show a history without its second entry until there are more than four."""
    real = show_page

    async def shown(*args: Any) -> tuple[list[dict[str, Any]], bool]:
        items, more = await real(*args)
        return [item for item in items if item["seq"] != 2 or len(items) > 4], more

    patch.setattr(run_queries, "show_page", shown)


def _old_list(patch: Patch) -> None:
    """Show the list as it was when it was first asked for."""
    real, kept = list_runs, dict[int, Any]()

    async def listed(store: Any, *args: Any) -> Any:
        if id(store) not in kept:
            kept[id(store)] = await real(store, *args)
        return kept[id(store)]

    patch.setattr(operations, "list_runs", listed)


def _show_from_memory(patch: Patch) -> None:
    """Show runs as this node last knew them, whoever led them on since."""

    async def look(self: Node, run: str, own: bool = False) -> CachedRun:
        live = self.run_cache.get(run)
        return live if live is not None else await real(self, run, own)

    real = Node.look
    patch.setattr(Node, "look", look)


def _newest_for_all(patch: Patch) -> None:
    """Go on by the newest version, whichever a run began with."""
    real = FlowCache.get

    async def get(self: FlowCache, workflow: str, version: int) -> Flow:
        newest = await self._versions.version(workflow, version + 1)
        return await real(self, workflow, version if newest is None else newest.version)

    patch.setattr(FlowCache, "get", get)


def _drop_missed_ticks(patch: Patch) -> None:
    """Of the ticks that were missed see to the latest alone, though all were asked for."""

    def due(rules: Rules, last: datetime, now: datetime) -> datetime | None:
        return due_tick(replace(rules, catch_up="latest"), last, now)

    patch.setattr(ticks, "due_tick", due)


def _tick_twice(patch: Patch) -> None:
    """Start the run of a tick without the tick as its key: who takes over starts it again."""
    numbers = count()

    async def start_tick(feed: Any, schedule: Any, tick: datetime) -> tuple[str, bool]:
        key = f"{ticks.tick_text(tick)} {next(numbers)}"
        started: tuple[str, bool] = await feed.start(
            key=key, subject=key, input=ticks.input_of(schedule, tick), kind=ticks.KIND
        )
        return started

    patch.setattr(ticks, "start_tick", start_tick)


def _try_for_ever(patch: Patch) -> None:
    """Let a time-out never be the last."""
    patch.setattr(RetryPolicy, "after_timeout", lambda self, timeouts: 1.0 if timeouts < 9 else None)


def _refuse_afterwards(patch: Patch) -> None:
    """Look whether somebody asks too fast when all is done."""
    real_admit, real_answer = admit, app.App._answer

    async def admitted(service: Service, call: Call, request: Any) -> Caller:
        limiter, service.limiters.tokens = service.limiters.tokens, _NoLimit()  # type: ignore[assignment]
        try:
            caller = await real_admit(service, call, request)
        finally:
            service.limiters.tokens = limiter
        request.state.caller = caller
        return caller

    async def answer(self: app.App, call: Call, values: Any, request: Any, request_id: str) -> Any:
        given = await real_answer(self, call, values, request, request_id)
        caller = getattr(request.state, "caller", None)
        if caller is not None and not caller.local:
            self.service.limiters.tokens.check(caller.name, asyncio.get_running_loop().time())
        return given

    patch.setattr(app, "admit", admitted)
    patch.setattr(app.App, "_answer", answer)


class _NoLimit:
    def check(self, key: str, now: float) -> None:
        return None


def _two_eyes(patch: Patch) -> None:
    """Let who started a run decide about it."""

    async def barred(self: object, row: ApprovalRow, by: str, known: object = None) -> str | None:
        return None

    patch.setattr(ApprovalDecisions, "_barred", barred)


def _echo_decision(patch: Patch) -> None:
    """Tell everybody who decides that it is so."""
    real = Engine.decide

    async def decide(self: Any, id: str, decision: str, *, by: str = "engine", **more: Any) -> dict[str, Any]:
        try:
            return await real(self, id, decision, by=by, **more)
        except AlreadyDecided:
            view = await self.approval(id, by)
            return {**view, "decision": {**(view["decision"] or {}), "by": by, "decision": decision}}

    patch.setattr(Engine, "decide", decide)


def _off_the_record(patch: Patch) -> None:
    """Write down nothing of who does what to a run."""
    patch.setattr(commands, "audit_for", lambda target: None)


BUGS: Sequence[Bug] = (
    Bug("a firing that gives twice", "C3", "each_firing_happens_once", _fire_twice),
    Bug("repeated report is refused", "C6", "a_repeated_report_is_answered_as_the_first", _forget_the_first),
    Bug("history shown with a gap", "C8", "history_is_shown_without_gaps", _leave_out),
    Bug("old list", "C1", "lists_show_what_was_acknowledged", _old_list),
    Bug("shown from memory", "N20", "what_is_over_stays_over", _show_from_memory),
    Bug("newest version for all", "C11", "runs_keep_their_version", _newest_for_all),
    Bug("missed ticks are dropped", "C10", "each_tick_starts_one_run", _drop_missed_ticks),
    Bug("tick without its key", "C10", "each_tick_starts_one_run", _tick_twice),
    Bug("poison tried for ever", "C13", "poison_is_given_up", _try_for_ever),
    Bug("refused when it is done", "C14", "who_is_sent_away_did_nothing", _refuse_afterwards),
    Bug("two eyes for four", "C17", "approvals_are_decided_once", _two_eyes),
    Bug("every decision counts", "C17", "approvals_are_decided_once", _echo_decision),
    Bug("off the record", "C18", "acts_are_on_record", _off_the_record),
)
