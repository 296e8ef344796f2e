"""`penstock.Engine`: the whole thing inside your own program. It only delegates."""

from __future__ import annotations

import asyncio
import concurrent.futures
import functools
import threading
import time
from collections.abc import Callable, Coroutine, Mapping
from datetime import UTC, datetime, timedelta
from types import TracebackType
from typing import Any, TypeVar

from penstock.engine.catalog import Catalog
from penstock.engine.loading import Source
from penstock.flow.occurrence import Outside
from penstock.flow.plan import Attempt
from penstock.flow.run import RunId, Snapshot
from penstock.flow.view import history_view, run_view, time_text
from penstock.runtime.clock import LoopClock
from penstock.runtime.errors import CallTimedOut, Invalid, NoTask, PenstockError
from penstock.runtime.host import Host, Hosted
from penstock.runtime.ids import new_run_id
from penstock.workers.call import call_workflow
from penstock.workers.loop import LoopExecutor
from penstock.workers.task import REGISTRY, missing_tasks, tasks_of
from penstock.workers.threads import Threads

T = TypeVar("T")

CALLS = 32
"""How many workflows may be called at a time; others wait, within their own limit."""


class Engine:
    """Publishes workflows and runs them. `Engine("memory:")` keeps everything in this process.

    `tasks` are functions, modules, or a map from name to function; without them every `@task` of this
    process is offered. Use it with `async with`, or `Engine.sync(...)` from plain code.
    """

    def __init__(self, url: str = "memory:", *, tasks: Any = None) -> None:
        if url != "memory:":
            raise Invalid(f"this version keeps runs in memory only: use Engine('memory:'), not {url!r}")
        self._tasks = REGISTRY if tasks is None else tasks_of(tasks)
        self._catalog = Catalog(self._tasks)
        self._logs: dict[str, list[dict[str, Any]]] = {}
        self._host: Host | None = None
        self._executor: LoopExecutor | None = None
        self._calls = Threads(CALLS, "penstock-call")
        self._waiters: set[asyncio.Future[None]] = set()
        self._closed = False

    async def publish(self, definition: Source) -> int:
        """Publish a definition (YAML or JSON text, a path, or a plain map); its version, 1, 2, 3 …

        Raises DefinitionError where it cannot be read and CheckFailed where the checks find an error.
        """
        return self._catalog.publish(definition).version

    async def start(
        self,
        workflow: str,
        *,
        subject: str | None = None,
        input: Any = None,
        labels: Mapping[str, str] | None = None,
        tags: Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
    ) -> RunId:
        """Start a run of the newest version; its id. A key seen before gives the first run.

        Raises UnknownWorkflow, InvalidInput, NoTask.
        """
        flow = self._catalog.flow(workflow)
        missing = missing_tasks(flow, self._tasks)
        if missing:
            raise NoTask(missing, self._tasks)
        return self._bound().start(
            flow,
            input=input,
            subject=subject,
            labels=labels,
            tags=tags,
            idempotency_key=idempotency_key,
        )

    async def emit(
        self,
        event: str,
        data: Any = None,
        *,
        run: str | None = None,
        key: Mapping[str, str] | None = None,
        set: Mapping[str, Any] | None = None,
        id: str | None = None,
    ) -> str:
        """Fire an outside event into a run, named by `run` or found by `key`.

        Answers `accepted`, `duplicate` (that id came before) or `recorded` (nothing acts on it).
        """
        if (run is None) == (key is None):
            raise Invalid("say which run the event is for: either `run` or `key`")
        outside = Outside(event=event, data=data, set=None if set is None else dict(set), id=id)
        if run is not None:
            return self._bound().emit(RunId(run), outside)
        assert key is not None
        return self._bound().emit_by_key(key, outside)

    async def undelivered(self) -> list[dict[str, Any]]:
        """The outside events of the last seven days that no run has taken, each with its `reason`."""
        return [
            {
                "event": kept.event.event,
                "key": kept.key,
                "data": kept.event.data,
                "set": kept.event.set,
                "id": kept.event.id,
                "at": time_text(kept.at),
                "reason": kept.reason,
            }
            for kept in self._bound().undelivered()
        ]

    async def refused_keys(self) -> list[dict[str, Any]]:
        """The correlation keys that runs asked for in vain: `holder` is the live run that has the key."""
        return [
            {"run": each.run, "key": dict([each.key]), "holder": each.holder, "at": time_text(each.at)}
            for each in self._bound().refused_keys()
        ]

    async def wait(self, run: str, timeout: float | None = None, *, rest: bool = False) -> dict[str, Any]:
        """Wait until the run has ended or is stalled (with `rest` also: waits for outside); the run.

        Raises TimeoutError.
        """
        hosted = self._bound().hosted(RunId(run))

        def over(snapshot: Snapshot) -> bool:
            return snapshot.ended or snapshot.status == "stalled" or (rest and snapshot.status == "waiting")

        async with asyncio.timeout(timeout):
            # Again: an event that was kept for the run may have sent it on before we look.
            while not over(hosted.snapshot):
                await self._change(hosted, over)
        return self._view(run)

    async def _change(self, hosted: Hosted, wanted: Callable[[Snapshot], bool]) -> None:
        """Wait until the run has once been as wanted."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def look(snapshot: Snapshot) -> None:
            if wanted(snapshot) and not future.done():
                future.set_result(None)

        hosted.watchers.append(look)
        self._waiters.add(future)
        try:
            await future
        finally:
            self._waiters.discard(future)
            hosted.watchers.remove(look)

    async def call(
        self, workflow: str, *, input: Any = None, subject: str | None = None, timeout: float = 30
    ) -> dict[str, Any]:
        """Run a workflow in memory, at once; `{status, result, data, tags, steps}`.

        Answers within `timeout` seconds, whatever the tasks do: a plain function that runs over is left
        behind in its thread, and no step begins after it. A step's own time-outs are enforced, but for
        `heartbeat`: the worker is this process. Raises CannotCall where a step cannot run that way and
        CallTimedOut.
        """
        self._refuse_closed()
        flow, limit = self._catalog.flow(workflow), timedelta(seconds=timeout)
        until = time.monotonic() + timeout
        run = functools.partial(
            call_workflow, flow, self._tasks, input=input, subject=subject, limit=limit, until=until
        )
        try:
            async with asyncio.timeout(timeout):
                return await self._calls.result_of(run)
        except TimeoutError:
            raise CallTimedOut(flow.name, limit) from None

    async def cancel(self, run: str, *, force: bool = False) -> dict[str, Any]:
        """Cancel a run; its clean-up steps still run, unless `force`."""
        self._bound().cancel(RunId(run), force)
        return self._view(run)

    async def pause(self, run: str) -> dict[str, Any]:
        """Dispatch nothing new of a run until it is resumed."""
        self._bound().pause(RunId(run))
        return self._view(run)

    async def resume(self, run: str) -> dict[str, Any]:
        """Go on where a pause held the run."""
        self._bound().resume(RunId(run))
        return self._view(run)

    async def retry(self, run: str, step: str | None = None) -> dict[str, Any]:
        """Put back what the failed steps of a failed run consumed, and run on."""
        self._bound().retry(RunId(run), step)
        return self._view(run)

    async def disable(self, run: str, step: str, port: str | None = "done") -> dict[str, Any]:
        """Let a step of this run end on `port` at once, without its task; None makes it work again.

        Raises RunEnded, and Invalid where there is no such step or port.
        """
        self._bound().disable(RunId(run), step, port)
        return self._view(run)

    async def show(self, run: str) -> dict[str, Any]:
        """The run as it is now."""
        return self._view(run)

    async def history(self, run: str) -> list[dict[str, Any]]:
        """All that happened to a run, in order."""
        return history_view(self._bound().hosted(RunId(run)).history)

    async def logs(self, run: str) -> list[dict[str, Any]]:
        """What the tasks of a run wrote with `ctx.log`, in order."""
        self._bound().hosted(RunId(run))
        return list(self._logs.get(run, ()))

    async def close(self) -> None:
        """Void what is under way; whoever waits is told. Runs in memory are gone with the process."""
        self._closed = True
        self._calls.close()
        if self._host is not None and self._executor is not None:
            self._executor.close()
            self._host.close()
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_exception(closed())

    async def __aenter__(self) -> Engine:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    @staticmethod
    def sync(url: str = "memory:", *, tasks: Any = None) -> SyncEngine:
        """The same engine for plain callers: every method waits for its answer."""
        return SyncEngine(url, tasks=tasks)

    def _bound(self) -> Host:
        """The host, made on the loop of the first call."""
        self._refuse_closed()
        if self._host is None:
            loop = asyncio.get_running_loop()
            self._executor = LoopExecutor(loop, self._tasks, log=self._write_log)
            self._host = Host(LoopClock(loop), self._executor, new_run_id)
        return self._host

    def _refuse_closed(self) -> None:
        if self._closed:
            raise closed()

    def _write_log(self, attempt: Attempt, level: str, text: str) -> None:
        line = {
            "at": time_text(datetime.now(UTC)),
            "step": attempt.step,
            "index": attempt.index,
            "attempt": attempt.attempt,
            "level": level,
            "text": text,
        }
        self._logs.setdefault(attempt.run.id, []).append(line)

    def _view(self, run: str) -> dict[str, Any]:
        hosted = self._bound().hosted(RunId(run))
        return run_view(hosted.flow, hosted.snapshot)


def closed() -> PenstockError:
    return PenstockError("this engine is closed")


class SyncEngine:
    """An `Engine` on a loop in a thread of its own. Each method of Engine is here, and waits."""

    def __init__(self, url: str = "memory:", *, tasks: Any = None) -> None:
        self._engine = Engine(url, tasks=tasks)
        self._loop = asyncio.new_event_loop()
        self._closed = False
        self._closing = threading.Lock()
        self._thread = threading.Thread(target=self._loop.run_forever, name="penstock", daemon=True)
        self._thread.start()

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self._engine, name)

        @functools.wraps(method)
        def waiting(*args: Any, **kwargs: Any) -> Any:
            return self._run(method(*args, **kwargs))

        return waiting

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        with self._closing:
            if self._closed:
                work.close()
                raise closed()
            future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except concurrent.futures.CancelledError:
            raise closed() from None

    def close(self) -> None:
        """Void what is under way, tell whoever waits, and end the thread."""
        with self._closing:
            if self._closed:
                return
            self._closed = True
        asyncio.run_coroutine_threadsafe(self._shut(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _shut(self) -> None:
        """What is not cancelled before the loop stops would wait for ever."""
        await self._engine.close()
        await asyncio.sleep(0)
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    def __enter__(self) -> SyncEngine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
