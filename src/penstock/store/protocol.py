"""The roles of a store. One call is one transaction; a lost race is an answer, not an exception.

Rules that every store keeps (docs/spec/store.md; `tests/store` quotes the numbers):

ST1  `commit` applies each change whole or not at all, and all that it applied is durable when it answers.
ST2  A change is applied only where its run is at `base`; `new` only where there is no such run.
ST3  A task is ended only by who holds its lease: attempt and fence must be those of the row.
ST4  A timer, message or id is used up once.
ST5  A lease is given to one worker at a time; each of a task has a higher fence than all before, also over a restore.
ST6  `lease` gives tasks of the highest priority first, and of these the one queued first.
ST7  Time is the store's: no deadline is judged by the clock of a node.
ST8  A `serialize` key is held by at most `limit` elements, first come, first served; who leaves frees it.
ST9  A correlation key belongs to the first live run that asked for it, then to the next.
ST10 An event kept for a key is given to the run that gets the key, once.
ST11 Nothing of a run that is still there is deleted by retention; everything of one that goes is.
ST12 What somebody did is recorded in the transaction that did it, in one chain; an entry is never changed or deleted.
ST13 Tokens are changed all at once, and only where each has the version that was expected.
ST14 What a change publishes is there if and only if it was applied, and of one run in the order of its changes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Protocol

from penstock.store.rows.access import (
    AccessToken,
    AccessTokenRow,
    AuditPage,
    AuditRow,
    Login,
    NewSession,
    SecretRow,
    SessionRow,
)
from penstock.store.rows.change import Change, Committed, EventId, PendingEvent
from penstock.store.rows.drafts import DraftLine, DraftRow, NewDraft, NewVersion, VersionLine
from penstock.store.rows.outbox import OutboxMessageRow, OutboxRow
from penstock.store.rows.rows import (
    ApprovalRow,
    Backlog,
    ClaimRequest,
    Due,
    Filter,
    Heartbeat,
    Lease,
    Leased,
    LogLine,
    PendingEventRow,
    QueueRow,
    Renewal,
    Retained,
    RunCount,
    RunGroups,
    RunRow,
    RunState,
    RunWaits,
    StoredRun,
    TaskRow,
    TimingRow,
    TokenChange,
    TokenRow,
    Version,
    Worker,
    WorkflowState,
)


class Clock(Protocol):
    """The store's time."""

    async def now(self) -> datetime:
        """The store's time."""


class Runs(Clock, Protocol):
    """Runs, as they are decided about."""

    async def commit(self, changes: Sequence[Change]) -> Committed:
        """Apply each change that can be applied, all in one transaction. No two of one run."""

    async def load(self, runs: Sequence[str]) -> list[StoredRun | None]:
        """Runs with their parts; None for one that is not there."""

    async def payloads(self, refs: Sequence[tuple[str, bytes]]) -> dict[tuple[str, bytes], bytes]:
        """Bodies by run and digest."""

    async def pages(self, run: str, after: int, limit: int) -> list[bytes]:
        """History pages, in order, from the one with entry `after + 1` on; enough for `limit` entries."""

    async def states(self, runs: Sequence[str]) -> list[RunState]:
        """How far runs have come, by id; one that is not there is left out."""

    async def start_key(self, workflow: str, key: str) -> tuple[str, bytes] | None:
        """The run that the key started, and the digest of what was asked."""

    async def due(self, limit: int, timeout: timedelta, gone: Sequence[int] = ()) -> Due:
        """What is due now, the oldest first, up to `limit` of each kind.

        What is handed out here is left alone by other callers for `timeout`; if nobody uses it up by then, it
        is handed out again. Messages whose runs are `gone` are deleted first.
        """


class RunViews(Clock, Protocol):
    """Runs, as people look at them."""

    async def runs(self, filter: Filter) -> list[RunRow]:
        """Newest first."""

    async def count(self, filter: Filter) -> dict[str, int]:
        """Status → how many."""

    async def counts(self, groups: RunGroups) -> list[RunCount]:
        """How many runs each group has of each status; of which there are none is left out."""

    async def timings(
        self, runs: Sequence[str], limit: int | None = None, firings: Sequence[int] | None = None
    ) -> list[TimingRow]:
        """How long the attempts of runs waited for a worker, where they waited (in earlier versions only of those that
        are `change.timed`): the first `limit` of each run; or those of these firings, without those of elements."""

    async def waits(self, run: str) -> RunWaits: ...

    async def logs(self, run: str, after: int, limit: int) -> list[tuple[int, bytes]]:
        """Number and body, in order."""


class Tasks(Protocol):
    """The task lists, and the workers that serve them."""

    async def lease(self, request: ClaimRequest) -> list[Leased]:
        """Hand up to `limit` tasks to one worker."""

    async def renew(self, heartbeats: Sequence[Heartbeat]) -> list[Renewal]:
        """Prolong leases by their heartbeat time; one that ran out is lost, whether or not somebody noticed."""

    async def release(self, leases: Sequence[Lease]) -> list[bool]:
        """Give tasks back that were not begun: they are first in their list again, and have all their time to start.
        False: the lease was lost before, or ran out."""

    async def log(self, lines: Sequence[LogLine]) -> None:
        """Keep what tasks wrote."""

    async def register(self, worker: Worker) -> None:
        """A worker is there, or still there; those that have gone without leaving are forgotten."""

    async def deregister(self, worker: str, *, dead: bool = False) -> None:
        """A worker has gone. `dead`: all whose ids begin so died without leaving, and their leases run out now."""


class TaskViews(Clock, Protocol):
    """The task lists, as people look at them."""

    async def tasks(self, run: str) -> list[TaskRow]: ...

    async def queues(self) -> list[QueueRow]: ...

    async def workers(self) -> list[Worker]:
        """Those that gave a sign of life within `WORKER_TIMEOUT`."""

    async def backlog(self, *, oldest: int = 0, stuck: int = 0) -> Backlog:
        """What may never be done: so many of the oldest tasks; so many `stuck` runs, and what waits for a worker."""


class InboundEvents(Protocol):
    """Outside events on their way to a run."""

    async def find(self, keys: Sequence[tuple[str, str]]) -> str | None:
        """The live run that one of the keys belongs to."""

    async def keep(self, pending_event: PendingEvent) -> str | None:
        """Keep an event for the run that will have one of its keys.

        Answers the run where one has it by now: nothing is kept then. Answers "" where its id was seen before.
        """

    async def seen(self, ids: Sequence[EventId]) -> list[bool]:
        """Whether each id came before."""

    async def settle(self, id: int, *, deliver: bool, audit: AuditRow | None = None) -> bool:
        """A kept event is done with, or goes to the run that has its key now.

        False: there is no such event, or no run to `deliver` it to.
        """

    async def undelivered(self, after: int, limit: int) -> list[PendingEventRow]:
        """The oldest first."""

    async def refused(self, limit: int) -> list[tuple[str, str, str, str]]:
        """Keys that a live run asked for and another has: name, value, run, holder."""


class WorkflowVersions(Protocol):
    """Published workflows."""

    async def publish(
        self, new: NewVersion, expect: Collection[str] | None = None, audit: AuditRow | None = None
    ) -> Version | None:
        """The next version, or the newest one; None: the draft, or else that, is not one of those expected (`etag_of`).

        A workflow that is new is started where `start` says so; one that is not stays as it is, unless `restart`.
        `audit` is written where something was changed.
        """

    async def version(self, workflow: str, version: int | None) -> Version | None:
        """A version, the newest where none is named."""

    async def versions(self, workflow: str, before: int | None, limit: int) -> list[VersionLine]:
        """The newest first, those with a lower number than `before`."""

    async def workflows(self, workflow: str | None = None) -> list[WorkflowState]:
        """All, by name; or only the one that is named, if it exists."""

    async def set_started(self, workflow: str, started: bool, audit: AuditRow | None = None) -> bool:
        """False: there is no such workflow."""

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


class Drafts(Protocol):
    """What authors work on. `expect` names, by `etag_of`, what the draft (or else the newest version) may be now.

    An `audit` is written in the same transaction, and only where something was changed.
    """

    async def draft(self, workflow: str) -> DraftRow | None: ...

    async def drafts(self) -> list[DraftLine]:
        """All, by the name of their workflow."""

    async def save_draft(
        self,
        workflow: str,
        draft: NewDraft | None,
        expect: Collection[str] | None = None,
        audit: AuditRow | None = None,
    ) -> datetime | None:
        """Save the draft, or (None) drop it; when that was done. None: it is not what was expected, and stays."""


class Approvals(Protocol):
    """What people are asked to decide. It is written by `commit`, with the run that asks."""

    async def approvals(
        self,
        ids: Sequence[str] | None = None,
        *,
        run: str | None = None,
        status: str | None = None,
        before: tuple[datetime, str] | None = None,
        limit: int = 0,
    ) -> list[ApprovalRow]:
        """Those of these ids that exist; or all of a run, in the order in which they were asked; or a page of them:
        the newest first, of a status or all, opened before a time and id."""


class Tokens(Protocol):
    """What custom workers keep, by name."""

    async def tokens(self, prefix: str, after: str, limit: int) -> list[TokenRow]:
        """Those whose names begin so, in the order of their names, behind `after`."""

    async def change_tokens(
        self, changes: Sequence[TokenChange], audits: Sequence[AuditRow] = ()
    ) -> list[TokenRow] | str:
        """What was written, without what was deleted; or the name of one that is not as expected. No name twice.

        `audits` are written where the tokens are.
        """

    async def claim_tokens(
        self, owner: str, prefix: str, lease: timedelta, limit: int, audit: AuditRow | None = None
    ) -> list[TokenRow]:
        """Give an owner tokens that nobody owns any more, those of the highest priority first, by name.

        `audit` is written where there are some.
        """


class Outbox(Protocol):
    """What waits to be published."""

    async def outbox_messages(self, bus: str, limit: int) -> list[OutboxMessageRow]:
        """Those that wait for a bus: of each topic the oldest, in their order, up to `limit`."""

    async def sent(self, messages: Sequence[int]) -> None:
        """Delete messages that the broker has."""

    async def outbox(self) -> list[OutboxRow]:
        """What waits, by bus and topic."""


class Notes(Protocol):
    """Small texts by name, such as the lists of runs that people keep."""

    async def notes(self, prefix: str) -> dict[str, str]:
        """All whose name begins so, by name."""

    async def put_note(
        self, name: str, text: str | None, audit: AuditRow | None = None, *, replace: bool = True
    ) -> str | None:
        """Keep a text, or (None) drop it; the former text. `audit` is written where something changes.

        Without `replace` an existing text stays: the first of several callers wins.
        """


class AccessStore(Clock, Protocol):
    """Who may come in.

    An `audit` is written in the same transaction, and only where something was changed.
    """

    async def add_access_token(self, token: AccessToken, audit: AuditRow | None = None) -> bool:
        """False: the id is taken."""

    async def access_tokens(
        self, ids: Sequence[str] | None = None, *, before: str | None = None, limit: int = 0
    ) -> list[AccessTokenRow]:
        """Those of these ids that exist; or (None) the newest first: by id, downwards, those before one."""

    async def revoke_access_token(self, id: str, audit: AuditRow | None = None) -> bool:
        """False: there is no such token, or it is revoked already."""

    async def note_use(
        self, apart: timedelta, *, tokens: Sequence[str] = (), sessions: Sequence[bytes] = ()
    ) -> None:
        """Note that they are used, where that was noted longer than `apart` ago."""

    async def add_session(
        self,
        session: NewSession,
        lasts: timedelta,
        instead: bytes | None = None,
        audit: AuditRow | None = None,
    ) -> None:
        """Begin a session, and end the one that it stands `instead` of; those whose time is over go."""

    async def session(self, digest: bytes, idle: timedelta) -> SessionRow | None:
        """One whose time is not over and that was seen within `idle`."""

    async def drop_sessions(
        self, digests: Sequence[bytes], names: Sequence[str] = (), audit: AuditRow | None = None
    ) -> int:
        """End sessions, and all of the people named; how many there were."""

    async def add_login(self, login: Login, lasts: timedelta) -> None:
        """Somebody is sent to sign in elsewhere; those whose time is over go."""

    async def take_login(self, digest: bytes) -> Login | None:
        """Use up a sign-in; None: there is none, or its time is over, or it came back before."""


class Secrets(Protocol):
    """What is kept under lock."""

    async def put_secret(
        self,
        name: str,
        key_id: str,
        sealed: bytes,
        known: Sequence[str] = (),
        audit: AuditRow | None = None,
        *,
        was: bytes | None = None,
    ) -> SecretRow | None:
        """The next version of a secret. None: some secret is sealed with a key that is not `known`, or there are
        secrets and none is sealed with this one; nothing changed.

        With `was`, it is the same value and version under another key. None: it is not sealed as it was now.
        """

    async def drop_secret(self, name: str, audit: AuditRow | None = None) -> bool:
        """False: there is no such secret."""

    async def secret_keys(self) -> dict[str, str]:
        """The keys that secrets are sealed with, each with a text that changes with the secrets that it seals."""

    async def secrets(
        self, names: Sequence[str] | None = None, *, after: str = "", limit: int = 0
    ) -> list[SecretRow]:
        """By name: those of these names that exist, or (None) the first `limit` behind `after`."""


class AuditLog(Protocol):
    """What people did, in one chain."""

    async def record(self, audits: Sequence[AuditRow]) -> None:
        """Record what changes no other row."""

    async def audits(self, limit: int, *, after: int | None = None, before: int | None = None) -> AuditPage:
        """With `after` those with a higher number, in order; otherwise the newest first, those `before` a number."""


class Maintenance(Protocol):
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

    async def check(self) -> list[str]:
        """What is wrong with the rows, one sentence each; empty: nothing."""

    async def backup(self, to: str) -> None:
        """A whole copy into a new file, while everything goes on."""

    async def facts(self) -> dict[str, Any]:
        """What kind of store this is, its schema, its size: for people."""

    async def close(self) -> None: ...


class Notifier(Protocol):
    """Hints to other nodes that there may be something to do. One may come for nothing, and one may get lost."""

    async def notify(self, what: str, runs: Sequence[str] = ()) -> None:
        """Hint to the other nodes: at `tasks` or `messages`, or at `runs` that changed; none: too many to name."""

    async def listen(self, timeout: timedelta) -> str | None:
        """Wait for a hint of another node; None: none came.

        It is `tasks`, `messages`, or `runs=` with the ids of runs that changed, joined by commas.
        """


class Store(
    Runs,
    RunViews,
    Tasks,
    TaskViews,
    InboundEvents,
    WorkflowVersions,
    Drafts,
    Approvals,
    Tokens,
    Outbox,
    Notes,
    AccessStore,
    Secrets,
    AuditLog,
    Maintenance,
    Notifier,
    Protocol,
):
    """All roles together, as SQLite and PostgreSQL implement them. Its users ask for the roles that they need."""
