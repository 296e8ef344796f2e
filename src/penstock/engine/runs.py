"""The part of the engine for runs: start, emit, pause, repair and cancel."""

from __future__ import annotations

import asyncio
import functools
import time
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, Protocol

from penstock.engine.services import EngineServices
from penstock.flow.compile.compile import LONE, SERVED
from penstock.flow.model.run import RunId, Snapshot
from penstock.flow.model.run_input import Outside
from penstock.flow.views.run_view import run_view
from penstock.runtime.call_errors import CallTimedOut, CannotCall
from penstock.runtime.commands.validation import validate_timeout
from penstock.runtime.errors import Invalid, NoTask
from penstock.runtime.node.node import Node
from penstock.runtime.queries.run_view import show_run
from penstock.store.protocol import Runs as RunRole
from penstock.store.protocol import TaskViews
from penstock.workers.execute.short_calls import ShortCalls
from penstock.workers.execute.workflow_call import call_workflow
from penstock.workers.task import Task, missing_tasks

PAUSED, ALL_PAUSED = "it is paused", "the whole installation is paused"


class ActionRows(RunRole, TaskViews, Protocol):
    """Runs, and the tasks that they have."""


class Runs:
    """Every way to make a run and to change one. `only` are the tasks of an engine whose runs nobody else sees."""

    def __init__(
        self, store: ActionRows, node: Node, looking_back: asyncio.Semaphore, only: Mapping[str, Task] | None
    ) -> None:
        self._store, self._node, self._looking_back, self._only = store, node, looking_back, only

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
        run, _ = await self.start_once(
            workflow,
            subject=subject,
            input=input,
            labels=labels,
            tags=tags,
            idempotency_key=idempotency_key,
            version=version,
        )
        return run

    async def start_once(self, /, workflow: str, **how: Any) -> tuple[RunId, bool]:
        """As `start`; also whether the run was there already, by its `idempotency_key`."""
        if self._only is not None:
            await self._validate_tasks(workflow, self._only)
        return await self._node.commands.start_once(workflow, **how)

    async def _validate_tasks(self, workflow: str, tasks: Mapping[str, Task]) -> None:
        """In memory nobody else will ever do a task that this process does not have."""
        flow, _ = await self._node.flows.newest(workflow)
        missing = [name for name in missing_tasks(flow, tasks) if name not in SERVED | LONE]
        if missing:
            raise NoTask(missing, tasks)

    async def emit(
        self,
        event: str, data: Any = None, *,
        run: str | None = None, key: Mapping[str, str] | None = None,
        set: Mapping[str, Any] | None = None, id: str | None = None,
        source: str | None = None, sees: Callable[[str], bool] | None = None,
    ) -> str:  # fmt: skip
        """Fire an outside event into a run, named by `run` or found by `key`; its id is unique within `source`.

        `sees` says of which workflows a run may be found. Answers `accepted`,
        `duplicate` (that id came before) or `recorded` (nothing acts on it).
        """
        if (run is None) == (key is None):
            raise Invalid("say which run the event is for: either `run` or `key`")
        if set is not None and not isinstance(set, Mapping):
            raise Invalid(f"`set` must be a map of what to change in the data, not {type(set).__name__}")
        outside = Outside(event=event, data=data, set=None if set is None else dict(set), id=id)
        commands = self._node.commands
        if run is not None:
            return await commands.emit(run, outside)
        return await commands.emit_by_key(key or {}, outside, source, sees)

    async def wait(self, run: str, timeout: float | None = None, *, rest: bool = False) -> dict[str, Any]:
        """Wait until the run has ended or is stalled (with `rest` also: waits for outside); the run.

        Raises TimeoutError.
        """

        def over(snapshot: Snapshot) -> bool:
            return snapshot.ended or snapshot.status == "stalled" or (rest and snapshot.status == "waiting")

        async with asyncio.timeout(timeout):
            return run_view(*await self._node.run_watch.until(run, over))

    async def cancel(self, run: str, *, force: bool = False, reason: str | None = None) -> dict[str, Any]:
        """Cancel a run; its clean-up steps still run, unless `force`."""
        await self._node.commands.cancel(run, force, reason)
        return await self._show(run)

    async def pause(self, run: str) -> dict[str, Any]:
        """Dispatch nothing new of a run until it is resumed."""
        await self._node.commands.pause(run)
        return await self._show(run)

    async def resume(self, run: str) -> dict[str, Any]:
        """Resume a paused run."""
        await self._node.commands.resume(run)
        return await self._show(run)

    async def retry(self, run: str, step: str | None = None) -> dict[str, Any]:
        """Put back what the failed steps of a failed run consumed, and run on."""
        await self._node.commands.retry(run, step)
        return await self._show(run)

    async def rerun(
        self, run: str, *, version: int | None = None, input: Any = None, start_at: str | None = None
    ) -> RunId:
        """A new run of the same workflow with the same input, or another; its id.

        With `start_at` it begins where the old one was before that step began for the last time.
        """
        if start_at is not None:
            async with self._looking_back:
                return await self._node.repairs.rerun(self._store, run, start_at, version, input)
        return await self._node.commands.rerun(run, version, input)

    async def disable(self, run: str, step: str, port: str | None = "done") -> dict[str, Any]:
        """Let a step of this run end on `port` at once, without its task; None makes it work again.

        Raises RunEnded, UnknownStep, and Invalid where there is no such port.
        """
        await self._node.commands.disable(run, step, port)
        return await self._show(run)

    async def _show(self, run: str) -> dict[str, Any]:
        return await show_run(self._store, await self._node.look(run))


class Calls:
    """Runs that are kept nowhere: made, gone through and answered at once."""

    def __init__(self, running: EngineServices, threads: ShortCalls) -> None:
        self._running, self._node, self._threads = running, running.node, threads

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
        validate_timeout(timeout)
        flow, state = await self._node.flows.recent(workflow)
        if state.paused or state.halted:
            raise CannotCall(workflow, [PAUSED if state.paused else ALL_PAUSED])
        if version is not None and version != flow.version:
            flow = await self._node.flows.get(workflow, version)
        began, limit = time.monotonic(), timedelta(seconds=timeout)
        tally, status, steps = self._node.calls.of(flow.name, self._node.clock.now), "refused", {}
        run = functools.partial(
            call_workflow,
            flow,
            self._running.callable,
            input=input,
            subject=subject,
            limit=limit,
            until=began + timeout,
            redact=self._running.vault.redaction_in_threads(),
        )
        try:
            answer = await self._threads.result_of(run, timeout)
            status, steps = answer["status"], answer["steps"]
            return answer
        except (TimeoutError, CallTimedOut):
            status = "timed_out"
            raise CallTimedOut(flow.name, limit) from None
        finally:
            tally.add(status, time.monotonic() - began, steps)
