"""An executor that calls tasks in place, one after the other: for calls in memory, tests and scripts."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from penstock.flow.model.plan import Attempt
from penstock.flow.model.run import ElementKey, RunId
from penstock.flow.model.run_input import Reported
from penstock.flow.values.payload import payload_limit
from penstock.runtime.inmemory.executor import Report
from penstock.workers.context import Context, LogSink
from penstock.workers.execute.task_call import Outcome, call, call_async, failure, not_offered
from penstock.workers.task import Task


class InlineExecutor:
    """Runs each attempt to its end before it returns. Coroutines run on a loop of its own."""

    def __init__(self, tasks: Mapping[str, Task], log: LogSink | None = None) -> None:
        self.tasks, self.log = tasks, log
        self.limit = payload_limit()
        self._runner: asyncio.Runner | None = None

    def begin(self, attempt: Attempt, report: Report) -> None:
        outcome = self.outcome(attempt)
        report(Reported(attempt.firing, attempt.index, attempt.attempt, outcome))

    def outcome(self, attempt: Attempt) -> Outcome:
        """Call the task."""
        task = self.tasks.get(attempt.task)
        if task is None:
            return not_offered(attempt.task, self.tasks)
        context = Context(attempt, self.log) if task.takes_context else None
        if not task.is_async:
            return call(task, attempt, context, self.limit)
        self._runner = self._runner or asyncio.Runner()
        try:
            return self._runner.run(call_async(task, attempt, context, self.limit))
        except asyncio.CancelledError as error:
            # It cancelled itself: Ctrl-C would come out as a KeyboardInterrupt.
            return failure(error)

    def withdraw(self, run: RunId, element: ElementKey) -> None:
        """Nothing is ever under way between two calls."""

    def close(self) -> None:
        if self._runner is not None:
            self._runner.close()
            self._runner = None
