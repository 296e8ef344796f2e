"""The rest of the reference model: workflows, lists and upkeep."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from penstock.flow.values.name_patterns import matches
from penstock.store.rows.access import AuditRow
from penstock.store.rows.change import WHOLE, Post
from penstock.store.rows.drafts import NewVersion
from penstock.store.rows.rows import (
    WORKER_TIMEOUT,
    Backlog,
    Filter,
    LockRow,
    OldTask,
    PendingEventRow,
    QueueRow,
    Retained,
    RunCount,
    RunGroups,
    RunRow,
    RunsByEnd,
    RunsByVersion,
    RunsByWorkflow,
    RunWaits,
    TaskRow,
    TimingRow,
    Version,
    WaitingTasks,
    Worker,
    WorkflowState,
)
from tests.store.builders import ENDED
from tests.store.model import ModelStore
from tests.store.model_approvals import ModelApprovals
from tests.store.model_rows import FIRST_LOOK, Run
from tests.store.model_tokens import ModelTokens


class Model(ModelStore, ModelTokens, ModelApprovals):
    """The whole model: all that a store can be asked."""

    def __init__(self, clock: Callable[[], datetime]) -> None:
        ModelStore.__init__(self, clock)
        ModelTokens.__init__(self)
        ModelApprovals.__init__(self)

    # Workflow versions

    async def publish(
        self, new: NewVersion, expect: Collection[str] | None = None, audit: AuditRow | None = None
    ) -> Version | None:
        if not self._expected(new.workflow, expect):
            return None
        version, changed = self._make_version(new)
        draft = self._drafts.get(new.workflow) if new.draft else None
        if draft is not None and draft.definition == new.definition:
            del self._drafts[new.workflow]
            changed = True
        self._record(audit if changed else None)
        return version

    def _make_version(self, new: NewVersion) -> tuple[Version, bool]:
        versions = self.rows.versions.setdefault(new.workflow, [])
        same = bool(versions) and (versions[-1].definition, versions[-1].offers) == (
            new.definition,
            new.offers,
        )
        if new.again or not same:
            self.rows.started.setdefault(new.workflow, new.start)
            self.rows.started_at.setdefault(new.workflow, self.clock())
            self.rows.paused.setdefault(new.workflow, False)
            made = Version(
                workflow=new.workflow,
                version=len(versions) + 1,
                definition=new.definition,
                offers=new.offers,
                note=new.note,
                at=self.clock(),
            )
            versions.append(made)
        if new.restart:
            self._start(new.workflow, True)
        return versions[-1], new.again or not same or new.restart

    async def version(self, workflow: str, version: int | None) -> Version | None:
        versions = self.rows.versions.get(workflow, [])
        wanted = len(versions) if version is None else version
        return versions[wanted - 1] if 1 <= wanted <= len(versions) else None

    async def workflows(self, workflow: str | None = None) -> list[WorkflowState]:
        return [
            WorkflowState(
                name=name,
                latest=len(versions),
                started=self.rows.started[name],
                paused=self.rows.paused[name],
                halted=self.rows.paused[None],
                started_at=self.rows.started_at.get(name),
                stopped_at=self.rows.stopped_at.get(name),
            )
            for name, versions in sorted(self.rows.versions.items())
            if workflow in (None, name)
        ]

    async def set_started(self, workflow: str, started: bool, audit: AuditRow | None = None) -> bool:
        if workflow not in self.rows.versions:
            return False
        self._start(workflow, started)
        self._record(audit)
        return True

    def _start(self, workflow: str, started: bool) -> None:
        if started and not self.rows.started[workflow]:
            self.rows.started_at[workflow] = self.clock()
        if self.rows.started[workflow] and not started:
            self.rows.stopped_at[workflow] = self.clock()
        self.rows.started[workflow] = started

    async def set_paused(
        self,
        workflow: str | None,
        paused: bool,
        body: bytes,
        undone: bytes | None = None,
        audit: AuditRow | None = None,
    ) -> bool:
        if workflow is not None and workflow not in self.rows.versions:
            return False
        if self.rows.paused[workflow] != paused:
            self.rows.paused[workflow] = paused
            self._record(audit)
            for name, run in self.rows.runs.items():
                if workflow not in (None, run.new.workflow):
                    continue
                self.rows.messages = {
                    number: letter
                    for number, letter in self.rows.messages.items()
                    if (letter.run, letter.body) != (name, undone)
                }
                if run.ended_at is None:
                    self._post(Post(name, body), self.clock() - FIRST_LOOK)
        return True

    # Views

    async def runs(self, filter: Filter) -> list[RunRow]:
        found = [_row(name, run) for name, run in self.rows.runs.items() if self._matches(name, filter)]
        if filter.sort == "ended":
            found = [row for row in found if row.ended_at is not None]
        return [
            row
            for row in sorted(found, key=lambda row: _place(row, filter), reverse=filter.sort != "oldest")
            if filter.after is None or _beyond(row, filter)
        ][: max(0, filter.limit)]

    async def count(self, filter: Filter) -> dict[str, int]:
        counted: dict[str, int] = {}
        for name, run in self.rows.runs.items():
            if self._matches(name, filter):
                counted[run.status] = counted.get(run.status, 0) + 1
        return counted

    def _matches(self, name: str, filter: Filter) -> bool:
        run = self.rows.runs[name]
        row = _row(name, run)
        steps = {task.new.step for task in self._tasks_of(name)}
        texts = [name, *([row.subject] if row.subject else []), *(value for _, value in run.keys)]
        said = [
            (filter.workflow, filter.workflow == row.workflow),
            (filter.version, filter.version == row.version),
            (filter.statuses or None, row.status in filter.statuses),
            (filter.subject, filter.subject == row.subject),
            (filter.parent, filter.parent == row.parent),
            (filter.label, filter.label is not None and filter.label in row.labels.items()),
            (filter.key, filter.key in run.keys),
            (filter.waiting_for, _waits(run, filter)),
            (filter.aside or None, any(kind == "aside" for kind, _ in run.rests)),
            (filter.step, ("step", filter.step) in run.rests or filter.step in steps),
            (filter.q, any(text.startswith(filter.q or "") for text in texts)),
            (filter.workflows, matches(filter.workflows, row.workflow)),
            (filter.since, filter.since is not None and row.started_at >= filter.since),
            (filter.until, filter.until is not None and row.started_at < filter.until),
        ]
        return all(holds for wanted, holds in said if wanted is not None)

    async def tasks(self, run: str) -> list[TaskRow]:
        return [
            TaskRow(
                lease=task.lease,
                task=task.new.task,
                task_list=task.new.task_list,
                worker=task.worker,
                held=task.held,
                queued_at=task.queued_at,
                started_at=task.started_at,
                progress=task.progress,
            )
            for task in sorted(self._tasks_of(run), key=lambda task: (task.new.firing, task.new.index))
        ]

    async def waits(self, run: str) -> RunWaits:
        found = sorted((one.due, n, one.body) for n, one in self.rows.timers.items() if one.run == run)
        timers = [(due, body) for due, _, body in found]
        locks = [
            LockRow(
                firing=row.firing,
                index=row.index,
                key=row.key,
                held=row.held,
                ahead=sum(not x.held and x.number < row.number for x in self._line(row.key)),
                holders=tuple(sorted({x.run for x in self._line(row.key) if x.held})),
            )
            for row in sorted(self.rows.locks, key=lambda row: (row.firing, row.index, row.key))
            if row.run == run
        ]
        return RunWaits(timers, locks)

    def _line(self, key: str) -> list[Any]:
        return [row for row in self.rows.locks if row.key == key]

    async def backlog(self, *, oldest: int = 0, stuck: int = 0) -> Backlog:
        return Backlog(
            self._old_tasks(oldest), self._waiting_tasks() if stuck else [], self._stuck_runs(stuck)
        )

    def _old_tasks(self, limit: int) -> list[OldTask]:
        found = sorted(
            self.rows.tasks.values(), key=lambda one: (one.queued_at, one.run, one.new.firing, one.new.index)
        )
        return [
            OldTask(
                run=task.run,
                workflow=self.rows.runs[task.run].new.workflow,
                version=self.rows.runs[task.run].new.version,
                step=task.new.step,
                task=task.new.task,
                task_list=task.new.task_list,
                worker=task.worker,
                queued_at=task.queued_at,
                started_at=task.started_at,
            )
            for task in found[:limit]
        ]

    def _waiting_tasks(self) -> list[WaitingTasks]:
        ready = [task for task in self.rows.tasks.values() if task.worker is None and not task.held]
        names = sorted({(task.new.task_list, task.new.task) for task in ready})
        grouped = [
            (a, b, [t.queued_at for t in ready if (t.new.task_list, t.new.task) == (a, b)]) for a, b in names
        ]
        return [
            WaitingTasks(task_list=a, task=b, count=len(queued), oldest=min(queued))
            for a, b, queued in grouped
        ]

    def _stuck_runs(self, limit: int) -> list[str]:
        moved = {task.run for task in self.rows.tasks.values() if not task.held}
        moved |= {one.run for one in self.rows.timers.values()} | {one.run for one in self.rows.locks}
        moved |= {one.run for one in self.rows.messages.values() if one.run is not None}
        moved |= {
            run.new.parent for run in self.rows.runs.values() if run.new.parent and run.ended_at is None
        }
        found = [
            name for name, run in self.rows.runs.items() if run.status == "running" and name not in moved
        ]
        return found[:limit]

    async def timings(
        self, runs: Sequence[str], limit: int | None = None, firings: Sequence[int] | None = None
    ) -> list[TimingRow]:
        found = [
            [TimingRow(name, *place, *times) for place, times in sorted(self.rows.runs[name].timings.items())]
            for name in sorted(runs)
            if name in self.rows.runs
        ]
        if firings is None:
            return [row for rows in found for row in rows[:limit]]
        return [row for rows in found for row in rows if row.firing in firings and row.index == WHOLE]

    async def counts(self, groups: RunGroups) -> list[RunCount]:
        found = Counter(
            (run.new.workflow, run.status, group)
            for run in self.rows.runs.values()
            if (group := _group(run, groups)) is not None
        )
        return [RunCount(*place[:2], number, place[2]) for place, number in found.items()]

    async def queues(self) -> list[QueueRow]:
        names = sorted({task.new.task_list for task in self.rows.tasks.values()})
        return [self._queue_row(name) for name in names]

    def _queue_row(self, name: str) -> QueueRow:
        tasks = [task for task in self.rows.tasks.values() if task.new.task_list == name]
        ready = [task for task in tasks if task.worker is None and not task.held]
        leased = sum(task.worker is not None for task in tasks)
        return QueueRow(
            task_list=name,
            ready=len(ready),
            held=len(tasks) - len(ready) - leased,
            leased=leased,
            oldest=min((task.queued_at for task in ready), default=None),
        )

    async def workers(self) -> list[Worker]:
        return [
            worker
            for _, worker in sorted(self.rows.workers.items())
            if worker.seen_at is not None and worker.seen_at > self.clock() - WORKER_TIMEOUT
        ]

    async def notes(self, prefix: str) -> dict[str, str]:
        return {name: text for name, text in sorted(self.rows.notes.items()) if name.startswith(prefix)}

    async def put_note(
        self, name: str, text: str | None, audit: AuditRow | None = None, *, replace: bool = True
    ) -> str | None:
        was = self.rows.notes.get(name)
        if was is not None and not replace:
            return was
        self.rows.notes.pop(name, None)
        if text is not None:
            self.rows.notes[name] = text
        self._record(audit if was is not None or text is not None else None)
        return was

    async def undelivered(self, after: int, limit: int) -> list[PendingEventRow]:
        found = [
            PendingEventRow(
                id=number,
                event=event.pending.event,
                keys=event.pending.keys,
                body=event.pending.body,
                reason=event.pending.reason,
                at=event.at,
                until=event.pending.until,
            )
            for number, event in self.rows.pending_events.items()
            if number > after and event.pending.until > self.clock()
        ]
        return found[:limit]

    async def refused(self, limit: int) -> list[tuple[str, str, str, str]]:
        found = [(*key, run, queue[0]) for key, queue in self.rows.keys.items() for run in queue[1:]]
        return found[:limit]

    async def logs(self, run: str, after: int, limit: int) -> list[tuple[int, bytes]]:
        lines = self.rows.log_lines
        return [(number, body) for number, owner, body in lines if owner == run and number > after][:limit]

    async def start_key(self, workflow: str, key: str) -> tuple[str, bytes] | None:
        return self.rows.start_keys.get((workflow, key))

    # Maintenance

    async def retain(
        self,
        days: dict[str, timedelta],
        limit: int,
        explain: bool,
        own: Mapping[str, timedelta] | None = None,
    ) -> Retained:
        before, now = self.tables(), self.clock()
        rows = self.rows
        old = [name for name, run in rows.runs.items() if _is_old(run, days, own or {}, now)][:limit]
        if explain:
            return Retained({"run": len(old)} if old else {})
        for name in old:
            del rows.runs[name]
        rows.ids = {
            place: id
            for place, id in rows.ids.items()
            if (id.run not in old if id.until is None else id.until > now)
        }
        self.asked = {id: row for id, row in self.asked.items() if row.run not in old}
        rows.start_keys = {place: pair for place, pair in rows.start_keys.items() if pair[0] not in old}
        rows.messages = {number: one for number, one in rows.messages.items() if one.run not in old}
        rows.log_lines = [line for line in rows.log_lines if line[1] not in old]
        rows.pending_events = {
            number: event for number, event in rows.pending_events.items() if event.pending.until > now
        }
        after = self.tables()
        return Retained({name: before[name] - after[name] for name in before if before[name] != after[name]})

    def tables(self) -> dict[str, int]:
        """Rows by table."""
        rows, runs = self.rows, self.rows.runs.values()
        return {
            "run": len(runs),
            "history": sum(len(run.pages) for run in runs),
            "part": sum(len(run.parts) for run in runs),
            "payload": sum(len(run.payloads) for run in runs),
            "task": len(rows.tasks),
            "timer": len(rows.timers),
            "approval": len(self.asked),
            "message": len(rows.messages),
            "lock": len(rows.locks),
            "correlation": sum(len(queue) for queue in rows.keys.values()),
            "kept": len(rows.pending_events),
            "kept_key": sum(len(event.pending.keys) for event in rows.pending_events.values()),
            "seen": len(rows.ids),
            "start_key": len(rows.start_keys),
            "log": len(rows.log_lines),
            "run_label": sum(len(json.loads(run.new.labels)) for run in runs),
            "run_key": sum(len(run.keys) for run in runs),
            "timing": sum(len(run.timings) for run in runs),
            "rest": sum(len(run.rests) for run in runs),
        }

    async def check(self) -> list[str]:
        return []

    async def backup(self, to: str) -> None:
        with Path(to).open("x") as file:
            file.write("model")

    async def register(self, worker: Worker) -> None:
        self.rows.workers[worker.id] = replace(worker, seen_at=self.clock())

    async def facts(self) -> dict[str, Any]:
        return {"kind": "model"}

    async def close(self) -> None:
        return None

    # Bell

    async def notify(self, what: str, runs: Sequence[str] = ()) -> None:
        return None

    async def listen(self, timeout: timedelta) -> str | None:
        return None


def _place(row: RunRow, filter: Filter) -> tuple[datetime, str]:
    at = row.ended_at if filter.sort == "ended" else row.started_at
    assert at is not None
    return at, row.id


def _beyond(row: RunRow, filter: Filter) -> bool:
    place, after = _place(row, filter), filter.after
    assert after is not None
    return place > after if filter.sort == "oldest" else place < after


def _group(run: Run, groups: RunGroups) -> int | None:
    """The group that a run is counted with, if it is counted at all."""
    match groups:
        case RunsByWorkflow():
            return 0 if run.new.workflow in groups.workflows else None
        case RunsByVersion():
            then = groups.since <= run.new.started_at < groups.until
            return run.new.version if then and run.new.workflow == groups.workflow else None
        case RunsByEnd():
            then = run.ended_at is not None and groups.since <= run.ended_at < groups.until
            return (run.ended_at - groups.since) // groups.width if run.ended_at and then else None


def _waits(run: Run, filter: Filter) -> bool:
    since = run.rests.get(("event", filter.waiting_for or ""))
    return since is not None and (filter.waiting_since is None or since <= filter.waiting_since)


def _row(name: str, run: Run) -> RunRow:
    return RunRow(
        id=name,
        workflow=run.new.workflow,
        version=run.new.version,
        subject=run.new.subject,
        status=run.status,
        parent=run.new.parent,
        labels=json.loads(run.new.labels),
        waiting_for=json.loads(run.waiting) if run.waiting else [],
        started_at=run.new.started_at,
        ended_at=run.ended_at,
    )


def _is_old(run: Run, days: dict[str, timedelta], own: Mapping[str, timedelta], now: datetime) -> bool:
    if run.status not in ENDED or run.ended_at is None:
        return False
    return run.ended_at + own.get(run.new.workflow, days[run.status]) <= now
