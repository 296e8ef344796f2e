"""The task gate: how any worker, local or remote, receives tasks and reports how they ended."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Literal, Protocol

from msgspec import Struct

from penstock.flow.model.plan import Attempt
from penstock.flow.model.run_input import Outcome
from penstock.store.rows.rows import ClaimRequest, Heartbeat, Lease, LogLine, Renewal, Worker

Verdict = Literal["accepted", "repeated", "superseded", "conflict"]
"""How a report was taken.

accepted    it ended the attempt
repeated    the same report came before and was accepted: answer as then
superseded  the lease is lost: nothing was changed
conflict    another report ended this very attempt before: nothing was changed
"""


class Assignment(Struct, frozen=True, gc=False):
    """A task for one worker: the attempt, its lease, and its deadlines."""

    lease: Lease
    attempt: Attempt
    expires: datetime  # by the store's clock: renew it before
    deadline: datetime | None


class Report(Struct, frozen=True, gc=False):
    """How an attempt ended. The only time-out a worker may report is `lost`: the process of the task died."""

    lease: Lease
    outcome: Outcome


class Gate(Protocol):
    """All calls take many items at a time. They raise StoreAway while the store is unavailable."""

    async def claim(self, request: ClaimRequest, wait: timedelta) -> list[Assignment]:
        """Work for the worker, at once where there is some, else as soon as there is, or [] after `wait`.

        A cancelled claim hands out nothing: leases that it had taken are released.
        """
        ...

    async def heartbeat(self, heartbeats: Sequence[Heartbeat]) -> list[Renewal]:
        """Heartbeats. A renewal without `expires` means that the task is no longer wanted: stop it."""
        ...

    async def report(self, reports: Sequence[Report]) -> list[Verdict]: ...

    async def release(self, leases: Sequence[Lease]) -> list[bool]:
        """Release tasks that were not begun; this costs no attempt. False: the lease was lost already."""
        ...

    async def log(self, lines: Sequence[LogLine]) -> None: ...

    async def register(self, worker: Worker) -> None:
        """Register the worker, or renew its registration."""
        ...

    async def deregister(self, worker: str) -> None: ...
