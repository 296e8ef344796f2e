"""Fire due timers, time out expired attempts and deliver messages."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import TypeVar

from penstock.flow.model.run_input import Outside, Reported, TimedOut
from penstock.runtime.codec.decoder import CorruptRecord
from penstock.runtime.codec.messages import StartChild, decode_message
from penstock.runtime.decisions.decision import Decision, Request
from penstock.runtime.node.background_tasks import is_set_within
from penstock.runtime.node.clock import StoreClock
from penstock.store.protocol import Runs
from penstock.store.rows.change import HANDOVER_TIMEOUT, WHOLE, Message
from penstock.store.rows.rows import DueTask, DueTimer

MAX_BATCH = 500
MAX_IN_PROGRESS = 4 * MAX_BATCH
"""Maximum rows in progress. Rows that stay undecided for HANDOVER_TIMEOUT are handed out again."""

NEVER = timedelta.max
log = logging.getLogger("penstock.timers")

Row = TypeVar("Row", bound=DueTimer | DueTask | Message)


class Timers:
    """Looks into the store when something falls due, and every `poll` for what other nodes have made."""

    def __init__(
        self,
        store: Runs,
        clock: StoreClock,
        poll: timedelta,
        submit: Callable[[Request], None],
        begin_child: Callable[[int, str, StartChild], None],
    ) -> None:
        self._store, self._clock, self._poll = store, clock, poll
        self.submit, self.begin_child = submit, begin_child
        self._wake = asyncio.Event()
        self._looking = False
        self._next: datetime | None = None
        self._gone: list[int] = []  # messages for runs that do not exist
        self._hand: set[object] = set()  # rows in progress: taken and not decided yet
        self.lost = self.timed_out = self.rung = 0

    def look(self) -> None:
        """Something may be due now."""
        self._looking = True
        self._wake.set()

    def discard(self, messages: Sequence[int]) -> None:
        """Have the store delete messages for a run that is gone."""
        self._gone += messages
        self.look()

    def settled(self, decisions: Sequence[Decision]) -> None:
        """What decisions set falls due some day; look then."""
        soonest, before = NEVER, None
        for decision in decisions:
            change = decision.change
            if change is None:
                continue
            if change.has_extras:
                for due, _ in change.timers:
                    self.expect(due)
            for task in change.tasks:
                if task is before:
                    continue  # runs at the same step share their tasks
                before = task
                for limit in (
                    task.heartbeat,
                    task.schedule_to_start,
                    task.start_to_close,
                    task.schedule_to_close,
                ):
                    if limit is not None and limit < soonest:
                        soonest = limit
        if soonest is not NEVER:
            self.expect(decisions[0].now + soonest)

    def expect(self, due: datetime) -> None:
        """Something falls due then."""
        if self._next is None or due < self._next:
            self._next = due
            if due <= self._clock.now() + self._poll:
                self._wake.set()

    async def run(self) -> None:
        """Handle what is due, without end."""
        while True:
            more = await self.run_once()
            if not more or len(self._hand) >= MAX_IN_PROGRESS:
                await self._sleep()

    async def _sleep(self) -> None:
        """Until something is due, or may be. What is expected meanwhile only makes the sleep shorter."""
        await asyncio.sleep(0)  # a store in memory answers at once: others must have their turn
        while not self._looking:
            wait = self._poll
            if self._next is not None:
                # Slightly later: a clock that is ahead of the store's would find nothing.
                wait = min(wait, self._next - self._clock.now() + timedelta(milliseconds=1))
            if len(self._hand) >= MAX_IN_PROGRESS:
                wait = max(wait, HANDOVER_TIMEOUT / 10)
            if wait <= timedelta(0):
                break
            if not await is_set_within(self._wake, wait.total_seconds()):
                break
            self._wake.clear()
        self._looking = False
        self._wake.clear()

    async def run_once(self) -> bool:
        """Take what is due; True if there may be more."""
        self._next = None
        asked = self._clock.asked()
        gone, self._gone = self._gone, []
        due = await self._store.due(MAX_BATCH, HANDOVER_TIMEOUT, gone)
        self._clock.tell(due.now, asked)
        if due.next is not None and (self._next is None or due.next < self._next):
            self._next = due.next
        _each(self._fire, due.timers)
        _each(self._end, due.tasks)
        self.read(due.messages)
        return max(len(due.timers), len(due.tasks), len(due.messages)) >= MAX_BATCH

    def _fire(self, timer: DueTimer) -> None:
        self.rung += 1
        run_input = decode_message(timer.body)
        if isinstance(run_input, StartChild):
            raise CorruptRecord("a timer begins no run")
        self._take(("timer", timer.id), Request(timer.run, run_input, rung=timer.id))

    def _end(self, task: DueTask) -> None:
        """An attempt outlived a limit. The lease that was found is ended, no other: a late worker cannot be hurt."""
        lease = task.lease
        self.lost += task.limit == "lost"
        self.timed_out += task.limit != "lost"
        index = None if lease.index == WHOLE else lease.index
        run_input = Reported(lease.firing, index, lease.attempt, TimedOut(task.limit))
        self._take(lease, Request(lease.run, run_input, lease=lease, overdue=True))

    def read(self, messages: Sequence[Message]) -> None:
        """Deliver messages. Any message that no decision consumes is read again later."""
        if messages:
            self.expect(self._clock.now() + HANDOVER_TIMEOUT)
        _each(self._read, messages)

    def _read(self, message: Message) -> None:
        body, run = decode_message(message.body), message.run or ""
        if isinstance(body, StartChild):
            self.begin_child(message.id, run, body)
        else:
            outside = isinstance(body, Outside)
            self._take(("message", message.id), Request(run, body, read=message.id, check=outside))

    def _take(self, key: object, request: Request) -> None:
        """Submit the row once, even if the store hands it out again because its decision takes long."""
        if key not in self._hand:
            self._hand.add(key)
            request.on_result = partial(self._on_answer, key)
            self.submit(request)

    def _on_answer(self, key: object, *_: object) -> None:
        """Remove the row from the rows in progress; if it still exists, the store hands it out again."""
        self._hand.discard(key)
        if len(self._hand) == MAX_IN_PROGRESS // 2:
            self.look()


def _each(take: Callable[[Row], None], rows: Sequence[Row]) -> None:
    """Take every row; one that fails must not block the others."""
    for row in rows:
        try:
            take(row)
        except Exception as error:
            what = row.lease if isinstance(row, DueTask) else f"{row.id} of run {row.run}"
            log.error(
                "%s %s cannot be handled and is skipped: %s: %s",
                type(row).__name__,
                what,
                type(error).__name__,
                error,
            )
