"""Many short calls next to the loop: one thread runs them in order, others help if it is blocked.

A thread for each would have them all wait for the interpreter, and for the machine, at every change of hands. For
the same reason calls are handed over when the loop has taken all that came with them, and answers told together; and
where calls were short many times in a row the loop waits for the next ones, for a moment: a thread that it fights for
the interpreter takes half as long again.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

from penstock.workers.execute.threads import Job, Threads

T = TypeVar("T")

QUEUE_TIMEOUT = 0.003
"""Seconds that a call waits for one before it; then more threads look after those that wait."""

TOGETHER = 0.001
"""Seconds for which answers are gathered while calls wait behind them: the loop would only be in their way."""


SHORT, ROW = 0.0005, 8
"""Seconds that a short call takes, and how many times in a row all were short before the loop waits for them."""

MOMENT = 0.002
"""Seconds that the loop waits: it has not got much done in less, and nobody notices more."""


class _Call:
    __slots__ = ("begun", "call", "future", "helper", "void")

    def __init__(self, call: Callable[[], Any], future: asyncio.Future[Any]) -> None:
        self.call, self.future = call, future
        self.helper: _Helper | None = None
        self.begun = self.void = False


class _Helper:
    """One thread at work on the line; `left`: it is stuck, and does not count any more."""

    __slots__ = ("job", "left", "over")

    def __init__(self) -> None:
        self.job: Job | None = None
        self.left = False
        self.over = threading.Lock()  # held until it has no more to do
        self.over.acquire()


class ShortCalls:
    """Calls by as few threads as get along, `max_threads` of them at a time. For callers on one loop."""

    def __init__(self, max_threads: int, name: str) -> None:
        self._threads = Threads(max_threads, name)
        self._max_threads = max_threads
        self._line: deque[_Call] = deque()
        self._done: deque[tuple[_Call, Any, BaseException | None]] = deque()
        self._lock = threading.Lock()
        self._helpers = 0
        self._notified = False
        self._due = 0.0  # when answers are told although calls wait
        self._looking = False
        self._row = 0  # how many times in a row all calls were short

    async def result_of(self, call: Callable[[], T], within: float | None = None) -> T:
        """What the call returns or raises; it is given up where the wait for it is cancelled.

        Raises TimeoutError where it takes longer than `within` seconds; then it is given up too.
        """
        loop = asyncio.get_running_loop()
        made = _Call(call, loop.create_future())
        with self._lock:
            self._line.append(made)
            alone = not self._helpers
            self._helpers += alone
        if alone:
            loop.call_soon(self._begin, loop)
        elif not self._looking:
            self._look_later(loop)
        limit = None if within is None else loop.call_later(within, self._expire, made)
        try:
            result: T = await made.future
            return result
        except asyncio.CancelledError:
            self._give_up(made)
            raise
        finally:
            if limit is not None:
                limit.cancel()

    def close(self) -> None:
        """Begin nothing more; threads end with what they do."""
        self._line.clear()
        self._threads.close()

    def _begin(self, loop: asyncio.AbstractEventLoop) -> None:
        """Have the line worked off. Whatever the calls do, the loop waits for a moment at most."""
        waits = self._row >= ROW
        self._notified = self._notified or waits  # by this thread, when it has waited
        helper = self._help(loop)
        if waits:
            helper.over.acquire(timeout=MOMENT)
            self._tell()

    def _help(self, loop: asyncio.AbstractEventLoop) -> _Helper:
        helper = _Helper()
        helper.job = self._threads.submit(partial(self._work, helper, loop))
        return helper

    def _look_later(self, loop: asyncio.AbstractEventLoop) -> None:
        self._looking = True
        loop.call_later(QUEUE_TIMEOUT, self._look, loop)

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        """Twice as many where calls still wait: the one at work may be stuck in a function that takes its time.

        It may be stuck with answers that it has not told.
        """
        self._looking = False
        self._tell()
        with self._lock:
            more = min(len(self._line), max(1, self._helpers), self._max_threads - self._helpers)
            self._helpers += more
        for _ in range(more):
            self._help(loop)
        if self._line:
            self._look_later(loop)

    def _expire(self, call: _Call) -> None:
        if not call.future.done():
            self._give_up(call)
            call.future.set_exception(TimeoutError())

    def _give_up(self, call: _Call) -> None:
        with self._lock:
            call.void = True
            helper = call.helper if call.begun else None
            if helper is None or helper.left:
                return
            helper.left = True
            self._helpers -= 1
        if helper.job is not None:
            self._threads.give_up(helper.job)

    def _work(self, helper: _Helper, loop: asyncio.AbstractEventLoop) -> None:
        began, done = time.monotonic(), 0
        while (call := self._next(helper)) is not None:
            result, error = None, None
            try:
                result = call.call()
            except BaseException as raised:
                error = raised
            done += 1
            with self._lock:
                call.begun = False
            self._done.append((call, result, error))
            if not self._notified and (not self._line or time.monotonic() >= self._due):
                self._notified = True
                # A loop that was closed meanwhile has nobody who waits.
                with suppress(RuntimeError):
                    loop.call_soon_threadsafe(self._tell)
        self._row = self._row + 1 if time.monotonic() - began < done * SHORT else 0
        helper.over.release()

    def _next(self, helper: _Helper) -> _Call | None:
        with self._lock:
            if helper.left:
                return None
            while self._line:
                call = self._line.popleft()
                if not call.void:
                    call.helper, call.begun = helper, True
                    return call
            self._helpers -= 1
            helper.left = True
            return None

    def _tell(self) -> None:
        self._due = time.monotonic() + TOGETHER
        self._notified = False  # before looking: what is added meanwhile must wake us again
        while self._done:
            call, result, error = self._done.popleft()
            if call.future.done():
                continue
            if error is None:
                call.future.set_result(result)
            else:
                call.future.set_exception(error)
