"""What a store is asked and what it answers: plain values."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Literal

from msgspec import Struct

from penstock.store.rows.change import Message, Part


class StoredRun(Struct, frozen=True):
    """A run as it lies in the store."""

    run: str
    revision: int
    header: bytes
    head: bytes
    parts: tuple[Part, ...]


class ClaimRequest(Struct, frozen=True, kw_only=True):
    """What a worker asks for. `tasks` None: whatever is on the lists."""

    worker: str
    task_lists: tuple[str, ...]
    tasks: tuple[str, ...] | None
    limit: int


class Lease(Struct, frozen=True, gc=False):
    """One worker's right to do one attempt."""

    run: str
    firing: int
    index: int
    attempt: int
    fence: int

    @property
    def place(self) -> tuple[str, int, int, int]:
        """The attempt that it is for."""
        return self.run, self.firing, self.index, self.attempt


class Leased(Struct, frozen=True):
    """A task handed out: which, and until when."""

    lease: Lease
    task: str
    task_list: str
    expires: datetime  # by then it must be renewed or reported
    deadline: datetime | None  # by then it must have ended, however often it is renewed


class Heartbeat(Struct, frozen=True):
    """A sign of life for one lease; `progress` is what the task says of itself, as JSON."""

    lease: Lease
    progress: bytes | None = None


class Renewal(Struct, frozen=True):
    """`expires` None: the lease is lost, stop."""

    expires: datetime | None
    deadline: datetime | None = None


class DueTimer(Struct, frozen=True):
    """A timer whose time has come."""

    id: int
    run: str
    body: bytes
    due: datetime


class DueTask(Struct, frozen=True):
    """A task that outlived a time-out: `limit` is schedule_to_start, start_to_close, schedule_to_close or lost.

    Of several it is the one whose time came first.
    """

    lease: Lease
    limit: str


class Due(Struct, frozen=True):
    """What is due now. `next` is the earliest time at which something more falls due, where it is known."""

    timers: list[DueTimer]
    tasks: list[DueTask]
    messages: list[Message]
    next: datetime | None
    now: datetime


class LogLine(Struct, frozen=True):
    """One line that a task wrote."""

    run: str
    at: datetime
    body: bytes


class Version(Struct, frozen=True, kw_only=True):
    """A published definition. `offers` are what its tasks offered then, as JSON: they decide its ports."""

    workflow: str
    version: int
    definition: str
    offers: bytes
    note: str | None
    at: datetime


class WorkflowState(Struct, frozen=True, kw_only=True):
    """A workflow: its newest version, whether its source makes runs, and whether it is paused."""

    name: str
    latest: int
    started: bool
    paused: bool
    halted: bool = False  # the whole installation is paused
    started_at: datetime | None = None  # when its source was started last; None: never, or nobody knows
    stopped_at: datetime | None = None


WORKER_TIMEOUT = timedelta(seconds=60)
"""A worker that gave no sign of life for so long is not there any more: it gives one every ten seconds."""


class Worker(Struct, frozen=True, kw_only=True):
    """A worker process, as it says of itself. `id` is new at every start."""

    id: str
    name: str
    task_lists: tuple[str, ...]
    tasks: tuple[str, ...]
    concurrency: int
    started_at: datetime
    seen_at: datetime | None = None


Sort = Literal["newest", "oldest", "ended"]


class Filter(Struct, frozen=True, kw_only=True):
    """Which runs; every part that is given must hold. `after` is where the page begins: behind that run.

    `workflows` are patterns of which a run's workflow must match one (`*` any text, `?` any character). `step`: a
    task of that step waits or is under way, or the run failed, starves or waits at it. `waiting_for` an event, and
    `waiting_since`: at that time already. `q` begins the subject, the id or the value of a correlation key. `since`
    and `until` are of the start. With `sort` ended only runs that have ended are listed, the latest first.
    """

    workflow: str | None = None
    workflows: tuple[str, ...] | None = None
    version: int | None = None
    statuses: tuple[str, ...] = ()
    subject: str | None = None
    parent: str | None = None
    label: tuple[str, str] | None = None
    key: tuple[str, str] | None = None
    step: str | None = None
    waiting_for: str | None = None
    waiting_since: datetime | None = None
    aside: bool = False  # an event was set aside in it
    since: datetime | None = None
    until: datetime | None = None
    q: str | None = None
    sort: Sort = "newest"
    after: tuple[datetime, str] | None = None  # the time that the list is sorted by, and the id
    limit: int = 50


class RunRow(Struct, frozen=True, kw_only=True):
    """A run in a list."""

    id: str
    workflow: str
    version: int
    subject: str | None
    status: str
    parent: str | None
    labels: dict[str, str]
    waiting_for: list[str]
    started_at: datetime
    ended_at: datetime | None


class RunsByWorkflow(Struct, frozen=True):
    """All runs of these workflows."""

    workflows: tuple[str, ...]


class RunsByVersion(Struct, frozen=True):
    """The runs of one workflow that started then."""

    workflow: str
    since: datetime
    until: datetime


class RunsByEnd(Struct, frozen=True):
    """The runs that ended then, by intervals of a `width`."""

    since: datetime
    until: datetime
    width: timedelta


RunGroups = RunsByWorkflow | RunsByVersion | RunsByEnd
"""Which runs are counted, and by which group besides the status."""


class RunCount(Struct, frozen=True):
    """How many runs of a workflow have a status; `group` is the version, or the number of the interval."""

    workflow: str
    status: str
    number: int
    group: int = 0


class RunState(Struct, frozen=True, gc=False):
    """How far a run has come: `seq` is the number of its last history entry."""

    run: str
    workflow: str
    status: str
    seq: int
    subject: str | None


class PendingEventRow(Struct, frozen=True, kw_only=True):
    """An event that nobody has taken."""

    id: int
    event: str
    keys: tuple[tuple[str, str], ...]
    body: bytes
    reason: str
    at: datetime
    until: datetime


class QueueRow(Struct, frozen=True, kw_only=True):
    """A task list: how much waits, is held by a pause, is under way, and since when the oldest waits."""

    task_list: str
    ready: int
    held: int
    leased: int
    oldest: datetime | None


class TaskRow(Struct, frozen=True, kw_only=True):
    """A task of a run that waits or is under way."""

    lease: Lease
    task: str
    task_list: str
    worker: str | None
    held: bool
    queued_at: datetime
    started_at: datetime | None
    progress: bytes | None


class LockRow(Struct, frozen=True, kw_only=True):
    """An element in the line of a `serialize` key: how many wait before it, and which runs hold the key."""

    firing: int
    index: int
    key: str
    held: bool
    ahead: int
    holders: tuple[str, ...]


class RunWaits(Struct, frozen=True):
    """When a run is woken and what its timers say, the next one first; and where it stands in the lines of keys."""

    timers: list[tuple[datetime, bytes]]
    locks: list[LockRow]


class OldTask(Struct, frozen=True, kw_only=True):
    """A task that was queued long ago, and whose it is."""

    run: str
    workflow: str
    version: int
    step: str
    task: str
    task_list: str
    worker: str | None
    queued_at: datetime
    started_at: datetime | None


class WaitingTasks(Struct, frozen=True, kw_only=True):
    """How many tasks of one name wait on a list for a worker, and since when the oldest."""

    task_list: str
    task: str
    count: int
    oldest: datetime


class Backlog(Struct, frozen=True):
    """What may never be done: the oldest tasks, first the one queued first; what waits for a worker, by list and task,
    not what a pause holds; runs that are running, with nothing that could ever move them on."""

    oldest: list[OldTask]
    waiting: list[WaitingTasks]
    stuck: list[str]


class TokenRow(Struct, frozen=True, kw_only=True):
    """A token of a custom worker; `data` is JSON. No version is used twice for one name."""

    name: str
    version: int
    owner: str | None = None
    expires: datetime | None = None
    priority: float = 0
    data: bytes = b"null"


class TokenChange(Struct, frozen=True, kw_only=True):
    """What becomes of one token. `expect` None: there must be none; `gone`: it is deleted."""

    name: str
    expect: int | None = None
    gone: bool = False
    owner: str | None = None
    expires: datetime | None = None
    priority: float = 0
    data: bytes = b"null"


class ApprovalRow(Struct, frozen=True):
    """What a person is, or was, asked to decide."""

    id: str
    run: str
    workflow: str
    step: str
    role: str
    body: bytes
    status: str
    opened_at: datetime
    due_at: datetime | None
    ended_at: datetime | None
    decided_by: str | None
    decision: bytes | None


class TimingRow(Struct, frozen=True):
    """How long an attempt waited for a worker."""

    run: str
    firing: int
    index: int
    attempt: int
    queued_at: datetime
    started_at: datetime


class Retained(Struct, frozen=True):
    """What retention deletes, or would: rows by table."""

    rows: dict[str, int]
