"""An executor on an event loop: coroutines as tasks, plain functions in threads, time-outs in real time."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from datetime import timedelta

from penstock.flow.model.plan import Attempt
from penstock.flow.model.run import ElementKey, RunId
from penstock.flow.model.run_input import Reported, TimedOut
from penstock.runtime.inmemory.executor import Report
from penstock.workers.context import Context, LogSink
from penstock.workers.execute.task_call import Outcome, call, call_async, failure, not_offered
from penstock.workers.execute.threads import Job, Threads
from penstock.workers.task import Task

THREADS = 32

Key = tuple[RunId, ElementKey]


class _Work:
    """One attempt under way."""

    def __init__(self, attempt: Attempt, report: Report, log: LogSink | None) -> None:
        self.attempt, self._report = attempt, report
        self.context = Context(attempt, log)
        self.future: asyncio.Future[Outcome] | None = None
        self.job: Job | None = None
        self.timers: list[asyncio.TimerHandle] = []

    def report(self, outcome: Outcome | TimedOut) -> None:
        attempt = self.attempt
        self._report(Reported(attempt.firing, attempt.index, attempt.attempt, outcome))


class LoopExecutor:
    """Runs attempts at once, as many as come; plain functions share a pool of threads."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        tasks: Mapping[str, Task],
        log: LogSink | None = None,
    ) -> None:
        self.log = log
        self.tasks = tasks
        self._loop = loop
        self._threads = Threads(THREADS)
        self._work: dict[Key, _Work] = {}

    @property
    def busy(self) -> bool:
        """Whether an attempt is under way."""
        return bool(self._work)

    def begin(self, attempt: Attempt, report: Report) -> None:
        """Start an attempt; one whose task nobody has defined fails at once."""
        task = self.tasks.get(attempt.task)
        work = _Work(attempt, report, self.log)
        if task is None:
            work.report(not_offered(attempt.task, self.tasks))
            return
        key = (attempt.run.id, (attempt.firing, attempt.index))
        self._work[key] = work
        self._limit(key, work, "schedule_to_close")
        if task.is_async:
            self._limit(key, work, "start_to_close")
            work.future = asyncio.ensure_future(call_async(task, attempt, work.context), loop=self._loop)
            work.future.add_done_callback(lambda future: self._ended(key, work, _outcome(future)))
        else:
            self._in_thread(key, work, task)

    def _in_thread(self, key: Key, work: _Work, task: Task) -> None:
        waiting = self._limit(key, work, "schedule_to_start")

        def begin() -> None:
            if waiting is not None:
                waiting.cancel()
            if self._work.get(key) is work:
                self._limit(key, work, "start_to_close")

        def run() -> None:
            # A loop that was closed meanwhile takes no report, and nobody waits for one.
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(begin)
                outcome = call(task, work.attempt, work.context)
                self._loop.call_soon_threadsafe(self._ended, key, work, outcome)

        work.job = self._threads.submit(run)

    def _limit(self, key: Key, work: _Work, name: str) -> asyncio.TimerHandle | None:
        """Begin to count one of the step's time-outs, where it has that."""
        limit: timedelta | None = getattr(work.attempt.timeouts, name)
        if limit is None:
            return None
        timer = self._loop.call_later(limit.total_seconds(), self._time_out, key, work, name)
        work.timers.append(timer)
        return timer

    def _time_out(self, key: Key, work: _Work, limit: str) -> None:
        if self._drop(key, work):
            work.report(TimedOut(limit))

    def _ended(self, key: Key, work: _Work, outcome: Outcome) -> None:
        if self._work.get(key) is work:
            self._close(key, work)
            work.report(outcome)

    def withdraw(self, run: RunId, element: ElementKey) -> None:
        work = self._work.get((run, element))
        if work is not None:
            self._drop((run, element), work)

    def _drop(self, key: Key, work: _Work) -> bool:
        """The attempt is void: tell the task; False where it was so already."""
        if self._work.get(key) is not work:
            return False
        self._close(key, work)
        work.context.cancel()
        if work.future is not None:
            work.future.cancel()
        if work.job is not None:
            self._threads.give_up(work.job)
        return True

    def _close(self, key: Key, work: _Work) -> None:
        del self._work[key]
        for timer in work.timers:
            timer.cancel()

    def close(self) -> None:
        """Void what is under way and let the threads go."""
        for key, work in list(self._work.items()):
            self._drop(key, work)
        self._threads.close()


def _outcome(future: asyncio.Future[Outcome]) -> Outcome:
    """Whatever became of the coroutine: an attempt that is not reported would hang its run for ever."""
    if future.cancelled():
        return failure(asyncio.CancelledError())
    error = future.exception()
    return future.result() if error is None else failure(error)
