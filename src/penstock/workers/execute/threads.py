"""Threads for plain functions: a bounded number, and none that could delay the end of the process."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from typing import TypeVar

T = TypeVar("T")


class Job:
    """One call that waits for a thread or has one."""

    __slots__ = ("begun", "call", "void")

    def __init__(self, call: Callable[[], None]) -> None:
        self.call = call
        self.begun = self.void = False


class Threads:
    """At most `max_threads` calls at a time. One that was given up no longer counts: 32 stuck ones would stop all."""

    def __init__(self, max_threads: int, name: str = "penstock-task") -> None:
        self._room = max_threads  # threads that may still be made
        self._name = name
        self._idle = self._backlog = self._made = 0
        self._closed = False
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._lock = threading.Lock()

    def submit(self, call: Callable[[], None]) -> Job:
        """Do a call as soon as a thread is free. The call must not raise."""
        job = Job(call)
        with self._lock:
            if self._idle:
                self._idle -= 1
            else:
                self._backlog += 1
                self._staff()
        self._jobs.put(job)
        return job

    async def result_of(self, call: Callable[[], T]) -> T:
        """What the call returns or raises; it is given up where the wait for it is cancelled."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()

        def tell(result: T | None, error: BaseException | None) -> None:
            if not future.done():
                future.set_result(result) if error is None else future.set_exception(error)  # type: ignore[arg-type]

        def run() -> None:
            result, error = None, None
            try:
                result = call()
            except BaseException as raised:
                error = raised
            # A loop that was closed meanwhile has nobody who waits.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(tell, result, error)

        job = self.submit(run)
        try:
            return await future
        except asyncio.CancelledError:
            # Only here: a thread that has just told its result must not be taken for one that is stuck.
            self.give_up(job)
            raise

    def give_up(self, job: Job) -> None:
        """Nobody waits for the call any more: it is not begun, or another thread takes its place."""
        with self._lock:
            if not job.void:
                job.void = True
                self._room += job.begun
                self._staff()

    def close(self) -> None:
        """Begin nothing more; threads end with what they do."""
        self._closed = True
        self._jobs.put(None)

    def _staff(self) -> None:
        if self._backlog and self._room:
            self._backlog -= 1
            self._room -= 1
            self._made += 1
            threading.Thread(target=self._work, name=f"{self._name}-{self._made}", daemon=True).start()

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None and not self._closed:
            with self._lock:
                job.begun = wanted = not job.void
            if wanted:
                job.call()
            with self._lock:
                # One that was given up while it ran has its successor already.
                if wanted and job.void:
                    return
                job.void = True
                if self._backlog:
                    self._backlog -= 1
                else:
                    self._idle += 1
        self._jobs.put(None)  # for the next one
