"""A child process of a worker: `python -m penstock.workers.execute.process_main SOURCE…` runs their tasks."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from contextlib import suppress
from queue import SimpleQueue
from typing import BinaryIO

from penstock.workers.context import Context
from penstock.workers.execute.frames import (
    Broken,
    Cancel,
    Ready,
    Run,
    Up,
    ended,
    read_down,
    send,
    telling_context,
)
from penstock.workers.execute.task_call import CancelableCall, Outcome, not_offered
from penstock.workers.task import Task
from penstock.workers.worker.task_loader import TasksUnreadable, load_tasks


class Child:
    """Runs one attempt after the other; a second thread listens, so that a cancellation comes through."""

    def __init__(self, tasks: dict[str, Task], wanted: BinaryIO, reports: BinaryIO) -> None:
        self._tasks, self._wanted, self._reports = tasks, wanted, reports
        self._lock = threading.Lock()
        self._runs: SimpleQueue[Run] = SimpleQueue()
        self._runner = asyncio.Runner()
        self._number = 0
        self._context: Context | None = None
        self._call: CancelableCall | None = None

    def work(self) -> None:
        """For ever: the worker ends it by closing the pipe."""
        threading.Thread(target=self._listen, daemon=True).start()
        while True:
            run = self._runs.get()
            outcome = self._outcome(run)
            self._context = self._call = None
            self._say(ended(outcome))

    def _listen(self) -> None:
        while (frame := read_down(self._wanted)) is not None:
            if isinstance(frame, Cancel):
                self._cancel(frame.number)
            else:
                self._number, self._context = frame.number, telling_context(frame.attempt, self._say)
                self._runs.put(frame)
        # The worker is gone: nobody would hear how the task ends, nor end what it started.
        os.killpg(0, signal.SIGKILL)

    def _cancel(self, number: int) -> None:
        if number != self._number:
            return
        if self._context is not None:
            self._context.cancel()
        if self._call is not None:
            self._call.cancel()

    def _outcome(self, run: Run) -> Outcome:
        task = self._tasks.get(run.attempt.task)
        if task is None:
            return not_offered(run.attempt.task, self._tasks)
        self._call = CancelableCall(task, run.attempt, run.limit)
        return self._call.outcome(self._context, self._runner.run)

    def _say(self, frame: Up) -> None:
        with self._lock:
            send(self._reports, frame)


def main(sources: list[str]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the worker, which then ends its children
    wanted, reports = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    # What tasks print goes to the worker's standard error: on standard output it would break the frames.
    os.dup2(2, 1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    # A process that the task forks must not hold the pipe open: the worker would not see that we died.
    os.register_at_fork(after_in_child=lambda: os.closerange(wanted.fileno(), reports.fileno() + 1))
    try:
        tasks = load_tasks(sources)
    except TasksUnreadable as error:
        send(reports, Broken(str(error)))
        return
    send(reports, Ready())
    Child(tasks, wanted, reports).work()


if __name__ == "__main__":
    with suppress(BrokenPipeError):
        main(sys.argv[1:])
