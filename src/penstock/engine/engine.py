"""`penstock.Engine`: the whole thing inside your own program. It only delegates."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Coroutine, Mapping
from contextlib import AbstractContextManager
from datetime import timedelta
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, TypeVar

from msgspec import Struct

from penstock.boxes.task_environment import TaskEnvironment
from penstock.engine.application import ApplicationServices
from penstock.engine.approvals import ApprovalDecisions
from penstock.engine.authoring.drafts import Drafts
from penstock.engine.callbacks import Callbacks
from penstock.engine.operations import Operations
from penstock.engine.options import boxes_for, tasks_given, validate_options
from penstock.engine.run_queries import RunQueries
from penstock.engine.run_stream import Following
from penstock.engine.runs import Calls, Runs
from penstock.engine.schedules import Schedules
from penstock.engine.services import EngineServices
from penstock.engine.sync import SyncEngine, closed
from penstock.engine.workflows import Workflows
from penstock.objects.stores import Stores
from penstock.runtime.commands.ownership import acting_for
from penstock.sources.triggers.trigger import Means
from penstock.store.call_outcome import current_call, one_call
from penstock.store.protocol import Store
from penstock.topics.buses import validate_urls
from penstock.workers.execute.fleet import ExecutorFactory
from penstock.workers.execute.short_calls import ShortCalls
from penstock.workers.task import REGISTRY
from penstock.workers.worker.worker import CONCURRENCY

MAX_CONCURRENT_CALLS = 32
"""Workflows that are called at a time; others wait, within their own time-out."""

MEMORY = "memory:"

P = ParamSpec("P")
Result = TypeVar("Result")


class Parts(Struct, frozen=True):
    """What an engine that is open delegates to."""

    workflows: Workflows
    runs: Runs
    calls: Calls
    queries: RunQueries
    operations: Operations
    approval_decisions: ApprovalDecisions
    callbacks: Callbacks
    applications: ApplicationServices


def delegate(
    part: str, method: Callable[Concatenate[Any, P], Coroutine[Any, Any, Result]]
) -> Callable[Concatenate[Engine, P], Coroutine[Any, Any, Result]]:
    """A method of a part as one of the engine, which its first call opens."""

    @functools.wraps(method)
    async def delegating(self: Engine, /, *args: P.args, **how: P.kwargs) -> Result:
        if self._closed or self._parts is None:
            await self._open()
        call = current_call()
        if call is None or call.over:
            return await one_call(method, getattr(self._parts, part), *args, **how)
        return await method(getattr(self._parts, part), *args, **how)

    return delegating


class Engine:
    """Publishes workflows and runs them.

    `url` says where they are kept: `memory:` (gone with this process), a path such as `penstock.db` for
    SQLite, or `postgresql://user@host/name`. `tasks` are functions, modules, or a map from name to function;
    without them every `@task` of this process is offered. With `work=False` other processes do the tasks,
    with `feed=False` others run the sources of workflows: schedules, searches, topics.
    `retention` says how long ended runs are kept, by status, such as {"succeeded": timedelta(days=7)};
    `stores` are object stores by name, such as {"inbox": "dir:///srv/inbox"}, `buses` brokers, such as
    {"main": "nats://127.0.0.1:4222"};
    `store` is one that is open already, instead of `url`; `running` is all of it, at work already. `world` is
    what built-in tasks may reach: without it `http` calls nobody, and on PostgreSQL is left to those that have one.
    What cannot be is refused at once: BadAddress, BadStore, BadBus, TasksUnreadable, Invalid.
    Use it with `async with`, or `Engine.sync(...)` from plain code.
    """

    def __init__(
        self,
        url: str = MEMORY,
        *,
        tasks: Any = None,
        work: bool = True,
        concurrency: int = CONCURRENCY,
        grace: float | None = None,
        retention: Mapping[str, timedelta] | None = None,
        store: Store | None = None,
        running: EngineServices | None = None,
        fleet: ExecutorFactory | None = None,
        feed: bool = True,
        stores: Mapping[str, str] | None = None,
        buses: Mapping[str, str] | None = None,
        world: TaskEnvironment | None = None,
    ) -> None:
        validate_options(url, concurrency, grace, retention)
        validate_urls(buses or {})
        self._store, self._retention, self._fleet, self._feed = store, retention, fleet, feed
        self._means = Means(stores=Stores(stores), buses=buses or {})
        self._environment = world or TaskEnvironment(only=boxes_for(url, stores))
        self._alone = url == MEMORY and store is None and running is None  # nobody else sees these runs
        self._url, self._work, self._concurrency = url, work, concurrency
        self._tasks = running.tasks if running else REGISTRY if tasks is None else tasks_given(tasks)
        self._grace = timedelta(seconds=(0 if self._alone else 10) if grace is None else grace)
        self._calls = ShortCalls(MAX_CONCURRENT_CALLS, "penstock-call")
        self._running = running
        self._parts = None if running is None else self._compose(running)
        self._opening = asyncio.Lock()
        self._closed = False
        self.drafts = Drafts(self._open, self._tasks)
        self.following = Following(self._open)
        self.schedules = Schedules(self._open)

    # -- workflows -------------------------------------------------------------------------------------------

    publish = delegate("workflows", Workflows.publish)
    workflows = delegate("workflows", Workflows.workflows)
    start_source = delegate("workflows", Workflows.start_source)
    stop_source = delegate("workflows", Workflows.stop_source)
    pause_workflow = delegate("workflows", Workflows.pause_workflow)
    resume_workflow = delegate("workflows", Workflows.resume_workflow)

    # -- runs ------------------------------------------------------------------------------------------------

    start = delegate("runs", Runs.start)
    start_once = delegate("runs", Runs.start_once)
    emit = delegate("runs", Runs.emit)
    wait = delegate("runs", Runs.wait)
    cancel = delegate("runs", Runs.cancel)
    pause = delegate("runs", Runs.pause)
    resume = delegate("runs", Runs.resume)
    retry = delegate("runs", Runs.retry)
    rerun = delegate("runs", Runs.rerun)
    disable = delegate("runs", Runs.disable)
    call = delegate("calls", Calls.call)

    # -- reading ---------------------------------------------------------------------------------------------

    show = delegate("queries", RunQueries.show)
    history = delegate("queries", RunQueries.history)
    history_page = delegate("queries", RunQueries.history_page)
    doing = delegate("queries", RunQueries.doing)
    logs = delegate("queries", RunQueries.logs)
    runs = delegate("queries", RunQueries.runs)
    counts = delegate("queries", RunQueries.counts)

    # -- operations ------------------------------------------------------------------------------------------

    list_runs = delegate("operations", Operations.list_runs)
    why = delegate("operations", Operations.why)
    why_task_list = delegate("operations", Operations.why_task_list)
    marking = delegate("operations", Operations.marking)
    repair = delegate("operations", Operations.repair)
    skip = delegate("operations", Operations.skip)
    fail = delegate("operations", Operations.fail)
    incidents = delegate("operations", Operations.incidents)
    workers = delegate("operations", Operations.workers)
    slow = delegate("operations", Operations.slow)
    stuck = delegate("operations", Operations.stuck)
    bulk = delegate("operations", Operations.bulk)
    undelivered = delegate("operations", Operations.undelivered)
    undelivered_page = delegate("operations", Operations.undelivered_page)
    redeliver = delegate("operations", Operations.redeliver)
    refused_keys = delegate("operations", Operations.refused_keys)
    queues = delegate("operations", Operations.queues)
    tokens = delegate("operations", Operations.tokens)
    edit_tokens = delegate("operations", Operations.edit_tokens)
    claim_tokens = delegate("operations", Operations.claim_tokens)
    stats = delegate("operations", Operations.stats)
    pulse = delegate("operations", Operations.pulse)

    # -- people and services ---------------------------------------------------------------------------------

    approvals = delegate("approval_decisions", ApprovalDecisions.approvals)
    approvals_page = delegate("approval_decisions", ApprovalDecisions.approvals_page)
    approval = delegate("approval_decisions", ApprovalDecisions.approval)
    decide = delegate("approval_decisions", ApprovalDecisions.decide)
    knows_callback = delegate("callbacks", Callbacks.knows_callback)
    call_back = delegate("callbacks", Callbacks.call_back)
    report = delegate("callbacks", Callbacks.report)

    # -- applications ----------------------------------------------------------------------------------------

    fetch = delegate("applications", ApplicationServices.fetch)
    give_secret = delegate("applications", ApplicationServices.give_secret)
    give_addresses = delegate("applications", ApplicationServices.give_addresses)
    manage = delegate("applications", ApplicationServices.manage)
    ask_services_now = delegate("applications", ApplicationServices.ask_services_now)

    def acting_for(self, workflow: str) -> AbstractContextManager[None]:
        """What is done in this block is done by the application that manages the workflow."""
        return acting_for(workflow)

    # -- life ------------------------------------------------------------------------------------------------

    async def running(self) -> EngineServices:
        """The open store, node and worker, for a server that builds on them."""
        return await self._open()

    async def close(self) -> None:
        """Let running tasks finish within the grace, and close. Waiting callers get an error."""
        self._closed = True
        self._calls.close()
        async with self._opening:
            running, self._running = self._running, None
        if running is not None:
            await running.close(self._grace)

    async def __aenter__(self) -> Engine:
        await self._open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    @staticmethod
    def sync(url: str = MEMORY, **more: Any) -> SyncEngine:
        """The same engine for plain callers: every method waits for its answer."""
        return SyncEngine(Engine(url, **more))

    async def _open(self) -> EngineServices:
        """The store and all that works on it, opened at the first call."""
        if self._running is not None and not self._closed and not self._opening.locked():
            return self._running
        async with self._opening:
            if self._closed:
                raise closed()
            if self._running is None:
                self._running = await self._begin()
                await self._running.serve_boxes()
            if self._parts is None:
                self._parts = self._compose(self._running)
            return self._running

    def _compose(self, running: EngineServices) -> Parts:
        store, node = running.store, running.node
        return Parts(
            workflows=Workflows(store, node, running.catalog),
            runs=Runs(store, node, running.looking_back, self._tasks if self._alone else None),
            calls=Calls(running, self._calls),
            queries=RunQueries(store, node),
            operations=Operations(store, node, running.looking_back),
            approval_decisions=ApprovalDecisions(store, node),
            callbacks=Callbacks(store, node, running.callback_tokens),
            applications=ApplicationServices(running),
        )

    async def _begin(self) -> EngineServices:
        how: dict[str, Any] = {
            "work": self._work,
            "concurrency": self._concurrency,
            "grace": self._grace,
            "retention": self._retention,
            "fleet": self._fleet,
            "environment": self._environment if self._work else None,
            "feed": self._feed,
            "means": self._means,
        }
        if self._store is not None:
            return await EngineServices.on(self._store, self._tasks, shared=True, **how)
        return await EngineServices.open(self._url, self._tasks, **how)
