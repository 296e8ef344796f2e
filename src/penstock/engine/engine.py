"""`penstock.Engine`: the whole thing inside your own program. It only delegates."""

from __future__ import annotations

import asyncio
import functools
import time
from collections.abc import Callable, Mapping
from datetime import timedelta
from types import TracebackType
from typing import Any

from penstock.boxes.world import TaskEnvironment
from penstock.engine.application import Calling
from penstock.engine.authoring.drafts import Drafts
from penstock.engine.authoring.load import Source
from penstock.engine.decisions_and_reports import Awaiting
from penstock.engine.follow import Following
from penstock.engine.operations import Overseeing
from penstock.engine.options import boxes_for, refuse_options, tasks_given
from penstock.engine.read import Reading
from penstock.engine.schedules import Schedules
from penstock.engine.services import Running
from penstock.engine.sync import SyncEngine, closed
from penstock.flow.compile.compile import LONE, SERVED
from penstock.flow.model.run import Pauser, RunId, Snapshot
from penstock.flow.model.run_input import Outside, Paused, Resumed
from penstock.flow.views.run_view import run_view
from penstock.objects.stores import Stores
from penstock.runtime.call_errors import CallTimedOut, CannotCall
from penstock.runtime.codec.messages import encode_message
from penstock.runtime.commands.validation import refuse_no_limit, refuse_no_text
from penstock.runtime.errors import Invalid, NoTask, UnknownWorkflow
from penstock.runtime.node.audit_context import by_for
from penstock.sources.triggers.trigger import Means
from penstock.store.protocol import Store
from penstock.topics.opening import refuse_bad
from penstock.workers.execute.fleet import ExecutorFactory
from penstock.workers.execute.short_calls import ShortCalls
from penstock.workers.execute.workflow_call import call_workflow
from penstock.workers.task import REGISTRY, missing_tasks
from penstock.workers.worker.worker import CONCURRENCY

PAUSED, ALL_PAUSED = "it is paused", "the whole installation is paused"
CALLS = 32
"""How many workflows may be called at a time; others wait, within their own limit."""

MEMORY = "memory:"


class Engine(Reading, Overseeing, Awaiting, Calling):
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
        running: Running | None = None,
        fleet: ExecutorFactory | None = None,
        feed: bool = True,
        stores: Mapping[str, str] | None = None,
        buses: Mapping[str, str] | None = None,
        world: TaskEnvironment | None = None,
    ) -> None:
        refuse_options(url, concurrency, grace, retention)
        refuse_bad(buses or {})
        self._store, self._retention, self._fleet, self._feed = store, retention, fleet, feed
        self._means = Means(stores=Stores(stores), buses=buses or {})
        self._world = world or TaskEnvironment(only=boxes_for(url, stores))
        self._alone = url == MEMORY and store is None and running is None  # nobody else sees these runs
        self._url, self._work, self._concurrency = url, work, concurrency
        self._tasks = running.tasks if running else REGISTRY if tasks is None else tasks_given(tasks)
        self._grace = timedelta(seconds=(0 if self._alone else 10) if grace is None else grace)
        self._calls = ShortCalls(CALLS, "penstock-call")
        self._running = running
        self._opening = asyncio.Lock()
        self._closed = False
        self.drafts = Drafts(self._open, self._tasks)
        self.following = Following(self._open)
        self.schedules = Schedules(self._open)

    # -- workflows -----------------------------------------------------------------------------------------

    async def publish(
        self,
        definition: Source,
        *,
        note: str | None = None,
        start: bool | None = None,
        again: bool = True,
        override: str | None = None,
    ) -> int:
        """Publish a definition (YAML or JSON text, a path, or a plain map); its version, 1, 2, 3 …

        With `again=False` a text that is the newest version already makes no other: for programs that publish
        whenever they start.

        Raises DefinitionError where it cannot be read and CheckFailed where the checks find an error, unless
        `override` says why it is published all the same.
        """
        catalog = (await self._open()).catalog
        return (await catalog.publish(definition, note, start, again, override)).version

    async def workflows(self) -> list[dict[str, Any]]:
        """Every workflow: name, newest version, whether it is started and whether it is paused."""
        states = await (await self._open()).node.flows.states()
        return [
            {
                "name": each.name,
                "published_version": each.latest,
                "started": each.started,
                "paused": each.paused or each.halted,
            }
            for each in states
        ]

    async def start_source(self, workflow: str) -> None:
        """Let the source of a workflow make runs."""
        await self._set_started(workflow, True)

    async def stop_source(self, workflow: str) -> None:
        """Let the source of a workflow make no more runs; those under way finish."""
        await self._set_started(workflow, False)

    async def pause_workflow(self, workflow: str | None = None) -> None:
        """Dispatch nothing new of a workflow, or (None) of the installation, until it is resumed."""
        if workflow is not None:
            (await self._open()).node.flows.managers.refuse(workflow)
        await self._set_paused(workflow, True)

    async def resume_workflow(self, workflow: str | None = None) -> None:
        """Go on where the pause of a workflow or of the installation held runs."""
        await self._set_paused(workflow, False)

    async def _set_started(self, workflow: str, started: bool) -> None:
        running = await self._open()
        refuse_no_text(workflow=workflow)
        running.node.flows.managers.refuse(workflow)
        if not await running.store.set_started(workflow, started, by_for(workflow)):
            raise UnknownWorkflow(workflow, [each.name for each in await running.node.flows.states()])
        running.node.flows.forget()

    async def _set_paused(self, workflow: str | None, paused: bool) -> None:
        running = await self._open()
        refuse_no_text(workflow=workflow)
        by: Pauser = "installation" if workflow is None else "workflow"
        word, opposite = (Paused(by), Resumed(by)) if paused else (Resumed(by), Paused(by))
        if not await running.store.set_paused(
            workflow, paused, encode_message(word), encode_message(opposite), by_for(workflow or "everything")
        ):
            raise UnknownWorkflow(workflow or "", [each.name for each in await running.node.flows.states()])
        running.node.flows.forget()
        running.node.ringing.look()
        await running.store.notify("messages")

    # -- runs ----------------------------------------------------------------------------------------------

    async def start(
        self,
        workflow: str,
        *,
        subject: str | None = None,
        input: Any = None,
        labels: Mapping[str, str] | None = None,
        tags: Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
        version: int | None = None,
    ) -> RunId:
        """Start a run of the newest version; its id. A key seen before gives the first run.

        Raises UnknownWorkflow, InvalidInput, IdempotencyMismatch, and in memory NoTask.
        """
        running = self._running or await self._open()
        if self._alone:
            await self._refuse_missing(workflow)
        run, _ = await running.node.intake.start_once(
            workflow,
            subject=subject,
            input=input,
            labels=labels,
            tags=tags,
            idempotency_key=idempotency_key,
            version=version,
        )
        return run

    async def start_once(self, workflow: str, **how: Any) -> tuple[RunId, bool]:
        """As `start`; also whether the run was there already, by its `idempotency_key`."""
        running = self._running or await self._open()
        if self._alone:
            await self._refuse_missing(workflow)
        return await running.node.intake.start_once(workflow, **how)

    async def _refuse_missing(self, workflow: str) -> None:
        """In memory nobody else will ever do a task that this process does not have."""
        flow, _ = await (await self._open()).node.flows.newest(workflow)
        missing = [name for name in missing_tasks(flow, self._tasks) if name not in SERVED | LONE]
        if missing:
            raise NoTask(missing, self._tasks)

    async def emit(
        self,
        event: str,
        data: Any = None,
        *,
        run: str | None = None,
        key: Mapping[str, str] | None = None,
        set: Mapping[str, Any] | None = None,
        id: str | None = None,
        source: str | None = None,
        sees: Callable[[str], bool] | None = None,
    ) -> str:
        """Fire an outside event into a run, named by `run` or found by `key`; its id is unique within `source`.

        `sees` says of which workflows a run may be found. Answers `accepted`,
        `duplicate` (that id came before) or `recorded` (nothing acts on it).
        """
        if (run is None) == (key is None):
            raise Invalid("say which run the event is for: either `run` or `key`")
        if set is not None and not isinstance(set, Mapping):
            raise Invalid(f"`set` must be a map of what to change in the data, not {type(set).__name__}")
        outside = Outside(event=event, data=data, set=None if set is None else dict(set), id=id)
        intake = (await self._open()).node.intake
        if run is not None:
            return await intake.emit(run, outside)
        return await intake.emit_by_key(key or {}, outside, source, sees)

    async def wait(self, run: str, timeout: float | None = None, *, rest: bool = False) -> dict[str, Any]:
        """Wait until the run has ended or is stalled (with `rest` also: waits for outside); the run.

        Raises TimeoutError.
        """

        def over(snapshot: Snapshot) -> bool:
            return snapshot.ended or snapshot.status == "stalled" or (rest and snapshot.status == "waiting")

        node = (await self._open()).node
        async with asyncio.timeout(timeout):
            return run_view(*await node.watching.until(run, over))

    async def call(
        self,
        workflow: str,
        *,
        input: Any = None,
        subject: str | None = None,
        timeout: float = 30,
        version: int | None = None,
    ) -> dict[str, Any]:
        """Run a workflow (its newest version) in memory, at once; `{status, result, data, tags, steps}`.

        Answers within `timeout` seconds, whatever the tasks do: a plain function that runs over is left
        behind in its thread, and no step begins after it. A step's own time-outs are enforced, but for
        `heartbeat`: the worker is this process. Raises CannotCall where a step cannot run that way and
        CallTimedOut.
        """
        refuse_no_limit(timeout)
        running = self._running or await self._open()
        node = running.node
        flow, state = await node.flows.recent(workflow)
        if state.paused or state.halted:
            raise CannotCall(workflow, [PAUSED if state.paused else ALL_PAUSED])
        if version is not None and version != flow.version:
            flow = await node.flows.get(workflow, version)
        began, limit = time.monotonic(), timedelta(seconds=timeout)
        tally, status, steps = node.calls.of(flow.name, node.clock.now), "refused", {}
        run = functools.partial(
            call_workflow,
            flow,
            running.callable,
            input=input,
            subject=subject,
            limit=limit,
            until=began + timeout,
            redact=await running.vault.redaction(),
        )
        try:
            answer = await self._calls.result_of(run, timeout)
            status, steps = answer["status"], answer["steps"]
            return answer
        except (TimeoutError, CallTimedOut):
            status = "timed_out"
            raise CallTimedOut(flow.name, limit) from None
        finally:
            tally.add(status, time.monotonic() - began, steps)

    async def cancel(self, run: str, *, force: bool = False, reason: str | None = None) -> dict[str, Any]:
        """Cancel a run; its clean-up steps still run, unless `force`."""
        await (await self._open()).node.intake.cancel(run, force, reason)
        return await self.show(run)

    async def pause(self, run: str) -> dict[str, Any]:
        """Dispatch nothing new of a run until it is resumed."""
        await (await self._open()).node.intake.pause(run)
        return await self.show(run)

    async def resume(self, run: str) -> dict[str, Any]:
        """Go on where a pause held the run."""
        await (await self._open()).node.intake.resume(run)
        return await self.show(run)

    async def retry(self, run: str, step: str | None = None) -> dict[str, Any]:
        """Put back what the failed steps of a failed run consumed, and run on."""
        await (await self._open()).node.intake.retry(run, step)
        return await self.show(run)

    async def rerun(
        self, run: str, *, version: int | None = None, input: Any = None, start_at: str | None = None
    ) -> RunId:
        """A new run of the same workflow with the same input, or another; its id.

        With `start_at` it begins where the old one was before that step began for the last time.
        """
        running = await self._open()
        if start_at is not None:
            async with running.looking_back:
                return await running.node.mender.rerun(running.store, run, start_at, version, input)
        return await running.node.intake.rerun(run, version, input)

    async def disable(self, run: str, step: str, port: str | None = "done") -> dict[str, Any]:
        """Let a step of this run end on `port` at once, without its task; None makes it work again.

        Raises RunEnded, UnknownStep, and Invalid where there is no such port.
        """
        await (await self._open()).node.intake.disable(run, step, port)
        return await self.show(run)

    # -- life ----------------------------------------------------------------------------------------------

    async def running(self) -> Running:
        """The store, the node and the worker that are at work: for what a server builds on them."""
        return await self._open()

    async def close(self) -> None:
        """Let what runs finish within the grace, and close; whoever waits is told."""
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

    async def _open(self) -> Running:
        """The store and all that works on it, opened at the first call."""
        if self._running is not None and not self._closed and not self._opening.locked():
            return self._running
        async with self._opening:
            if self._closed:
                raise closed()
            if self._running is None:
                self._running = await self._begin()
                await self._running.serve_boxes()
            return self._running

    async def _begin(self) -> Running:
        how: dict[str, Any] = {
            "work": self._work,
            "concurrency": self._concurrency,
            "grace": self._grace,
            "retention": self._retention,
            "fleet": self._fleet,
            "world": self._world if self._work else None,
            "feed": self._feed,
            "means": self._means,
        }
        if self._store is not None:
            return await Running.on(self._store, self._tasks, shared=True, **how)
        return await Running.open(self._url, self._tasks, **how)
