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
    """Work for one worker: what is to be done, under which lease, and until when."""

    lease: Lease
    attempt: Attempt
    expires: datetime  # by the store's clock: renew it before
    deadline: datetime | None


class Report(Struct, frozen=True, gc=False):
    """How an attempt ended. The only time-out a worker may report is `lost`: the process of the task died."""

    lease: Lease
    outcome: Outcome


class Gate(Protocol):
    """All calls take many at a time. What cannot be done now because the store is away raises StoreAway."""

    async def claim(self, request: ClaimRequest, wait: timedelta) -> list[Assignment]:
        """Work for the worker, at once where there is some, else as soon as there is, or [] after `wait`.

        A claim that is cancelled hands out nothing: what it had leased by then is given back.
        """
        ...

    async def heartbeat(self, heartbeats: Sequence[Heartbeat]) -> list[Renewal]:
        """Signs of life. A renewal without `expires`: the work is no longer wanted, stop it."""
        ...

    async def report(self, reports: Sequence[Report]) -> list[Verdict]: ...

    async def release(self, leases: Sequence[Lease]) -> list[bool]:
        """Give back what was not begun; it costs no attempt. False: the lease was lost already."""
        ...

    async def log(self, lines: Sequence[LogLine]) -> None: ...

    async def register(self, worker: Worker) -> None:
        """The worker is there, or still there."""
        ...

    async def deregister(self, worker: str) -> None: ...
