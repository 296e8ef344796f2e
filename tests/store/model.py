"""The reference model: what a store answers, said as plainly as it can be, without a database.

It keeps the rules by being simple: one change after the other, each looked at before anything of it is written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

from penstock.store.rows.access import AuditRow
from penstock.store.rows.change import (
    Change,
    Committed,
    EndedTask,
    EventId,
    Message,
    NewTask,
    Outcome,
    Part,
    PendingEvent,
    Post,
)
from penstock.store.rows.rows import (
    ClaimRequest,
    Due,
    DueTask,
    DueTimer,
    Heartbeat,
    Lease,
    Leased,
    LogLine,
    Renewal,
    StoredRun,
    Version,
    Worker,
)
from penstock.store.rules.conflicts import belief_of
from tests.store.model_access import ModelAccess
from tests.store.model_drafts import ModelDrafts
from tests.store.model_outbox import ModelOutbox
from tests.store.model_rows import FIRST_LOOK, LONG_AGO, Id, KeptEvent, Letter, LockRow, Run, Task, Timer

Key = tuple[str, str]


class Rows:
    """Everything that is stored."""

    def __init__(self) -> None:
        self.number = 0
        self.runs: dict[str, Run] = {}
        self.tasks: dict[tuple[str, int, int], Task] = {}
        self.timers: dict[int, Timer] = {}
        self.messages: dict[int, Letter] = {}
        self.locks: list[LockRow] = []
        self.keys: dict[Key, list[str]] = {}
        self.pending_events: dict[int, KeptEvent] = {}
        self.ids: dict[Key, Id] = {}
        self.start_keys: dict[Key, tuple[str, bytes]] = {}
        self.versions: dict[str, list[Version]] = {}
        self.started: dict[str, bool] = {}
        self.started_at: dict[str, datetime] = {}
        self.stopped_at: dict[str, datetime] = {}
        self.paused: dict[str | None, bool] = {None: False}
        self.log_lines: list[tuple[int, str, bytes]] = []
        self.workers: dict[str, Worker] = {}
        self.owners: dict[Key, str] = {}
        self.notes: dict[str, str] = {}

    def next(self) -> int:
        self.number += 1
        return self.number


class ModelStore(ModelAccess, ModelDrafts, ModelOutbox):
    """Runs, tasks and mail of the model; `tests/store/model_views.py` has the rest."""

    keep_approvals: Callable[[Sequence[Change], datetime], None]

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self.clock = clock
        self.rows = Rows()
        ModelOutbox.__init__(self)

    # Runs

    async def commit(self, changes: Sequence[Change]) -> Committed:
        now, first = self.clock(), self.rows.number
        outcomes = [self._attempt(change, now) for change in changes]
        applied = [change for change, outcome in zip(changes, outcomes, strict=True) if outcome == "applied"]
        self._take_back({run for change in applied for run in change.unbegun} - self.rows.runs.keys(), first)
        self._grant(now)
        self._hand_over(now)
        for change in applied:
            for pending_event in change.pending_events:
                self._leave(pending_event, now)
            self._record(*change.audits)
            self._publish(change, now)
        self.keep_approvals(applied, now)
        made = [
            Message(number, letter.run, letter.body)
            for number, letter in self.rows.messages.items()
            if number > first
        ]
        return Committed(outcomes, made, now)

    def _take_back(self, unbegun: set[str], last: int) -> None:
        letters = self.rows.messages
        for number in [n for n, letter in letters.items() if n <= last and letter.run in unbegun]:
            del letters[number]

    def _attempt(self, change: Change, now: datetime) -> Outcome:
        refusal = self._refusal(change)
        if refusal is not None:
            return refusal
        self._use_up(change)
        self._apply(change, now)
        return "applied"

    def _refusal(self, change: Change) -> Outcome | None:
        rows = self.rows
        new = change.new
        if new and new.start_key and (new.workflow, new.start_key[0]) in rows.start_keys:
            return "known"
        if not self._is_fresh(change):
            return "stale"
        if any(self._ends(change.run, end) is None for end in change.ended):
            return "lost"
        if any(self._came(seen) for seen in change.seen):
            return "seen"
        return None

    def _is_fresh(self, change: Change) -> bool:
        run = self.rows.runs.get(change.run)
        at_base = (run is None) if change.new else (run is not None and run.revision == change.base)
        unused = all(number in self.rows.timers for number in change.rung)
        unread = all(number in self.rows.messages for number in change.read)
        return at_base and unused and unread and self._is_as_believed(change)

    def _is_as_believed(self, change: Change) -> bool:
        said, paused = belief_of(change), self.rows.paused
        if said is None or said.workflow not in paused:
            return True
        return said.holds((paused[said.workflow], paused[None]), len(self.rows.versions[said.workflow]))

    def _ends(self, run: str, end: EndedTask) -> Task | None:
        task = self.rows.tasks.get((run, end.firing, end.index))
        return task if task and (task.new.attempt, task.fence) == (end.attempt, end.fence) else None

    def _use_up(self, change: Change) -> None:
        rows = self.rows
        for number in change.rung:
            del rows.timers[number]
        for number in change.read:
            del rows.messages[number]
        for end in change.ended:
            del rows.tasks[change.run, end.firing, end.index]
        for seen in change.seen:
            rows.ids[seen.scope, seen.id] = Id(seen.until, change.run)
        if change.new:
            rows.runs[change.run] = Run(change.new)
            if change.new.start_key:
                key, digest = change.new.start_key
                rows.start_keys[change.new.workflow, key] = (change.run, digest)

    def _apply(self, change: Change, now: datetime) -> None:
        self.rows.runs[change.run].take(change, now)
        self._tasks(change, now)
        for due, body in change.timers:
            self.rows.timers[self.rows.next()] = Timer(change.run, due, body)
        for post in change.posts:
            self._post(post, now)
        self._lock(change)
        for key in change.keys:
            queue = self.rows.keys.setdefault(key, [])
            if change.run not in queue:
                queue.append(change.run)
        if change.over:
            self._over(change.run)

    def _leave(self, pending_event: PendingEvent, now: datetime) -> None:
        """Post an event to the run that has its key, or keep it; one whose id came before is dropped."""
        if pending_event.seen is not None and self._came(pending_event.seen):
            return
        self._note(pending_event)
        owner = self._owner(pending_event.keys)
        if owner is None:
            self.rows.pending_events[self.rows.next()] = KeptEvent(pending_event, now)
        else:
            self._post(Post(owner, pending_event.body), now)

    def _tasks(self, change: Change, now: datetime) -> None:
        for firing, index in change.void:
            self.rows.tasks.pop((change.run, firing, index), None)
        if change.hold is not None:
            self._hold(change.run, change.hold, now)
        for new in change.tasks:
            self._queue(change.run, new, now)

    def _queue(self, run: str, new: NewTask, now: datetime) -> None:
        task = Task(
            run, new, queued_at=now, turn=self.rows.next(), held=new.held, counts_from=now, waits_from=now
        )
        if new.worker is not None:
            task.give(new.worker, now)
        self.rows.tasks[run, new.firing, new.index] = task

    def _hold(self, run: str, hold: bool, now: datetime) -> None:
        for task in self._tasks_of(run):
            if task.worker is None and task.held != hold:
                task.held = hold
                if not hold:
                    task.counts_from = task.waits_from = now

    def _tasks_of(self, run: str) -> list[Task]:
        return [task for task in self.rows.tasks.values() if task.run == run]

    def _post(self, post: Post, now: datetime) -> None:
        self.rows.messages[self.rows.next()] = Letter(post.run, post.body, now + FIRST_LOOK)

    def _lock(self, change: Change) -> None:
        left = {(give.key, change.run, give.firing, give.index) for give in change.unlocks}
        self.rows.locks = [
            row for row in self.rows.locks if (row.key, row.run, row.firing, row.index) not in left
        ]
        for want in change.locks:
            self.rows.locks.append(
                LockRow(
                    want.key,
                    self.rows.next(),
                    change.run,
                    want.firing,
                    want.index,
                    want.limit,
                    want.body,
                )
            )

    def _grant(self, now: datetime) -> None:
        for row in self.rows.locks:
            holders = sum(other.held for other in self.rows.locks if other.key == row.key)
            if not row.held and holders < row.limit:
                row.held = True
                self._post(Post(row.run, row.body), now)

    def _hand_over(self, now: datetime) -> None:
        """Give what is kept for a key to the run that got it in this change."""
        gained = {
            key: queue[0]
            for key, queue in sorted(self.rows.keys.items())
            if queue and self.rows.owners.get(key) != queue[0]
        }
        for number, event in list(self.rows.pending_events.items()):
            runs = [run for key, run in gained.items() if key in event.pending.keys]
            if runs and event.pending.until > now:
                del self.rows.pending_events[number]
                self._post(Post(runs[0], event.pending.body), now)
        self.rows.keys = {key: queue for key, queue in self.rows.keys.items() if queue}
        self.rows.owners = {key: queue[0] for key, queue in self.rows.keys.items()}

    def _over(self, run: str) -> None:
        rows = self.rows
        rows.tasks = {place: task for place, task in rows.tasks.items() if task.run != run}
        rows.timers = {number: timer for number, timer in rows.timers.items() if timer.run != run}
        rows.locks = [row for row in rows.locks if row.run != run]
        for queue in rows.keys.values():
            if run in queue:
                queue.remove(run)

    async def load(self, runs: Sequence[str]) -> list[StoredRun | None]:
        return [self._stored(name) for name in runs]

    def _stored(self, name: str) -> StoredRun | None:
        run = self.rows.runs.get(name)
        if run is None:
            return None
        parts = tuple(Part(*place, body) for place, body in sorted(run.parts.items()))
        return StoredRun(name, run.revision, run.new.header, run.head, parts)

    async def payloads(self, refs: Sequence[tuple[str, bytes]]) -> dict[tuple[str, bytes], bytes]:
        found = {}
        for run, digest in refs:
            if run in self.rows.runs and digest in self.rows.runs[run].payloads:
                found[run, digest] = self.rows.runs[run].payloads[digest]
        return found

    async def pages(self, run: str, after: int, limit: int) -> list[bytes]:
        found = self.rows.runs[run].pages if run in self.rows.runs else []
        return [body for first, last, body in found if last > after and first <= after + limit]

    async def due(self, limit: int, timeout: timedelta, gone: Sequence[int] = ()) -> Due:
        for number in gone:
            self.rows.messages.pop(number, None)
        now = self.clock()
        timers = _ripe(self.rows.timers, now, limit, timeout, lambda timer: timer.due)
        tasks = _ripe(self.rows.tasks, now, limit, timeout, lambda task: task.expires())
        letters = _ripe(self.rows.messages, now, limit, timeout, lambda letter: LONG_AGO)
        return Due(
            [DueTimer(number, timer.run, timer.body, timer.due) for number, timer in timers],
            [DueTask(task.lease, task.struck()) for _, task in tasks],
            [Message(number, letter.run, letter.body) for number, letter in letters],
            min((at for at in self._times() if at > now), default=None),
            now,
        )

    def _times(self) -> Iterable[datetime]:
        yield from (timer.due for timer in self.rows.timers.values())
        yield from (at for task in self.rows.tasks.values() for at, _ in task.limits())

    async def now(self) -> datetime:
        return self.clock()

    # Tasks

    async def lease(self, wish: ClaimRequest) -> list[Leased]:
        now = self.clock()
        ready = [task for task in self.rows.tasks.values() if _wanted(task, wish) and task.expires() > now]
        ready.sort(key=Task.place)
        return [self.give(task.lease, wish.worker) for task in ready[: wish.limit]]

    def give(self, lease: Lease, worker: str) -> Leased:
        """Lease one task."""
        task = self.rows.tasks[lease.run, lease.firing, lease.index]
        task.give(worker, self.clock())
        place = (lease.firing, lease.index, lease.attempt)
        self.rows.runs[lease.run].timings[place] = (task.queued_at, self.clock())
        return Leased(task.lease, task.new.task, task.new.task_list, task.lease_until, task.deadline())

    def _leased(self, lease: Lease) -> Task | None:
        task = self.rows.tasks.get((lease.run, lease.firing, lease.index))
        if task is None or task.worker is None or task.lease != lease or task.lease_until <= self.clock():
            return None
        return task

    async def renew(self, beats: Sequence[Heartbeat]) -> list[Renewal]:
        return [self._renew(beat) for beat in beats]

    def _renew(self, beat: Heartbeat) -> Renewal:
        task = self._leased(beat.lease)
        if task is None:
            return Renewal(None)
        task.lease_until = self.clock() + task.new.heartbeat
        if beat.progress is not None:
            task.progress = beat.progress
        return Renewal(task.lease_until, task.deadline())

    async def release(self, leases: Sequence[Lease]) -> list[bool]:
        found = [self._leased(lease) for lease in leases]
        for task in found:
            if task is not None:
                task.take_back(self.rows.runs[task.run].status == "paused", self.clock())
        return [task is not None for task in found]

    async def deregister(self, worker: str, *, dead: bool = False) -> None:
        if not dead:
            self.rows.workers.pop(worker, None)
            return
        for task in self.rows.tasks.values():
            if task.worker is not None and task.worker.startswith(worker):
                task.lease_until = min(task.lease_until, self.clock())

    async def log(self, lines: Sequence[LogLine]) -> None:
        self.rows.log_lines += [(self.rows.next(), line.run, line.body) for line in lines]

    # Inbound events

    async def find(self, keys: Sequence[Key]) -> str | None:
        return self._owner(keys)

    def _owner(self, keys: Iterable[Key]) -> str | None:
        return next((self.rows.owners[key] for key in keys if key in self.rows.owners), None)

    def _note(self, pending_event: PendingEvent) -> None:
        if pending_event.seen is not None:
            self.rows.ids[pending_event.seen.scope, pending_event.seen.id] = Id(
                pending_event.seen.until, None
            )

    async def keep(self, pending_event: PendingEvent) -> str | None:
        if pending_event.seen is not None and self._came(pending_event.seen):
            return ""
        run = self._owner(pending_event.keys)
        if run is not None:
            return run
        self._note(pending_event)
        self.rows.pending_events[self.rows.next()] = KeptEvent(pending_event, self.clock())
        return None

    async def seen(self, ids: Sequence[EventId]) -> list[bool]:
        return [self._came(seen) for seen in ids]

    def _came(self, seen: EventId) -> bool:
        """An id whose time is over may come again."""
        id = self.rows.ids.get((seen.scope, seen.id))
        return id is not None and (id.until is None or id.until > self.clock())

    async def settle(self, id: int, *, deliver: bool, audit: AuditRow | None = None) -> bool:
        event = self.rows.pending_events.get(id)
        run = None if event is None else self._owner(sorted(event.pending.keys))
        if event is None or (deliver and run is None):
            return False
        del self.rows.pending_events[id]
        if deliver:
            self._post(Post(run, event.pending.body), self.clock() - FIRST_LOOK)
        self._record(audit)
        return True


def _wanted(task: Task, wish: ClaimRequest) -> bool:
    return (
        task.worker is None
        and not task.held
        and task.new.task_list in wish.task_lists
        and (wish.tasks is None or task.new.task in wish.tasks)
    )


def _ripe(
    rows: dict[Any, Any], now: datetime, limit: int, timeout: timedelta, due: Callable[[Any], datetime]
) -> list[tuple[Any, Any]]:
    """What is due and nobody's, the oldest first; it is this caller's for a while."""
    found = [(key, row) for key, row in rows.items() if due(row) <= now and row.taken_until <= now]
    found = sorted(found, key=lambda pair: due(pair[1]))[:limit]
    for _, row in found:
        row.taken_until = now + timeout
    return found
