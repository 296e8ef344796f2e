"""Tasks in child processes: one that dies costs its attempt and nothing else."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from typing import BinaryIO, cast

from penstock.flow.model.retry_policy import Backoff
from penstock.flow.model.run_input import Outcome, TimedOut
from penstock.flow.values.payload import PAYLOAD_LIMIT
from penstock.workers.context import LogSink
from penstock.workers.execute.frames import Broken, Cancel, Ended, Ready, Run, heard, read_up, send
from penstock.workers.worker.work import Work

LOG = logging.getLogger("penstock.worker")
REPLACE = Backoff(initial=timedelta(seconds=0.1), max=timedelta(seconds=10))

KILL_AFTER = 2.0
"""Seconds that a task has to end by itself, once it was told that it is no longer wanted."""


class TaskProcess:
    """Runs tasks in one child process, which is started when it is needed and replaced when it died."""

    def __init__(self, sources: Sequence[str], write: LogSink, limit: int = PAYLOAD_LIMIT) -> None:
        self.idle = True
        self._sources, self._write, self._limit = tuple(sources), write, limit
        self._child: subprocess.Popen[bytes] | None = None
        self._work: Work | None = None
        self._number = self._deaths = 0
        self._closed = threading.Event()
        self._lock = threading.Lock()  # whose work it is, and whether its child may be killed for it
        self._pipe = threading.Lock()
        self._doomed = False

    def ready(self) -> bool:
        """Start a child, and another one after a while, until one has loaded its tasks."""
        while not self._closed.is_set():
            if self._deaths > 1:
                self._closed.wait(REPLACE.delay(self._deaths - 1, str(id(self))).total_seconds())
            if not self._closed.is_set() and self._start():
                self.idle = False
                return True
        return False

    def _start(self) -> bool:
        try:
            self._child = self._spawn()
        except Exception as error:
            # The machine gives no process, memory or pipe now; that must cost no hand for good.
            self._deaths += 1
            LOG.error("a process for tasks cannot begin: %s", error)
            return False
        why = None
        try:
            said = read_up(self._from)
            if isinstance(said, Ready):
                return True
            why = said.why if isinstance(said, Broken) else None
        except Exception as error:
            why = f"it said what cannot be read ({error})"
        code = self._end()
        LOG.error("a process for tasks cannot begin: %s", why or _how_it_ended(code))
        return False

    def _spawn(self) -> subprocess.Popen[bytes]:
        path = os.pathsep.join(entry for entry in sys.path if entry)
        return subprocess.Popen(
            [sys.executable, "-m", "penstock.workers.execute.process_main", *self._sources],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": path},
            start_new_session=True,  # what the task itself starts goes with it
        )

    @property
    def _from(self) -> BinaryIO:
        assert self._child is not None
        return cast(BinaryIO, self._child.stdout)

    def do(self, work: Work) -> Outcome:
        with self._lock:
            self._work = work
            self._number += 1
        try:
            return self._run(work)
        except Exception as error:
            # What it said is not understood: the child cannot be used again.
            return self._lost(work, f"said what cannot be read ({error})")
        finally:
            with self._lock:
                self._work = None
            if self._doomed:
                self._end()

    def _run(self, work: Work) -> Outcome:
        assert self._child is not None
        with suppress(OSError), self._pipe:
            send(cast(BinaryIO, self._child.stdin), Run(self._number, work.attempt, self._limit))
        while (said := read_up(self._from)) is not None:
            if isinstance(said, Ended):
                self._deaths = 0
                outcome = said.done or said.failed
                assert outcome is not None
                return outcome
            heard(said, work.attempt, work.context, self._write)
        return self._lost(work, None)

    def _lost(self, work: Work, why: str | None) -> TimedOut:
        code = self._end()
        message = f"the process of the task {why or _how_it_ended(code)}"
        if not work.void:
            LOG.warning("task %s of run %s is lost: %s", work.attempt.task, work.lease.run, message)
        return TimedOut("lost", message)

    def _end(self) -> int:
        """The child, and all that it started, is no more; answers its exit code."""
        child = self._child
        assert child is not None
        self._deaths += 1
        self.idle, self._doomed, self._child = True, False, None
        _kill_group(child)  # before it is waited for: its number may belong to another one then
        code = child.wait()
        for pipe in (child.stdin, child.stdout):
            with suppress(OSError):
                cast(BinaryIO, pipe).close()
        return code

    def cancel(self, work: Work) -> None:
        """Tell the task; a child that does not end it soon is killed."""
        with self._lock:
            child, number = self._child, self._number
            if child is None or self._work is not work:
                return
        if self._pipe.acquire(blocking=False):
            try:
                with suppress(OSError, ValueError):
                    send(cast(BinaryIO, child.stdin), Cancel(number))
            finally:
                self._pipe.release()
        timer = threading.Timer(KILL_AFTER, self.kill, (work,))
        timer.daemon = True
        timer.start()

    def kill(self, work: Work) -> None:
        """End the child if it still has this work."""
        with self._lock:
            if self._work is work and self._child is not None:
                self._doomed = True
                _kill_group(self._child)

    def close(self) -> None:
        self._closed.set()
        if self._child is not None:
            self._end()


def _kill_group(child: subprocess.Popen[bytes]) -> None:
    # One that is gone already is as good as killed.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)


def _how_it_ended(code: int) -> str:
    if code >= 0:
        return f"ended with exit code {code}"
    with suppress(ValueError):
        return f"was killed by signal {-code} ({signal.Signals(-code).name})"
    return f"was killed by signal {-code}"
