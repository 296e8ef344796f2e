"""The part of the engine for supervisors of runs: lists, reasons, repairs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from msgspec import to_builtins

from penstock.flow.compile.compile import BOXES
from penstock.runtime.commands.bulk import act_on_many, preview
from penstock.runtime.commands.validation import validate_integers
from penstock.runtime.errors import Invalid
from penstock.runtime.node.audit_context import audit_for
from penstock.runtime.node.node import Node
from penstock.runtime.queries.bounded_page import bounded_page
from penstock.runtime.queries.history import read_history
from penstock.runtime.queries.incidents import list_incidents
from penstock.runtime.queries.overview import overview_of
from penstock.runtime.queries.past_marking import Past, marking_now
from penstock.runtime.queries.row_views import queue_view, refused_view, undelivered_view, worker_view
from penstock.runtime.queries.run_lists import list_runs, read_filter
from penstock.runtime.queries.run_view import show_run
from penstock.runtime.queries.slow_runs import list_slow, list_stuck
from penstock.runtime.queries.why_facts import RunFacts, ask_why, ask_why_list
from penstock.runtime.queries.workflow_stats import percentiles, workflow_stats
from penstock.sources.dead_letters import try_again
from penstock.sources.triggers.trigger_list import list_failing

MAX_ITEMS = 1_000_000
"""Runs, lines or events that one call may request."""


class Operations:
    """Reads and repairs runs. It only delegates."""

    def __init__(self, store: RunFacts, node: Node, looking_back: asyncio.Semaphore) -> None:
        self._store, self._node, self._looking_back = store, node, looking_back

    async def list_runs(self, /, *, cursor: str | None = None, **filters: Any) -> dict[str, Any]:
        """One page of runs: `{"items": [...], "next": cursor or None}`.

        Takes `workflow`, `workflows` (patterns), `version`, `statuses`, `subject`, `parent`, `label` and `key` (name
        and value), `step`, `waiting_for`, `waiting_since`, `since`, `until`, `q` (the beginning of subject, id or
        key), `sort` (newest, oldest, ended) and `limit` (1 to 200). Raises BadCursor, Invalid.
        """
        return await list_runs(self._store, read_filter(filters), cursor)

    async def why(self, run: str, step: str | None = None) -> dict[str, Any]:
        """Why a run makes no progress: `{run, status, waiting_for, text, steps: [{step, reason, text, …}]}`."""
        return await ask_why(self._store, await self._node.look(run), step)

    async def why_task_list(self, task_list: str) -> dict[str, Any]:
        """Why a task list does not move: `{task_list, reason, text, ready, held, running, oldest, workers}`."""
        return await ask_why_list(self._store, task_list)

    async def marking(self, run: str, *, at: int | None = None) -> dict[str, Any]:
        """Which events wait where, now or after history entry `at`: `{run, seq, slots, steps, data, tags}`.

        Of now, status and reason of a step are those that `show` tells.
        """
        live = await self._node.look(run)
        if at is None:
            shown = (await show_run(self._store, live))["steps"]
            return {"run": run, **marking_now(live.flow, live.snapshot, shown)}
        if not 0 <= at <= live.snapshot.seq:
            raise Invalid(f"run '{run}' has history entries 1 to {live.snapshot.seq}, none with number {at}")
        past = Past(live.flow, live.snapshot.run.tags)
        async with self._looking_back:
            async for entry in read_history(self._store, run, 0, at):
                past.take(entry)
        return {"run": run, **past.view()}

    async def repair(
        self,
        run: str,
        *,
        put: Sequence[Mapping[str, Any]] = (),
        take: Sequence[Mapping[str, Any]] = (),
        expect: int | None = None,
        reason: str | None = None,
        dry_run: bool = False,
    ) -> dict[str, Any]:
        """Put events into slots (`{step, slot, event, data}`) or take them out (`{step, slot, number}`).

        `expect` is the `seq` of the marking that the caller saw. Answers `{seq, status, will_fire}`; with `dry_run`
        nothing is changed, and `outlook` says whether the run could still end. Raises RunEnded, Changed, Invalid.
        """
        repairs = self._node.repairs
        return await repairs.repair(run, put=put, take=take, expect=expect, reason=reason, dry_run=dry_run)

    async def skip(
        self, run: str, step: str, port: str = "done", output: Any = None, reason: str | None = None
    ) -> dict[str, Any]:
        """Let a step end on `port` with `output`, without its task: one under way, ready, failed or starving.

        Raises UnknownStep, NotSkippable, and Invalid where it has no such port.
        """
        await self._node.repairs.skip(run, step, port, output, reason)
        return await show_run(self._store, await self._node.look(run))

    async def fail(self, run: str, reason: str | None = None) -> dict[str, Any]:
        """Let a run fail; its clean-up steps still run. Raises RunEnded."""
        await self._node.repairs.fail(run, reason)
        return await show_run(self._store, await self._node.look(run))

    async def incidents(self, /, *, cursor: str | None = None, **filters: Any) -> dict[str, Any]:
        """What waits for a person, page by page: failing sources, failed and stalled runs, events aside.

        Takes `since`, `workflow`, `workflows` (patterns) and `limit`. Answers
        `{"items": [{kind, run, text, actions, …}], "next": cursor or None}`. Raises BadCursor, Invalid.
        """
        node = self._node
        failing = partial(list_failing, node)
        found = await list_incidents(self._store, node.run_cache, read_filter(filters), cursor, failing)
        return {**found, "items": [node.owners.offer(each) for each in found["items"]]}

    async def workers(self) -> list[dict[str, Any]]:
        """The workers that are there: that gave a sign of life within the last minute. Not those of built-in tasks."""
        found = await self._store.workers()
        return [worker_view(row) for row in found if row.task_lists != (BOXES,)]

    async def slow(self) -> list[dict[str, Any]]:
        """Steps of live runs that wait or run for longer than their `warn_after`, the oldest first."""
        return await list_slow(self._store, self._node.flows)

    async def stuck(self) -> dict[str, Any]:
        """`runs` that nothing can move on, and `tasks` that no worker there would take."""
        return await list_stuck(self._store)

    async def bulk(
        self,
        /,
        action: str,
        filter: Mapping[str, Any],
        *,
        dry_run: bool = False,
        tell: Callable[[dict[str, Any]], None] | None = None,
        **more: Any,
    ) -> dict[str, Any]:
        """Cancel, retry, pause, resume or rerun the runs that a filter finds, up to 10,000; what became of it.

        With `dry_run` it answers `{action, count, statuses}` and does nothing. `tell` is called after every batch;
        `more` goes to the action, such as `force` of cancel. Raises Invalid.
        """
        wanted = read_filter(dict(filter))
        if dry_run:
            return await preview(self._store, wanted, action)
        shown: dict[str, Any] = {}
        async for progress in act_on_many(self._store, self._node.commands, wanted, action, **more):
            shown = to_builtins(progress)
            if tell is not None:
                tell(shown)
        return shown

    async def undelivered(self, *, after: int = 0, limit: int = 1000) -> list[dict[str, Any]]:
        """The outside events of the last seven days that no run has taken, each with its `reason`, by `id`."""
        validate_integers(after=after)
        validate_integers(maximum=MAX_ITEMS, limit=limit)
        return [undelivered_view(row) for row in await self._store.undelivered(after, limit)]

    async def undelivered_page(self, *, after: int = 0, limit: int = 50) -> tuple[list[dict[str, Any]], bool]:
        """The next of them, fewer than `limit` where they are large; and whether there are more."""
        read = self._store.undelivered
        rows, more = await bounded_page(read, lambda row: row.id, lambda row: len(row.body), after, limit)
        return [undelivered_view(row) for row in rows], more

    async def redeliver(self, id: int) -> bool:
        """Give an undelivered event to the run that has its key now; False: there is none.

        One that could not start a run starts it now, and a message that was set aside is taken. Raises why it cannot.
        """
        validate_integers(id=id)
        by = audit_for(str(id))
        done = await self._store.settle(id, deliver=True, audit=by) or await try_again(
            self._store, self._node.flows, self._node.commands, id, by
        )
        self._node.timers.look()
        return done

    async def refused_keys(self) -> list[dict[str, Any]]:
        """The correlation keys that runs were refused: `holder` is the live run that has the key."""
        return [refused_view(row) for row in await self._store.refused(1000)]

    async def queues(self) -> list[dict[str, Any]]:
        """The task lists: what waits, is held, is under way, and how long the oldest has waited."""
        return [queue_view(row) for row in await self._store.queues()]

    async def tokens(self, prefix: str, *, limit: int = 100, cursor: str | None = None) -> dict[str, Any]:
        """Tokens whose names begin with `/runs/…`, `/history/…` or `/custom/…`: `{"items", "next"}`."""
        return await self._node.tokens.read(prefix, limit, cursor)

    async def edit_tokens(
        self,
        *,
        insert: Sequence[Mapping[str, Any]] = (),
        update: Sequence[Mapping[str, Any]] = (),
        delete: Sequence[Mapping[str, Any]] = (),
        reason: str | None = None,
    ) -> dict[str, Any]:
        """Insert, update and delete tokens, all or none: under `/custom/`, or events in slots of one run.

        Raises Changed where a version is not as expected, Invalid, RunEnded.
        """
        said = {"insert": insert, "update": update, "delete": delete, "reason": reason}
        return await self._node.tokens.edit(said)

    async def claim_tokens(
        self, owner: str, prefix: str, *, lease: timedelta, limit: int = 1
    ) -> list[dict[str, Any]]:
        """Own tokens under `/custom/` that nobody owns, those of the highest priority first, for a time."""
        return await self._node.tokens.claim(owner, prefix, lease, limit)

    async def stats(
        self,
        workflow: str,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        version: int | None = None,
    ) -> dict[str, Any]:
        """Of runs that started then (the last day, if nothing is said): counts and rates by status and version, and how
        long each step waits and runs (`steps`: percentiles in seconds). Raises UnknownWorkflow, Invalid."""
        await self._node.flows.newest(workflow)
        found = await workflow_stats(self._store, workflow, since, until, version)
        tally = self._node.calls.workflows.get(workflow)
        if tally is None:
            return found
        return {**found, "calls": {**tally.view(), "seconds": percentiles(list(tally.seconds))}}

    async def pulse(
        self,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        points: int = 72,
        sees: Callable[[str], bool] = lambda name: True,
    ) -> dict[str, Any]:
        """Of all workflows that `sees` lets through: how many runs ended and failed in each of so many `points` of the
        time (the last day, if nothing is said), how long they take, and how soon tasks begin. Raises Invalid."""
        return await overview_of(self._store, since, until, points, sees)
