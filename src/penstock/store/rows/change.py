"""What one decision writes: plain columns and encoded bytes, applied whole or not at all."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Literal

from msgspec import Struct

from penstock.store.rows.access import AuditRow
from penstock.store.rows.outbox import OutboxMessage

HANDOVER_TIMEOUT = timedelta(seconds=5)
"""How long others leave alone what a node has in hand: what it was handed, and the messages its commits made."""

WHOLE = -1
"""The index of an element that is a whole firing: a key column cannot be null."""


def timed(run: str) -> bool:
    """Whether statistics may ask how long the attempts of a run waited. Earlier versions kept it of one in sixteen."""
    return run[19:20] == "0"


class NewRun(Struct, frozen=True, gc=False, kw_only=True):
    """The columns of a run that never change. `start_key` makes the start idempotent: the key and a digest."""

    workflow: str
    version: int
    subject: str | None
    parent: str | None
    labels: str  # a JSON object
    started_at: datetime
    header: bytes
    start_key: tuple[str, bytes] | None = None
    paused: tuple[bool, bool] = (False, False)  # the workflow, the installation; otherwise by now: `stale`
    # The newest version of the workflow, where that matters; another by now: `stale`.
    latest: int | None = None


class NewTask(Struct, frozen=True, gc=False, kw_only=True):
    """An attempt put on its task list. With `worker` it is leased to that worker at once: see `Committed.fence`."""

    firing: int
    index: int
    attempt: int
    task: str
    task_list: str
    priority: int
    schedule_to_start: timedelta | None
    start_to_close: timedelta | None
    schedule_to_close: timedelta | None
    heartbeat: timedelta
    worker: str | None = None
    held: bool = False  # the run is paused: not handed out, and no time-out runs
    step: str = ""  # whose attempt it is, so that runs can be found by it


class EndedTask(Struct, frozen=True, gc=False):
    """A task whose row must be there with this attempt and fence; it is deleted. Otherwise the change is `lost`."""

    firing: int
    index: int
    attempt: int
    fence: int


class Part(Struct, frozen=True, gc=False):
    """A piece of a run's state that is kept apart, so that a wide fan does not rewrite a growing row."""

    kind: str  # 'e' an element, 'r' a result, 'i' the items of a firing
    firing: int
    index: int
    body: bytes | None  # None: the part is deleted


class Lock(Struct, frozen=True):
    """An element queues for a `serialize` key; `body` is the message its run gets when it holds the key."""

    key: str
    limit: int
    firing: int
    index: int
    body: bytes


class Unlock(Struct, frozen=True):
    """An element gives its key back or leaves its queue."""

    key: str
    firing: int
    index: int


class Post(Struct, frozen=True):
    """A message to a run, or (run None) to whichever node looks first."""

    run: str | None
    body: bytes


class EventId(Struct, frozen=True):
    """An id that must not come twice within its scope; `until` None: as long as its run is kept."""

    scope: str
    id: str
    until: datetime | None = None


class PendingEvent(Struct, frozen=True, kw_only=True):
    """An outside event for whichever run has one of its keys: posted to it, or kept until `until`.

    One without keys is only shown: its run did not take it, `reason` says why. One whose id was `seen` before
    is dropped.
    """

    keys: tuple[tuple[str, str], ...]
    event: str
    body: bytes
    reason: str
    until: datetime
    seen: EventId | None = None


class Asked(Struct, frozen=True, kw_only=True):
    """A person is asked to decide; `body` says what, for whoever shows it."""

    id: str
    workflow: str
    step: str
    role: str
    body: bytes
    due_at: datetime | None = None


class Decided(Struct, frozen=True, kw_only=True):
    """What somebody was asked has an end: a decision, or nobody is asked any more. The first end stays."""

    id: str
    status: str  # approved | rejected | expired | closed
    by: str | None = None
    decision: bytes | None = None


class Change(Struct, frozen=True, gc=False, kw_only=True):
    """Everything that follows from one decision about one run."""

    run: str
    base: int  # the revision it was computed from; a run that is at another one is left alone: `stale`
    revision: int
    seq: int
    status: str
    ended_at: datetime | None
    waiting: str | None  # a JSON list of what a run at rest waits for
    head: bytes
    new: NewRun | None = None  # the run is made; `base` is 0
    page: bytes | None = None  # history entries after the former `seq` up to `seq`, as one page
    page_from: int = 0  # the first entry of the page
    tasks: tuple[NewTask, ...] = ()
    ended: tuple[EndedTask, ...] = ()
    # The run has ended: its tasks, timers, locks and keys go; messages wait to be discarded.
    over: bool = False
    has_extras: bool = True  # False: all that follows is empty, and a new run has no start key and no labels
    goes_on: bool = False  # it was running and is: status, end and what it waits for are as they were
    # It had ended: its workflow, and `NewRun.paused` of it.
    revived: tuple[str, tuple[bool, bool]] | None = None
    parts: tuple[Part, ...] = ()
    payloads: tuple[tuple[bytes, bytes], ...] = ()  # digest and body; one that is there already stays
    void: tuple[tuple[int, int], ...] = ()  # firing and index: their tasks are deleted, whatever their fence
    hold: bool | None = None  # True: unleased tasks are held; False: held ones count from now and are free
    timers: tuple[tuple[datetime, bytes], ...] = ()
    rung: tuple[int, ...] = ()  # timers that this change uses up; one that is gone makes it `stale`
    read: tuple[int, ...] = ()  # messages that this change uses up; one that is gone makes it `stale`
    # Where it rests, 'event' or 'step' and the name, in place of what was there; None: as before.
    rest: tuple[tuple[str, str], ...] | None = None
    locks: tuple[Lock, ...] = ()
    unlocks: tuple[Unlock, ...] = ()
    keys: tuple[tuple[str, str], ...] = ()  # correlation keys: the run queues for each
    # Runs not to begin any more: messages to one that is not there go, before `posts`.
    unbegun: tuple[str, ...] = ()
    posts: tuple[Post, ...] = ()
    pending_events: tuple[PendingEvent, ...] = ()
    seen: tuple[EventId, ...] = ()
    outbox_messages: tuple[OutboxMessage, ...] = ()  # what is published, in this order
    asked: tuple[Asked, ...] = ()
    decided: tuple[Decided, ...] = ()  # before `asked`
    audits: tuple[AuditRow, ...] = ()  # recorded where the change is applied


Outcome = Literal["applied", "stale", "lost", "known", "seen"]
"""What became of a change.

applied  it is durable
stale    the run is at another revision, a timer or message was used up by somebody else, or what `new` or
         `revived` says of pauses or of the newest version is not so any more
lost     a task that it ends is not leased that way any more
known    the start key was used before
seen     an id in `seen` came before
"""


class Message(Struct, frozen=True, gc=False):
    """A message to a run that waits to be read."""

    id: int
    run: str | None
    body: bytes


class Committed(Struct, frozen=True):
    """What became of each change, the messages that were made (this caller should read them), and the time.

    `fence` is that of the tasks that were made with a worker: 1, and more in a database that was restored.
    """

    outcomes: list[Outcome]
    messages: list[Message]
    now: datetime
    fence: int = 1
