"""Threads that drain one queue in order: few for tiny tasks, more where the queue does not move."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from queue import SimpleQueue

from penstock.flow.model.run_input import Outcome, TimedOut
from penstock.flow.values.payload import PAYLOAD_LIMIT
from penstock.workers.execute.task_call import call
from penstock.workers.worker.work import TaskRunner, Work

LOG = logging.getLogger("penstock.worker")

QUEUE_TIMEOUT = 0.002
"""Seconds that a queue may stand before one more thread is added."""

BRISK = 20
"""As many tasks taken within QUEUE_TIMEOUT are tiny ones: more threads would only fight for the interpreter."""

BREATH = 0.1
"""Seconds before one that broke is replaced: where it breaks at once, it would be for ever."""

Ended = Callable[[Work, Outcome], None]


class Landing:
    """Brings outcomes from any thread to the loop, many at a time; what is void by then is not told."""

    def __init__(self, ended: Ended) -> None:
        self._loop, self._ended = asyncio.get_running_loop(), ended
        self._landed: deque[tuple[Work, Outcome]] = deque()
        self._called = False

    def tell(self, work: Work, outcome: Outcome) -> None:
        self._landed.append((work, outcome))
        if not self._called:
            self._called = True
            # A loop that was closed meanwhile takes no result, and nobody waits for one.
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._collect)

    def _collect(self) -> None:
        self._called = False  # before looking: what is added meanwhile must wake us again
        while self._landed:
            work, outcome = self._landed.popleft()
            if not work.void:
                self._ended(work, outcome)


class TaskThread:
    """Calls plain functions in its thread."""

    idle = False

    def __init__(self, limit: int = PAYLOAD_LIMIT) -> None:
        self._limit = limit

    def do(self, work: Work) -> Outcome:
        return call(work.task, work.attempt, work.context, self._limit)

    def ready(self) -> bool:
        return True

    def cancel(self, work: Work) -> None:
        """A thread cannot be stopped; its task is told by its context."""

    def close(self) -> None:
        """Nothing is kept."""


class ThreadPool:
    """At most `max_threads` threads. With `replace` one whose work was given up is replaced: it may be stuck."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        max_threads: int,
        hire: Callable[[], TaskRunner],
        ended: Ended,
        replace: bool,
    ) -> None:
        self._loop, self._max_threads, self._hire, self._replace = loop, max_threads, hire, replace
        self._landing = Landing(ended)
        self._queue: deque[Work] = deque()
        self._closed = False
        self._lock = threading.Lock()
        self._wake: SimpleQueue[None] = SimpleQueue()
        self._idle = self._live = self._taken = self._stands = 0
        self._look_at: asyncio.TimerHandle | None = None
        self._cpu = 0.0
        self._threads: set[threading.Thread] = set()

    def put(self, works: Iterable[Work]) -> None:
        """Work for the next hand that is free, in order."""
        self._queue.extend(works)
        with self._lock:
            if self._idle == self._live:
                self._rouse()
        if self._look_at is None:
            self._look_later()

    def cancel(self, work: Work) -> None:
        """Nobody waits for the work any more: it is not begun, or its hand is told."""
        with self._lock:
            work.void = True
            if not work.begun:
                return
            if self._replace:
                work.given_up = True
                self._live -= 1
                if self._queue:
                    self._rouse()
        if work.hand is not None:
            work.hand.cancel(work)

    def take_back(self) -> list[Work]:
        """All that was not begun."""
        back: list[Work] = []
        with suppress(IndexError):
            while True:
                back.append(self._queue.popleft())
        return [work for work in back if not work.void]

    def close(self) -> None:
        """Begin nothing more; threads end with what they do."""
        self._closed = True
        self._queue.clear()
        if self._look_at is not None:
            self._look_at.cancel()
        self._wake.put(None)

    def join(self, until: float) -> None:
        """Wait, until a time of the monotonic clock at most, for the threads to end."""
        for thread in list(self._threads):
            thread.join(max(0.0, until - time.monotonic()))

    def _rouse(self) -> None:
        """One more hand; the lock is held."""
        if self._idle:
            self._idle -= 1
            self._wake.put(None)
        elif self._live < self._max_threads:
            thread = threading.Thread(target=self._work, name="penstock-task", daemon=True)
            try:
                thread.start()
            except RuntimeError as error:
                # The machine gives no more threads: those that are there do it, and we ask again later.
                LOG.warning("no thread for a task: %s", error)
                return
            self._live += 1
            self._threads.add(thread)

    def _look_later(self) -> None:
        self._cpu = time.process_time()
        self._look_at = self._loop.call_later(QUEUE_TIMEOUT, self._look, self._taken)

    def _look(self, taken: int) -> None:
        """Add hands where the queue stands: at once where they wait for something, slowly where they compute."""
        self._look_at = None
        if not self._queue or (self._live >= self._max_threads and not self._idle):
            self._stands = 0
            return
        moved = self._taken - taken
        waits = time.process_time() - self._cpu < QUEUE_TIMEOUT / 2
        self._stands = 0 if moved else self._stands + 1
        if waits and moved < BRISK:
            more = min(1 << min(self._stands, 16), len(self._queue))
        else:
            more = 1 if self._stands >= 5 else 0
        with self._lock:
            for _ in range(more):
                self._rouse()
        self._look_later()

    def _work(self) -> None:
        try:
            self._drain()
        except BaseException:
            LOG.exception("what runs tasks broke and is replaced")
            time.sleep(BREATH)
            with self._lock:
                self._live -= 1
                if self._queue and not self._closed:
                    self._rouse()
        finally:
            self._threads.discard(threading.current_thread())

    def _drain(self) -> None:
        hand = self._hire()
        try:
            while self._next(hand):
                pass
        finally:
            hand.close()

    def _next(self, hand: TaskRunner) -> bool:
        """Do the next piece of work; False: the thread is no longer needed."""
        if hand.idle and not hand.ready():
            return False
        try:
            work = self._queue.popleft()
        except IndexError:
            return self._rest()
        self._taken += 1
        with self._lock:
            if work.void:
                return True
            work.hand, work.begun = hand, True
        broken: BaseException | None = None
        try:
            outcome = hand.do(work)
        except BaseException as error:
            broken, outcome = error, TimedOut("lost", f"what runs the task broke: {error}")
        with self._lock:
            work.begun = False
            if work.given_up:
                if self._live >= self._max_threads:
                    return False
                self._live += 1
        self._landing.tell(work, outcome)
        if broken is not None:
            raise broken  # the hand is not used again
        return True

    def _rest(self) -> bool:
        with self._lock:
            if self._queue:  # looked at again under the lock: a put in between would not wake us
                return True
            self._idle += 1
        self._wake.get()
        if self._closed:
            self._wake.put(None)  # for the next one
        return not self._closed
