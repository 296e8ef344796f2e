"""What runs on a node of Ray: an attempt, and the mailbox between attempts and their worker."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from functools import lru_cache
from typing import Any

from penstock.workers.execute.frames import Run, Up, ended, packed, telling_context, unpacked_down
from penstock.workers.execute.task_call import CancelableCall, Outcome, not_offered
from penstock.workers.worker.task_loader import load_tasks

TICK = 0.1
"""Seconds that a line may wait at the node."""

WAIT = 30.0
"""Seconds that a question to the mailbox stays open."""


class Mailbox:
    """An actor beside the worker: attempts leave their lines there, and ask whether they are still wanted."""

    def __init__(self) -> None:
        self._said: dict[str, list[bytes]] = {}
        self._news = asyncio.Event()
        self._stopped: dict[str, asyncio.Event] = {}

    async def say(self, key: str, frames: list[bytes]) -> None:
        self._said.setdefault(key, []).extend(frames)
        self._news.set()

    async def hear(self, wait: float) -> dict[str, list[bytes]]:
        """What was said since the last time, as soon as there is something, or nothing after the wait."""
        await _within(self._news, wait)
        self._news.clear()
        said, self._said = self._said, {}
        return said

    async def listen(self, key: str) -> None:
        """An attempt begins, and will ask."""
        self._stopped.setdefault(key, asyncio.Event())

    async def stopped(self, key: str, wait: float) -> bool:
        """An attempt asks: True as soon as it is no longer wanted, False after the wait."""
        return await _within(self._stopped.setdefault(key, asyncio.Event()), wait)

    async def stop(self, key: str) -> bool:
        """An attempt is no longer wanted; answers whether it listens."""
        event = self._stopped.get(key)
        if event is not None:
            event.set()
        return event is not None

    async def forget(self, key: str) -> None:
        self._stopped.pop(key, None)


async def _within(event: asyncio.Event, wait: float) -> bool:
    with suppress(TimeoutError):
        async with asyncio.timeout(wait):
            await event.wait()
    return event.is_set()


class Voice:
    """One attempt's side of the mailbox."""

    def __init__(self, mailbox: Any, key: str, stop: Callable[[], None]) -> None:
        self._mailbox, self._key, self._stop = mailbox, key, stop
        self._frames: list[bytes] = []
        self._lock = threading.Lock()
        self._over = threading.Event()
        self.said = 0
        with suppress(Exception):
            # Before the task begins: one that cannot be told yet would be interrupted instead.
            mailbox.listen.remote(key).future().result(WAIT)
        self._thread = threading.Thread(target=self._listen, name="penstock-voice", daemon=True)
        self._thread.start()

    def say(self, frame: Up) -> None:
        with self._lock:
            self._frames.append(packed(frame))
            self.said += 1

    def close(self) -> None:
        """All that was said is in the mailbox, where it can be reached."""
        self._over.set()
        sent = self._flush()
        with suppress(Exception):
            if sent is not None:
                sent.result(WAIT)

    def _flush(self) -> Future[Any] | None:
        with self._lock:
            frames, self._frames = self._frames, []
            # In the lock: what is said in two threads must arrive in the order in which it was said.
            return self._mailbox.say.remote(self._key, frames).future() if frames else None

    def _listen(self) -> None:
        # A mailbox that died hears and tells nothing; the task itself goes on.
        with suppress(Exception):
            asked = self._ask()
            while not self._over.wait(TICK):
                self._flush()
                if asked.done():
                    if asked.result():
                        self._stop()
                        break
                    asked = self._ask()
            while not self._over.wait(TICK):
                self._flush()

    def _ask(self) -> Future[bool]:
        asked: Future[bool] = self._mailbox.stopped.remote(self._key, WAIT).future()
        return asked


def run_attempt(mailbox: Any, key: str, sources: tuple[str, ...], body: bytes) -> tuple[bytes, int]:
    """Run one attempt in a process of Ray; answers how it ended, and how many frames it has said."""
    _hear_interrupts()
    run = unpacked_down(body)
    assert isinstance(run, Run)
    tasks = _tasks(sources)
    task = tasks.get(run.attempt.task)
    if task is None:
        return _ended(not_offered(run.attempt.task, tasks)), 0
    call = CancelableCall(task, run.attempt, run.limit)
    if not task.takes_context:
        return _ended(call.outcome(None)), 0
    return _with_voice(mailbox, key, run, call)


def _hear_interrupts() -> None:
    """Ray interrupts a task by SIGINT, which all processes of a cluster ignore that a shell began in its background."""
    mine = threading.current_thread() is threading.main_thread()
    if mine and signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _with_voice(mailbox: Any, key: str, run: Run, call: CancelableCall) -> tuple[bytes, int]:
    def stop() -> None:
        context.cancel()
        call.cancel()

    context = telling_context(run.attempt, lambda frame: voice.say(frame))
    voice = Voice(mailbox, key, stop)
    try:
        outcome = call.outcome(context)
    finally:
        voice.close()
    return _ended(outcome), voice.said


def _ended(outcome: Outcome) -> bytes:
    return packed(ended(outcome))


_tasks = lru_cache(1)(load_tasks)
"""Loaded once a process."""
