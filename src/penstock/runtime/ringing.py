"""Time passes: timers ring, attempts outlive their limits, messages are read."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from penstock.flow.occurrence import Outside, Reported, TimedOut
from penstock.runtime.codec.messages import StartChild, Unreadable, decode_message
from penstock.runtime.deciding import Decision
from penstock.runtime.request import Request
from penstock.runtime.store_clock import StoreClock
from penstock.store.change import WHOLE, Message
from penstock.store.protocol import Runs
from penstock.store.rows import DueTask, DueTimer

BATCH = 500
PATIENCE = timedelta(seconds=5)
"""How long others leave alone what this node has taken in hand."""

log = logging.getLogger("penstock.ringing")


class Ringing:
    """Looks into the store when something falls due, and every `poll` for what other nodes have made."""

    def __init__(self, store: Runs, clock: StoreClock, poll: timedelta) -> None:
        self._store, self._clock, self._poll = store, clock, poll
        self._wake = asyncio.Event()
        self._next: datetime | None = None
        self.submit: Callable[[Request], None] = lambda request: None
        self.begin_child: Callable[[int, str, StartChild], None] = lambda id, run, wish: None
        self.lost = self.timed_out = self.rung = 0

    def look(self) -> None:
        """Something may be due now."""
        self._wake.set()

    def settled(self, decision: Decision) -> None:
        """What a decision set falls due some day; look then."""
        change = decision.change
        if change is None or not (change.timers or change.tasks):
            return
        now = self._clock.now()
        for due, _ in change.timers:
            self._expect(due)
        for task in change.tasks:
            limits = (task.schedule_to_start, task.start_to_close, task.schedule_to_close, task.heartbeat)
            self._expect(now + min(limit for limit in limits if limit is not None))

    def _expect(self, due: datetime) -> None:
        if self._next is None or due < self._next:
            self._next = due
            if due <= self._clock.now() + self._poll:
                self._wake.set()

    async def run(self) -> None:
        """Ring what is due, for ever."""
        while True:
            more = await self.run_once()
            if not more:
                await self._sleep()

    async def _sleep(self) -> None:
        wait = self._poll
        if self._next is not None:
            # A touch later: a clock that is a little ahead of the store's would look in vain.
            wait = min(wait, self._next - self._clock.now() + timedelta(milliseconds=1))
        if wait > timedelta(0):
            try:
                async with asyncio.timeout(wait.total_seconds()):
                    await self._wake.wait()
            except TimeoutError:
                pass
        else:
            await asyncio.sleep(0)  # a store in memory answers at once: others must have their turn
        self._wake.clear()

    async def run_once(self) -> bool:
        """Take in hand what is due; True where there may be more."""
        self._next = None
        asked = self._clock.asked()
        due = await self._store.due(BATCH, PATIENCE)
        self._clock.tell(due.now, asked)
        if due.next is not None and (self._next is None or due.next < self._next):
            self._next = due.next
        for timer in due.timers:
            self._ring(timer)
        for task in due.tasks:
            self._end(task)
        self.read(due.messages)
        return max(len(due.timers), len(due.tasks), len(due.messages)) >= BATCH

    def _ring(self, timer: DueTimer) -> None:
        self.rung += 1
        try:
            occurrence = decode_message(timer.body)
        except Unreadable as error:
            log.error("timer %d of run %s cannot be read and is left alone: %s", timer.id, timer.run, error)
            return
        assert not isinstance(occurrence, StartChild)
        self.submit(Request(timer.run, occurrence, rung=timer.id))

    def _end(self, task: DueTask) -> None:
        """An attempt outlived a limit. The lease that was found is ended, no other: a late worker cannot be hurt."""
        lease = task.lease
        self.lost += task.limit == "lost"
        self.timed_out += task.limit != "lost"
        index = None if lease.index == WHOLE else lease.index
        occurrence = Reported(lease.firing, index, lease.attempt, TimedOut(task.limit))
        self.submit(Request(lease.run, occurrence, lease=lease))

    def read(self, messages: Sequence[Message]) -> None:
        """Let what was posted come true. What is not used up, whatever the reason, is looked for again."""
        if messages and self._next is None:
            self._next = self._clock.now() + PATIENCE
        for message in messages:
            try:
                body = decode_message(message.body)
            except Unreadable as error:
                log.error("message %d to run %s cannot be read: %s", message.id, message.run, error)
                continue
            run = message.run or ""
            if isinstance(body, StartChild):
                self.begin_child(message.id, run, body)
            else:
                self.submit(Request(run, body, read=message.id, check=isinstance(body, Outside)))
