"""What a worker has to tell: reports and log lines, many at a time, kept while the gate is away."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter, deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta

import msgspec

from penstock.flow.plan import Attempt
from penstock.flow.retry import Backoff
from penstock.runtime.gate import Gate, Report
from penstock.store.errors import StoreAway
from penstock.store.rows import LogLine
from penstock.workers.work import Outcome, Work

LOG = logging.getLogger("penstock.worker")
BACKOFF = Backoff(initial=timedelta(seconds=0.05), max=timedelta(seconds=5), jitter=0.3)

BATCH = 2000
"""Reports in one call."""

LINES = 10_000
"""Lines that are kept while the gate is away; the oldest go first."""

LINE = 16_384
"""Characters that are kept of one line."""

FLUSH = 0.5
"""Seconds that a line may wait."""

KEEP = 600.0
"""Seconds for which a report is kept over the end of its lease, while nobody can have taken the task."""


class Outbox:
    """Sends what has gathered as soon as the call before is over; nothing waits for company."""

    def __init__(self, gate: Gate, now: Callable[[], datetime], seed: str, counts: Counter[str]) -> None:
        self._gate, self._now, self._seed, self._counts = gate, now, seed, counts
        self._loop = asyncio.get_running_loop()
        self._ended: list[tuple[Work, Outcome]] = []
        self._sending: list[tuple[Work, Outcome]] = []
        self._some = asyncio.Event()
        self._none = asyncio.Event()
        self._none.set()
        self._lines: deque[tuple[Attempt, datetime, str, str]] = deque(maxlen=LINES)
        self._asked = False
        self._failures = 0

    def __len__(self) -> int:
        return len(self._ended) + len(self._sending)

    def works(self) -> list[Work]:
        """Those that have ended and whose report was not taken yet."""
        return [work for work, _ in (*self._sending, *self._ended)]

    def add(self, work: Work, outcome: Outcome) -> None:
        """To be reported."""
        self._ended.append((work, outcome))
        self._some.set()
        self._none.clear()

    async def empty(self) -> None:
        """Everything is told, or given up."""
        await self._none.wait()

    def write(self, attempt: Attempt, level: str, text: str) -> None:
        """A line of a task, from any thread."""
        self._lines.append((attempt, self._now(), level, text[:LINE]))
        if not self._asked:
            self._asked = True
            # A loop that was closed meanwhile sends nothing more.
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._loop.call_later, FLUSH, self._some.set)

    async def send(self) -> None:
        """Wait until there is something, and tell it; does not raise where the gate fails."""
        await self._some.wait()
        self._some.clear()
        # Before the lines: those of what ends meanwhile would come after its report.
        self._sending += self._ended
        self._ended = []
        await self.flush()
        while self._sending:
            await self._report(self._sending[:BATCH])
        if not self._ended:
            self._none.set()

    async def flush(self) -> None:
        """Send the lines; they are kept where that fails, and the reports do not wait for them."""
        self._asked = False
        if not self._lines:
            return
        lines = [self._lines.popleft() for _ in range(len(self._lines))]
        try:
            await self._gate.log([_line(*each) for each in lines])
        except Exception as error:
            LOG.warning("%d log lines cannot be sent now: %s", len(lines), error)
            self._lines.extendleft(reversed(lines[: LINES - len(self._lines)]))

    async def _report(self, batch: Sequence[tuple[Work, Outcome]]) -> None:
        try:
            await self._tell(batch)
            self._failures = 0
        except StoreAway as error:
            await self._failed(error, KEEP)
        except Exception as error:
            # One bad report must not hold up the others.
            for each in batch if len(batch) > 1 else ():
                with suppress(Exception):
                    await self._tell([each])
            if self._sending:
                await self._failed(error, 0.0)

    async def _tell(self, batch: Sequence[tuple[Work, Outcome]]) -> None:
        reports = [Report(work.lease, outcome) for work, outcome in batch]
        verdicts = await self._gate.report(reports)
        if len(batch) == len(self._sending):
            self._sending = []
        else:
            told = {id(work) for work, _ in batch}
            self._sending = [each for each in self._sending if id(each[0]) not in told]
        self._counts["worker.reported"] += len(batch)
        rejected = [
            f"{report.lease.run}.{report.lease.firing} ({verdict})"
            for report, verdict in zip(reports, verdicts, strict=False)
            if verdict == "superseded" or verdict == "conflict"
        ]
        if rejected:
            self._counts["worker.rejected"] += len(rejected)
            LOG.warning("%d reports came too late and changed nothing: %s", len(rejected), rejected[:5])

    async def _failed(self, error: Exception, keep: float) -> None:
        """Give up the reports whose lease is surely gone, and wait before the rest is tried again."""
        self._failures += 1
        gone = self._loop.time() - keep
        kept = [each for each in self._sending if each[0].lost_at > gone]
        if len(kept) < len(self._sending):
            self._counts["worker.dropped"] += len(self._sending) - len(kept)
            LOG.error("%d reports cannot be sent: their leases are over", len(self._sending) - len(kept))
        self._sending = kept
        LOG.warning("reports cannot be sent now, %d wait: %s", len(self), error)
        if kept:
            await asyncio.sleep(BACKOFF.delay(self._failures, self._seed).total_seconds())


def _line(attempt: Attempt, at: datetime, level: str, text: str) -> LogLine:
    body = {
        "at": at,
        "step": attempt.step,
        "index": attempt.index,
        "attempt": attempt.attempt,
        "level": level,
        "text": text if text.isascii() else text.encode("utf-8", "backslashreplace").decode(),
    }
    return LogLine(attempt.run.id, at, _encode(body))


_encode = msgspec.json.Encoder().encode
