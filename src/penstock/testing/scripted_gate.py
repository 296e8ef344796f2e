"""A gate without an engine: it hands out what a test gives it and remembers what it is told."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from msgspec.structs import replace

from penstock.flow.model.plan import Attempt
from penstock.flow.model.retry_policy import Timeouts
from penstock.flow.model.run import Header, Origin, RunId
from penstock.flow.model.tags import NO_TAGS
from penstock.kernel.marking import Taken, Token
from penstock.runtime.dispatch.gate import Assignment, Report, Verdict
from penstock.store.errors import StoreAway
from penstock.store.rows.rows import ClaimRequest, Heartbeat, Lease, LogLine, Renewal, Worker

MINUTE = timedelta(seconds=60)
USUAL = Timeouts()
WAIT_TIMEOUT = 20.0
"""Seconds after which a test that waits for something has failed."""


def attempt_of(task: str, params: Any, number: int, timeouts: Timeouts = USUAL) -> Attempt:
    """The first try of the first step of a run of its own."""
    start = Token(1, "START", Origin({"number": number}, NO_TAGS, datetime(2026, 1, 1, tzinfo=UTC)))
    return Attempt(
        run=Header(id=RunId(f"run{number:08}"), workflow="rules"),
        firing=1,
        index=None,
        step="step",
        task=task,
        attempt=1,
        params=params,
        data={"number": number},
        tags=NO_TAGS,
        taken=Taken(((start,),)),
        timeouts=timeouts,
        task_list="default",
        priority=0,
        ports=("done", "failed"),
    )


def _slower(limits: Timeouts, pace: float) -> Timeouts:
    heartbeat, close = limits.heartbeat, limits.start_to_close
    return replace(limits, heartbeat=heartbeat and heartbeat * pace, start_to_close=close and close * pace)


class ScriptedGate:
    """Leases what it was given, in order. What it is told lies in its lists, each call in `calls`.

    `away`: calls of these names fail. `unwanted`: leases that a renewal answers with "stop". Leases and
    deadlines last `pace` times as long as was asked for.
    """

    def __init__(self, pace: float = 1.0) -> None:
        self._pace = pace
        self.calls: list[str] = []
        self.requests: list[ClaimRequest] = []
        self.claiming = 0  # claims that wait for work
        self.heartbeats: list[list[Heartbeat]] = []
        self.reports: list[Report] = []
        self.released: list[Lease] = []
        self.lines: list[LogLine] = []
        self.workers: list[Worker] = []
        self.left: list[str] = []
        self.away: set[str] = set()
        self.unwanted: set[Lease] = set()
        self.verdicts: dict[str, Verdict] = {}
        self.leased: dict[Lease, Assignment] = {}
        self._waiting: deque[tuple[Attempt, timedelta | None]] = deque()
        self._given = 0
        self._news: list[asyncio.Future[None]] = []

    def give(self, task: str, params: Any = None, timeouts: Timeouts = USUAL) -> str:
        """Put an attempt on the list; answers the id of its run."""
        self._given += 1
        limits = _slower(timeouts, self._pace)
        attempt = attempt_of(task, {} if params is None else params, self._given, limits)
        self._waiting.append((attempt, limits.start_to_close))
        self._tell()
        return attempt.run.id

    async def until(self, holds: Callable[[], object]) -> None:
        """Wait for something that only the worker can bring about. Raises TimeoutError where it does not."""
        async with asyncio.timeout(WAIT_TIMEOUT):
            while not holds():
                await self._news_or(0.02)

    async def claim(self, request: ClaimRequest, wait: timedelta) -> list[Assignment]:
        self._called("claim")
        self.requests.append(request)
        self.claiming += 1
        now = asyncio.get_running_loop().time
        until = now() + wait.total_seconds()
        try:
            while not self._waiting and (left := until - now()) > 0:
                await self._news_or(left)
        finally:
            self.claiming -= 1
            self._tell()
        count = min(request.limit, len(self._waiting))
        return [self._lease(*self._waiting.popleft()) for _ in range(count)]

    def _lease(self, attempt: Attempt, run_for: timedelta | None) -> Assignment:
        lease = Lease(attempt.run.id, attempt.firing, -1, attempt.attempt, len(self.leased) + 1)
        now = datetime.now(UTC)
        deadline = None if run_for is None else now + run_for
        made = Assignment(lease, attempt, self._expires(attempt, now, deadline), deadline)
        self.leased[lease] = made
        return made

    def _expires(self, attempt: Attempt, now: datetime, deadline: datetime | None) -> datetime:
        expires = now + (attempt.timeouts.heartbeat or MINUTE)
        return expires if deadline is None else min(expires, deadline)

    async def heartbeat(self, heartbeats: Sequence[Heartbeat]) -> list[Renewal]:
        self._called("heartbeat")
        self.heartbeats.append(list(heartbeats))
        now = datetime.now(UTC)
        return [self._renewal(heartbeat.lease, now) for heartbeat in heartbeats]

    def _renewal(self, lease: Lease, now: datetime) -> Renewal:
        if lease in self.unwanted:
            return Renewal(None)
        held = self.leased[lease]
        return Renewal(self._expires(held.attempt, now, held.deadline), held.deadline)

    async def report(self, reports: Sequence[Report]) -> list[Verdict]:
        self._called("report")
        self.reports += reports
        return [self.verdicts.get(report.lease.run, "accepted") for report in reports]

    async def release(self, leases: Sequence[Lease]) -> list[bool]:
        self._called("release")
        self.released += leases
        return [True] * len(leases)

    async def log(self, lines: Sequence[LogLine]) -> None:
        self._called("log")
        self.lines += lines

    async def register(self, worker: Worker) -> None:
        self._called("register")
        self.workers.append(worker)

    async def deregister(self, worker: str) -> None:
        self._called("deregister")
        self.left.append(worker)

    def outcomes(self) -> dict[str, Any]:
        """Run → how its attempt ended, as it was told last."""
        return {report.lease.run: report.outcome for report in self.reports}

    def heartbeats_of(self, run: str) -> list[Heartbeat]:
        """All signs of life for one run."""
        return [
            heartbeat
            for heartbeats in self.heartbeats
            for heartbeat in heartbeats
            if heartbeat.lease.run == run
        ]

    def lose(self, runs: Iterable[str]) -> None:
        """The work of these runs is no longer wanted."""
        self.unwanted.update(lease for lease in self.leased if lease.run in set(runs))

    def _called(self, name: str) -> None:
        self.calls.append(name)
        self._tell()
        if name in self.away:
            raise StoreAway("it was told to be away")

    def _tell(self) -> None:
        news, self._news = self._news, []
        for each in news:
            if not each.done():
                each.set_result(None)

    async def _news_or(self, seconds: float) -> None:
        news = asyncio.get_running_loop().create_future()
        self._news.append(news)
        await asyncio.wait([news], timeout=seconds)
