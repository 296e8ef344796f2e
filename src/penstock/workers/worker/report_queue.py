"""Reports and log lines of a worker, sent in batches, and queued while the gate is unavailable."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter, deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta

import msgspec

from penstock.flow.model.plan import Attempt
from penstock.flow.model.retry_policy import Backoff
from penstock.flow.model.run_input import Outcome
from penstock.runtime.dispatch.gate import Gate, Report
from penstock.store.errors import StoreError, StoreUnavailable
from penstock.store.rows.rows import LogLine
from penstock.workers.worker.work import Work

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

NOT_NOW = StoreUnavailable
"""Errors that are no fault of what is on_progress, and nobody else can write meanwhile either: it is kept."""

Batch = Sequence[tuple[Work, Outcome]]

KEEP = 600.0
"""Seconds for which a report is kept over the end of its lease, while nobody can have taken the task."""


class Outbox:
    """Sends what has gathered as soon as the call before is over; nothing waits for company."""

    def __init__(
        self,
        gate: Gate,
        now: Callable[[], datetime],
        seed: str,
        counts: Counter[str],
        on_progress: Callable[[], None],
    ) -> None:
        self._gate, self._now, self._seed = gate, now, seed
        self._counts, self._on_progress = counts, on_progress
        self._loop = asyncio.get_running_loop()
        self._ended: list[tuple[Work, Outcome]] = []
        self._sending: list[tuple[Work, Outcome]] = []
        self._refused: list[tuple[Work, Outcome]] = []  # the gate fails on these, and only on these
        self._insist_at = 0.0
        self._some = asyncio.Event()
        self._none = asyncio.Event()
        self._none.set()
        self._lines: deque[tuple[Attempt, datetime, str, str]] = deque(maxlen=LINES)
        self._asked = False
        self._failures = 0

    def __len__(self) -> int:
        return len(self._ended) + len(self._sending) + len(self._refused)

    def works(self) -> list[Work]:
        """Those that have ended and whose report was not taken yet; not what the gate fails on: it must end."""
        return [work for work, _ in (*self._sending, *self._ended)]

    def add(self, work: Work, outcome: Outcome) -> None:
        """To be reported."""
        self._ended.append((work, outcome))
        self._some.set()
        self._none.clear()

    async def empty(self) -> None:
        """Everything is on_progress, or given up."""
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
        while len(self):
            self._some.clear()
            # Before the lines: those of what ends meanwhile would come after its report.
            self._sending += self._ended
            self._ended = []
            await self.flush()
            await (self._report(self._sending[:BATCH]) if self._sending else self._insist())
        self._some.clear()
        await self.flush()
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

    async def _report(self, batch: Batch) -> None:
        try:
            await self._tell(batch)
        except NOT_NOW as error:
            await self._away(error)
            return
        except Exception as error:
            LOG.warning("%d reports cannot be sent now: %s", len(batch), error)
            later, bad = ([], list(batch)) if len(batch) == 1 else await self._tell_each(batch)
            self._refused += bad
            self._sending[: len(batch)] = later
        else:
            del self._sending[: len(batch)]
        self._failures = 0
        self._on_progress()

    async def _tell_each(self, batch: Batch) -> tuple[list[tuple[Work, Outcome]], list[tuple[Work, Outcome]]]:
        """One bad report must not hold up the others: those to be told later, and those the gate fails on."""
        later, bad = [], []
        for each in batch:
            try:
                await self._tell([each])
            except NOT_NOW:
                later.append(each)
            except Exception:
                bad.append(each)
        return later, bad

    async def _tell(self, batch: Batch) -> None:
        reports = [Report(work.lease, outcome) for work, outcome in batch]
        verdicts = await self._gate.report(reports)
        self._counts["worker.reported"] += len(batch)
        rejected = [
            f"{report.lease.run}.{report.lease.firing} ({verdict})"
            for report, verdict in zip(reports, verdicts, strict=False)
            if verdict == "superseded" or verdict == "conflict"
        ]
        if rejected:
            self._counts["worker.rejected"] += len(rejected)
            LOG.warning("%d reports came too late and changed nothing: %s", len(rejected), rejected[:5])

    async def _away(self, error: StoreError) -> None:
        """Nobody can have taken the tasks meanwhile: wait, and try again for a long time."""
        LOG.warning("reports cannot be sent now, %d wait: %s", len(self), error)
        self._sending = self._living(self._sending, KEEP)
        self._on_progress()
        self._failures += 1
        await asyncio.sleep(BACKOFF.delay(self._failures, self._seed).total_seconds())

    async def _insist(self) -> None:
        """Try each refused report again, now and then, until its lease is surely gone."""
        if self._loop.time() >= self._insist_at:
            later, bad = await self._tell_each(self._refused)
            self._sending += later
            self._refused = self._living(bad, 0.0)
            self._on_progress()
            self._failures += 1
            wait = BACKOFF.delay(self._failures, self._seed).total_seconds()
            self._insist_at = self._loop.time() + wait
        if self._refused:
            with suppress(TimeoutError):
                async with asyncio.timeout_at(self._insist_at):
                    await self._some.wait()

    def _living(self, reports: Batch, keep: float) -> list[tuple[Work, Outcome]]:
        """Those whose lease is not over for longer than `keep` seconds."""
        gone = self._loop.time() - keep
        living = [each for each in reports if each[0].lost_at > gone]
        if len(living) < len(reports):
            self._counts["worker.dropped"] += len(reports) - len(living)
            LOG.error("%d reports are given up: their leases are over", len(reports) - len(living))
        return living


def _line(attempt: Attempt, at: datetime, level: str, text: str) -> LogLine:
    place = {"step": attempt.step, "index": attempt.index, "attempt": attempt.attempt}
    body = {"at": at, **place, "level": level, "text": _shown(text)}
    return LogLine(attempt.run.id, at, _encode(body))


def _shown(text: str) -> str:
    """A text that can be kept, with as little change as can be: one bad line would hold up all others."""
    text = text.replace("\0", "\ufffd")
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


_encode = msgspec.json.Encoder().encode
