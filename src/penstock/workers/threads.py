"""Threads for plain functions: a bounded number at work, and none that could hold up the end of the process."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")


class Job:
    """One call that waits for a thread or has one."""

    __slots__ = ("begun", "call", "void")

    def __init__(self, call: Callable[[], None]) -> None:
        self.call = call
        self.begun = self.void = False


class Threads:
    """At most `most` calls at a time. One that was given up no longer counts: 32 stuck ones would stop all."""

    def __init__(self, most: int, name: str = "penstock-task") -> None:
        self._room = most
        self._name = name
        self._idle = self._made = 0
        self._closed = False
        self._jobs: deque[Job] = deque()
        self._changed = threading.Condition()

    def submit(self, call: Callable[[], None]) -> Job:
        """Do a call as soon as a thread is free. The call must not raise."""
        job = Job(call)
        with self._changed:
            self._jobs.append(job)
            self._staff()
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
        finally:
            self.give_up(job)

    def give_up(self, job: Job) -> None:
        """Nobody waits for the call any more: it is not begun, or another thread takes its place."""
        with self._changed:
            if job.void:
                return
            job.void = True
            if job.begun:
                self._room += 1
                self._staff()

    def close(self) -> None:
        """Begin nothing more; threads end with what they do."""
        with self._changed:
            self._closed = True
            self._jobs.clear()
            self._changed.notify_all()

    def _staff(self) -> None:
        if self._idle >= len(self._jobs):
            self._changed.notify()
        elif self._room > 0:
            self._room -= 1
            self._made += 1
            threading.Thread(target=self._work, name=f"{self._name}-{self._made}", daemon=True).start()

    def _work(self) -> None:
        job = self._next()
        while job is not None:
            try:
                job.call()
            finally:
                with self._changed:
                    over, job.void = job.void, True
            if over:
                return
            job = self._next()

    def _next(self) -> Job | None:
        """The next call to do; None: there will be none."""
        with self._changed:
            while not self._closed:
                while self._jobs:
                    job = self._jobs.popleft()
                    if not job.void:
                        job.begun = True
                        return job
                self._idle += 1
                self._changed.wait()
                self._idle -= 1
            return None
