"""Executors: coroutines on the loop, plain functions in threads, or all of them in processes."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextvars import copy_context

from penstock.flow.values.payload import PAYLOAD_LIMIT
from penstock.runtime.node.log_context import ATTEMPT
from penstock.workers.context import Context, LogSink
from penstock.workers.execute.processes import KILL_AFTER, TaskProcess
from penstock.workers.execute.task_call import call_async, failure
from penstock.workers.execute.thread_pool import Ended, TaskThread, ThreadPool
from penstock.workers.worker.work import TaskRunner, Work


class TaskExecutor:
    """Begins work and tells how each piece ended, on the loop; what was cancelled is not told."""

    def __init__(
        self,
        ended: Ended,
        write: LogSink,
        on_progress: Callable[[], None],
        limit: int = PAYLOAD_LIMIT,
        *,
        threads: int,
        processes: int = 0,
        sources: Sequence[str] = (),
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._ended, self._write, self._on_progress, self._limit = ended, write, on_progress, limit
        self._processes = processes > 0

        def hire() -> TaskRunner:
            return TaskProcess(sources, write, limit) if self._processes else TaskThread(limit)

        max_threads = processes or threads
        self._thread_pool = ThreadPool(self._loop, max_threads, hire, ended, replace=not self._processes)
        self._leaving: set[asyncio.Future[None]] = set()

    def begin(self, works: Iterable[Work]) -> None:
        """Start each: a coroutine at once, anything else as soon as a hand is free."""
        queued: list[Work] = []
        coroutines: deque[Work] = deque()
        for work in works:
            if work.task.takes_context or self._processes:
                work.context = Context(work.attempt, self._write, self._on_progress, work.lease.fence > 1)
            if work.task.is_async and not self._processes:
                coroutines.append(work)
            else:
                queued.append(work)
        if coroutines:
            self._loop.create_task(self._run_in_turn(coroutines))
        if queued:
            self._thread_pool.put(queued)

    async def _run_in_turn(self, works: deque[Work]) -> None:
        """Coroutines that end at once share one task of the loop: one for each would cost more than they do.

        The rest get their own as soon as one waits, or leaves something in the task that the next would find.
        """
        ATTEMPT.set(None)  # as each leaves it: what was never set would look like something left behind
        task, context = asyncio.current_task(), copy_context()
        assert task is not None
        self._loop.call_soon(self._run_apart, works)
        while works and not task.cancelling() and copy_context() == context:
            work = works.popleft()
            work.future = task
            await self._run(work)

    def _run_apart(self, works: deque[Work]) -> None:
        for work in works:
            work.future = self._loop.create_task(self._run(work))
        works.clear()

    async def _run(self, work: Work) -> None:
        if work.void:
            return
        work.begun = True
        try:
            outcome = await call_async(work.task, work.attempt, work.context, self._limit)
        except asyncio.CancelledError as error:
            if work.void:
                raise
            # It was cancelled by somebody else's code: an attempt that is not reported would hang its run.
            outcome = failure(error)
        if not work.void:
            self._ended(work, outcome)

    def cancel(self, work: Work) -> None:
        """The work is no longer wanted: its task is on_progress, and nothing of it will be."""
        work.void = True
        if work.context is not None:
            work.context.cancel()
        if work.future is None:
            self._thread_pool.cancel(work)
        elif not work.future.done():
            # Kept until it has ended: the loop itself would let it be swept away half-way.
            self._leaving.add(work.future)
            work.future.add_done_callback(self._leaving.discard)
            work.future.cancel()

    def take_back(self) -> list[Work]:
        """All that was not begun; it will not be."""
        return self._thread_pool.take_back()

    async def close(self, timeout: float = 1.0) -> None:
        """Let everybody go; cancelled coroutines may clean up for a moment."""
        if self._leaving:
            await asyncio.wait(self._leaving, timeout=timeout)
        self._thread_pool.close()
        if self._processes:
            # Children that are left behind would only be ended by the end of this process.
            await asyncio.to_thread(self._thread_pool.join, time.monotonic() + timeout + KILL_AFTER)
