"""The narrow seam to the rows. One call is one transaction; a lost race is an answer, not an exception.

Rules that every store keeps (docs/spec/store.md; `tests/store` quotes the numbers):

ST1  `commit` applies each change whole or not at all, and all that it applied is durable when it answers.
ST2  A change is applied only where its run is at `base`; `new` only where there is no such run.
ST3  A task is ended only by who holds its lease: attempt and fence must be those of the row.
ST4  A timer, message or id is used up once.
ST5  A lease is given to one worker at a time; each of a task has a higher fence than all before, also over a restore.
ST6  `lease` gives tasks of the highest priority first, and of these the one queued first.
ST7  Time is the store's: no deadline is judged by the clock of a node.
ST8  A `serialize` key is held by at most `most` elements, first come, first served; who leaves frees it.
ST9  A correlation key belongs to the first live run that asked for it, then to the next.
ST10 An event kept for a key is given to the run that gets the key, once.
ST11 Nothing of a run that is still there is deleted by retention; everything of one that goes is.
ST12 What somebody did is recorded in the transaction that did it, in one chain; an entry is never changed or deleted.
ST13 Tokens are changed all at once, and only where each has the version that was expected.
ST14 What a change publishes is there if and only if it was applied, and of one run in the order of its changes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Protocol

from penstock.store.authoring_protocol import AccessStore, Drafts, Notes
from penstock.store.rows.access import AuditRow
from penstock.store.rows.change import Change, Committed, PendingEvent, Seen
from penstock.store.rows.outbox import Outbox
from penstock.store.rows.rows import (
    ApprovalRow,
    ClaimRequest,
    Due,
    Filter,
    Heartbeat,
    KeptRow,
    Lease,
    Leased,
    LockRow,
    LogLine,
    OldTask,
    QueueRow,
    Renewal,
    Retained,
    RunRow,
    RunState,
    StoredRun,
    TaskRow,
    TimingRow,
    TokenChange,
    TokenRow,
    Version,
    WaitingTasks,
    Worker,
    WorkflowState,
)


class Runs(Protocol):
    """Runs and what happens to them."""

    async def commit(self, changes: Sequence[Change]) -> Committed:
        """Apply each change that can be applied, all in one transaction. No two of one run."""
        ...

    async def load(self, runs: Sequence[str]) -> list[StoredRun | None]:
        """Runs with their parts; None for one that is not there."""
        ...

    async def payloads(self, refs: Sequence[tuple[str, bytes]]) -> dict[tuple[str, bytes], bytes]:
        """Bodies by run and digest."""
        ...

    async def pages(self, run: str, after: int, limit: int) -> list[bytes]:
        """History pages, in order, from the one with entry `after + 1` on; enough for `limit` entries."""
        ...

    async def due(self, limit: int, patience: timedelta) -> Due:
        """What is due now, the oldest first, up to `limit` of each kind.

        What is handed out here is left alone by other callers for `patience`; if nobody uses it up by then, it
        is handed out again.
        """
        ...

    async def discard(self, messages: Sequence[int]) -> None:
        """Delete messages that are for nobody any more."""
        ...

    async def now(self) -> datetime:
        """The store's time."""
        ...


class Tasks(Protocol):
    """The task lists."""

    async def lease(self, wish: ClaimRequest) -> list[Leased]:
        """Hand up to `limit` tasks to one worker."""
        ...

    async def renew(self, beats: Sequence[Heartbeat]) -> list[Renewal]:
        """Prolong leases by their heartbeat time; one that ran out is lost, whether or not somebody noticed."""
        ...

    async def release(self, leases: Sequence[Lease]) -> list[bool]:
        """Give tasks back that were not begun: they are first in their list again, and have all their time to start.

        False: the lease was lost before, or ran out.
        """
        ...

    async def give_up(self, prefix: str) -> int:
        """The workers whose ids begin so are dead: their leases run out now. How many."""
        ...

    async def log(self, lines: Sequence[LogLine]) -> None:
        """Keep what tasks wrote."""
        ...


class InboundEvents(Protocol):
    """Outside events on their way to a run."""

    async def find(self, keys: Sequence[tuple[str, str]]) -> str | None:
        """The live run that one of the keys belongs to."""
        ...

    async def keep(self, kept: PendingEvent) -> str | None:
        """Keep an event for the run that will have one of its keys.

        Answers the run where one has it by now: nothing is kept then. Answers "" where its id was seen before.
        """
        ...

    async def seen(self, ids: Sequence[Seen]) -> list[bool]:
        """Whether each id came before."""
        ...

    async def redeliver(self, id: int, audit: AuditRow | None = None) -> bool:
        """Post a kept event to the run that has its key now; False: there is none, or no such event."""
        ...

    async def drop(self, id: int, audit: AuditRow | None = None) -> bool:
        """A kept event is done with; False: there is no such event."""
        ...


class WorkflowVersions(Protocol):
    """Published workflows."""

    async def publish(
        self,
        workflow: str,
        definition: str,
        offers: bytes,
        note: str | None,
        start: bool,
        again: bool = False,
        audit: AuditRow | None = None,
    ) -> Version:
        """The next version; without `again` the newest one where it is the same text with the same offers.

        A workflow that is new is started where `start` says so; one that is not stays as it is.
        `audit` is written where a version is made.
        """
        ...

    async def version(self, workflow: str, version: int | None) -> Version | None:
        """A version, the newest where none is named."""
        ...

    async def workflows(self) -> list[WorkflowState]:
        """All, by name."""
        ...

    async def set_started(self, workflow: str, started: bool, audit: AuditRow | None = None) -> bool:
        """False: there is no such workflow."""
        ...

    async def started_at(self, workflow: str) -> datetime | None:
        """When its source was started last; None: nobody knows."""
        ...

    async def stopped_at(self, workflow: str) -> datetime | None:
        """When its source was stopped last; None: it never was, or nobody knows."""
        ...

    async def set_paused(
        self,
        workflow: str | None,
        paused: bool,
        body: bytes,
        undone: bytes | None = None,
        audit: AuditRow | None = None,
    ) -> bool:
        """Pause or resume a workflow, or (None) the installation, and post `body` to each live run it changes.

        Messages `undone` that nobody has used up are taken back, also from runs that ended, for these may be retried:
        two words that contradict each other could be read in either order. False: there is no such workflow.
        Nothing is posted, and no `audit` written, where it is so already.
        """
        ...


class Views(Protocol):
    """The read side, for people."""

    async def runs(self, filter: Filter) -> list[RunRow]:
        """Newest first."""
        ...

    async def count(self, filter: Filter) -> dict[str, int]:
        """Status → how many."""
        ...

    async def tasks(self, run: str) -> list[TaskRow]: ...

    async def timers(self, run: str) -> list[tuple[datetime, bytes]]:
        """When a run is woken, and what its timers say, the next one first."""
        ...

    async def locks(self, run: str) -> list[LockRow]:
        """Where a run stands in the lines of `serialize` keys."""
        ...

    async def old_tasks(self, limit: int) -> list[OldTask]:
        """Tasks that wait or are under way, the one that was queued first before all others."""
        ...

    async def waiting_tasks(self) -> list[WaitingTasks]:
        """What waits for a worker, by list and task; not what a pause holds."""
        ...

    async def stuck(self, limit: int) -> list[str]:
        """Runs that are running, with nothing that could ever move them on."""
        ...

    async def timings(self, runs: Sequence[str], most: int) -> list[TimingRow]:
        """How long the attempts of runs waited for a worker, where they waited (in earlier versions only of those that
        are `change.timed`): the first of each run, `most` of them."""
        ...

    async def timings_of(self, run: str, firings: Sequence[int]) -> list[TimingRow]:
        """The same of these firings of one run, those of elements left out."""
        ...

    async def tally(self, workflow: str, since: datetime, until: datetime) -> dict[tuple[int, str], int]:
        """How many runs of a workflow started then, by version and status."""
        ...

    async def endings(
        self, since: datetime, until: datetime, width: timedelta
    ) -> dict[tuple[str, str, int], int]:
        """How many runs ended then, by workflow, status and how many times `width` after `since`."""
        ...

    async def queues(self) -> list[QueueRow]: ...

    async def workers(self) -> list[Worker]:
        """Those that gave a sign of life within `PRESENT`."""
        ...

    async def undelivered(self, after: int, limit: int) -> list[KeptRow]:
        """The oldest first."""
        ...

    async def refused(self, limit: int) -> list[tuple[str, str, str, str]]:
        """Keys that a live run asked for and another has: name, value, run, holder."""
        ...

    async def logs(self, run: str, after: int, limit: int) -> list[tuple[int, bytes]]:
        """Number and body, in order."""
        ...

    async def states(self, runs: Sequence[str]) -> list[RunState]:
        """How far runs have come, by id; one that is not there is left out."""
        ...

    async def start_key(self, workflow: str, key: str) -> tuple[str, bytes] | None:
        """The run that the key started, and the digest of what was asked."""
        ...


class Approvals(Protocol):
    """What people are asked to decide. It is written by `commit`, with the run that asks."""

    async def approval(self, id: str) -> ApprovalRow | None: ...

    async def approvals_of(self, run: str) -> list[ApprovalRow]:
        """All of a run, in the order in which they were asked."""
        ...

    async def approvals(
        self, status: str | None, before: tuple[datetime, str] | None, limit: int
    ) -> list[ApprovalRow]:
        """The newest first, those opened before a time and id; `status` None: all."""
        ...


class Tokens(Protocol):
    """What custom workers keep, by name."""

    async def tokens(self, prefix: str, after: str, limit: int) -> list[TokenRow]:
        """Those whose names begin so, in the order of their names, behind `after`."""
        ...

    async def change_tokens(
        self, changes: Sequence[TokenChange], audits: Sequence[AuditRow] = ()
    ) -> list[TokenRow] | str:
        """What was written, without what was deleted; or the name of one that is not as expected. No name twice.

        `audits` are written where the tokens are.
        """
        ...

    async def claim_tokens(
        self, owner: str, prefix: str, lease: timedelta, limit: int, audit: AuditRow | None = None
    ) -> list[TokenRow]:
        """Give an owner tokens that nobody owns any more, those of the highest priority first, by name.

        `audit` is written where there are some.
        """
        ...


class Upkeep(Protocol):
    """What operators do, and what must be done now and then."""

    async def retain(
        self,
        days: dict[str, timedelta],
        limit: int,
        explain: bool,
        own: Mapping[str, timedelta] | None = None,
    ) -> Retained:
        """Delete up to `limit` ended runs older than `days` of their status, and whatever else is out of date.

        `days` has succeeded, failed, canceled, timed_out; runs of a workflow in `own` are kept for that time instead,
        however they ended. With `explain` nothing is deleted.
        """
        ...

    async def check(self) -> list[str]:
        """What is wrong with the rows, one sentence each; empty: nothing."""
        ...

    async def backup(self, to: str) -> None:
        """A whole copy into a new file, while everything goes on."""
        ...

    async def attend(self, worker: Worker) -> None:
        """A worker is there, or still there; those that have gone without leaving are forgotten."""
        ...

    async def leave(self, worker: str) -> None:
        """A worker has gone."""
        ...

    async def facts(self) -> dict[str, Any]:
        """What kind of store this is, its schema, its size: for people."""
        ...

    async def close(self) -> None: ...


class Notifier(Protocol):
    """A hint that something may be there to do. It may ring for nothing, and it may not ring."""

    async def tell(self, runs: Sequence[str]) -> None:
        """Tell the other nodes which runs changed; none: some, too many to name."""
        ...

    async def ring(self, what: str) -> None:
        """Tell the other nodes: `tasks` or `messages`."""
        ...

    async def hear(self, timeout: timedelta) -> str | None:
        """Wait for a ring of another node; None: none came.

        It is `tasks`, `messages`, or `runs=` with the ids of runs that changed, joined by commas.
        """
        ...


class Store(
    Runs,
    Tasks,
    InboundEvents,
    WorkflowVersions,
    Drafts,
    Views,
    Approvals,
    Tokens,
    Upkeep,
    Notes,
    AccessStore,
    Outbox,
    Notifier,
    Protocol,
):
    """All of it: what SQLite and PostgreSQL both are."""
