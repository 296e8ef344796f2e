"""Commit optimistically; if one change conflicts, find it and retry without it.

Every guard is a statement whose changed rows are counted. If a count is off, all is taken back, the changes that
do not fit are found by looking, and the rest is written again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import timedelta

from penstock.store.rows.change import Change, Committed, Message, NewTask, Outcome
from penstock.store.rules.conflicts import (
    Found,
    ended_of,
    judge,
    misjudged,
    start_keys_of,
)
from penstock.store.rules.deduplication import event_ids_of
from penstock.store.sqlite.commit.lock_grants import insert_messages, settle_keys
from penstock.store.sqlite.session import (
    NEVER,
    Row,
    Session,
    Statement,
    Ticks,
    after,
    json_list,
    length,
    length_or_none,
    micros,
    moment,
)
from penstock.store.sqlite.tables import approvals
from penstock.store.sqlite.tables.audit_log import note
from penstock.store.sqlite.tables.outbox import insert_outbox_messages
from penstock.store.sqlite.writer import Writer

Limits = tuple[timedelta | None, timedelta | None, timedelta | None, timedelta]
Kind = tuple[str, str, int, str | None, Limits, bool, str]
"""Task, list, priority, worker, limits, whether it is held, step: see `NewTask`."""


MAX_BRIEF = 4
"""Changes of a batch on a system that has little to do: who waits for them is to know soon."""

MIN_THREAD_CHANGES = 64
"""Changes of a batch that a thread writes, while the loop decides about the next: fewer are written sooner by the loop
than they are handed over."""

MAX_LOOP_ROWS = 2_000
"""Rows of a smaller batch that a thread writes nevertheless: the loop must not stand for so long."""


class BatchConflict(Exception):
    """Some change does not fit the rows: nothing of this attempt may stay."""


class SqliteCommits:
    """See `store.protocol.Runs.commit`."""

    _writer: Writer
    _ticks: Ticks

    async def commit(self, changes: Sequence[Change]) -> Committed:
        if not changes:
            return Committed([], [], moment(self._ticks.now()))
        count = len(changes)
        if (
            count >= MIN_THREAD_CHANGES
            or sum([len(change.tasks) + len(change.parts) for change in changes]) > MAX_LOOP_ROWS
        ):
            return await self._writer.write(lambda session: commit(session, changes))
        return await self._writer.write_here(lambda session: commit(session, changes), count <= MAX_BRIEF)


def commit(session: Session, changes: Sequence[Change]) -> Committed:
    """Apply each change that fits; see `Store.commit`."""
    outcomes: list[Outcome] = ["applied"] * len(changes)
    try:
        messages = _write(session, list(changes))
    except BatchConflict:
        session.undo()
        outcomes = judge(changes, _look(session, changes), misjudged_of(session, changes))
        fitting = [change for change, outcome in zip(changes, outcomes, strict=True) if outcome == "applied"]
        messages = _write(session, fitting)
    return Committed(outcomes, messages, moment(session.now), session.fence + 1)


def _write(session: Session, changes: list[Change]) -> list[Message]:
    """Write everything; BatchConflict where a guard does not hold. What is rare is looked for only where it may be."""
    rare = [change for change in changes if change.has_extras]
    others = [change for change in changes if change.over or change.has_extras]
    believing = [change for change in changes if change.new is not None or change.revived is not None]
    if believing and misjudged_of(session, believing):
        raise BatchConflict
    numbers = session.numbers(sum([len(change.tasks) for change in changes]))
    statements = _guards(changes)
    if rare:
        statements += _rare_guards(rare, session.now)
    pages = [(c.run, c.page_from, c.seq, c.page) for c in changes if c.page is not None]
    statements.append(Statement("insert_page", pages))
    if rare:
        statements += _states(rare, session.now) + _void_tasks(rare, session.now)
    statements += _new_tasks(changes, session, numbers)
    if not session.write(statements):
        raise BatchConflict
    return _write_others(session, others, rare) if others else []


def _write_others(session: Session, others: list[Change], rare: list[Change]) -> list[Message]:
    """What goes with runs that are over, and what is rare: what others are told, and what is recorded."""
    _timers(session, rare)
    session.many("drop_unbegun", [(run,) for change in others for run in change.unbegun])
    posts = [(post.run, post.body) for change in others for post in change.posts]
    messages = insert_messages(session, posts + settle_keys(session, others))
    if any(change.outbox_messages for change in rare):
        insert_outbox_messages(session, rare)
    if any(change.asked or change.decided for change in rare):
        approvals.write(session, rare)
    if audits := [audit for change in rare for audit in change.audits]:
        note(session, audits)
    return messages


def _guards(changes: list[Change]) -> list[Statement]:
    """What can be lost in a race, of every change: the revision, the fence."""
    ended = [(c.run, e.firing, e.index, e.attempt, e.fence) for c in changes for e in c.ended]
    return [
        _guard("update_running", [(c.revision, c.seq, c.head, c.run, c.base) for c in changes if c.goes_on]),
        _guard("update_run", [_old_run(c) for c in changes if c.new is None and not c.goes_on]),
        _guard("insert_run", [_new_run(c) for c in changes if c.new is not None]),
        _guard("end_task", ended),
    ]


def _rare_guards(changes: list[Change], now: int) -> list[Statement]:
    """And whatever is used up once."""
    starts = [
        (c.new.workflow, c.new.start_key[0], c.run, c.new.start_key[1])
        for c in changes
        if c.new is not None and c.new.start_key is not None
    ]
    ids = [
        (s.scope, s.id, NEVER, c.run, now) if s.until is None else (s.scope, s.id, micros(s.until), None, now)
        for c in changes
        for s in c.seen
    ]
    return [
        _guard("insert_start_key", starts),
        _guard("use_timer", [(id,) for c in changes for id in c.rung]),
        _guard("use_message", [(id,) for c in changes for id in c.read]),
        Statement("insert_seen", ids, guard=True, wide=False),
    ]


def _guard(query: str, rows: Sequence[Row]) -> Statement:
    return Statement(query, rows, guard=True)


def _old_run(c: Change) -> tuple[object, ...]:
    ended = None if c.ended_at is None else micros(c.ended_at)
    return c.revision, c.seq, c.status, ended, c.waiting, c.head, c.run, c.base


def _new_run(change: Change) -> tuple[object, ...]:
    new, ended = change.new, change.ended_at
    assert new is not None
    return (
        change.run,
        new.workflow,
        new.version,
        new.subject,
        new.parent,
        new.labels,
        micros(new.started_at),
        new.header,
        change.revision,
        change.seq,
        change.status,
        None if ended is None else micros(ended),
        change.waiting,
        change.head,
    )


def _states(changes: list[Change], now: int) -> list[Statement]:
    """What a run is made of besides its row and its history, and what it is found by. Most changes have none of it."""
    parts = [(c.run, p) for c in changes for p in c.parts]
    gone = [(run, p.kind, p.firing, p.index) for run, p in parts if p.body is None]
    put = [(run, p.kind, p.firing, p.index, p.body) for run, p in parts if p.body is not None]
    labelled = [(c.run,) for c in changes if c.new is not None and c.new.labels != "{}"]
    return [
        _rows("drop_part", gone),
        _rows("put_part", put),
        _rows("insert_payload", [(c.run, digest, body) for c in changes for digest, body in c.payloads]),
        _rows("insert_labels", labelled),
        _rows("insert_run_key", [(name, value, c.run) for c in changes for name, value in c.keys]),
        _rows("drop_rest", [(c.run,) for c in changes if c.rest is not None]),
        _rows("insert_rest", [(kind, name, now, c.run) for c in changes for kind, name in c.rest or ()]),
    ]


def _void_tasks(changes: list[Change], now: int) -> list[Statement]:
    """Tasks that go, before those that come: an element may be tried again at once."""
    return [
        _rows("void_task", [(c.run, firing, index) for c in changes for firing, index in c.void]),
        _rows("hold_tasks", [(NEVER, c.run) for c in changes if c.hold is True]),
        _rows("free_tasks", [(now, NEVER, c.run) for c in changes if c.hold is False]),
    ]


def _rows(query: str, rows: Sequence[Row]) -> Statement:
    return Statement(query, rows, wide=False)


def _new_tasks(changes: list[Change], session: Session, numbers: Iterable[int]) -> list[Statement]:
    new = [(c.run, task) for c in changes for task in c.tasks]
    kinds: dict[Kind, list[Row]] = {}
    known: dict[int, list[Row]] = {}  # runs at the same step share their tasks
    for (run, task), turn in zip(new, numbers, strict=True):
        if (rows := known.get(id(task))) is None:
            rows = known[id(task)] = kinds.setdefault(_kind(task), [])
        rows.append((run, task.firing, task.index, task.attempt, turn))
    found = [
        Statement("insert_task", rows, _shared(*kind, session.now, session.fence))
        for kind, rows in kinds.items()
    ]
    if over := [c.run for c in changes if c.over]:
        runs = [(json_list(over),)]
        found += [_rows("drop_tasks_of_runs", runs), _rows("drop_timers_of_runs", runs)]
    return found


def _timers(session: Session, changes: list[Change]) -> None:
    timers = [(c.run, due, body) for c in changes if not c.over for due, body in c.timers]
    ids = session.numbers(len(timers))
    rows = [
        (id, run, micros(due), body, micros(due)) for id, (run, due, body) in zip(ids, timers, strict=True)
    ]
    session.many("insert_timer", rows)


def _kind(task: NewTask) -> Kind:
    """What the attempts of a step have in common."""
    limits = task.schedule_to_start, task.start_to_close, task.schedule_to_close, task.heartbeat
    return task.task, task.task_list, task.priority, task.worker, limits, task.held, task.step


def _shared(
    task: str,
    task_list: str,
    priority: int,
    worker: str | None,
    limits: Limits,
    held: bool,
    step: str,
    now: int,
    fence: int,
) -> tuple[object, ...]:
    """The columns of a kind; with a worker it is leased at once."""
    leased, (to_start, to_close, to_end, heartbeat) = worker is not None, limits
    start_by, end_by, beat = after(now, to_start), after(now, to_end), length(heartbeat)
    stop_by = after(now, to_close) if leased else NEVER
    lease_until = now + beat if leased else NEVER
    expires = min(lease_until, stop_by, end_by) if leased else min(start_by, end_by)
    within = length_or_none(to_start), length_or_none(to_close), length_or_none(to_end)
    return (
        fence + 1 if leased else fence,
        task,
        task_list,
        priority,
        now,
        now if leased else None,
        worker,
        beat,
        *within,
        start_by,
        stop_by,
        end_by,
        lease_until,
        NEVER if held else expires,
        held,
        step,
    )


def misjudged_of(session: Session, changes: Sequence[Change]) -> set[str]:
    """Runs that begin, or begin again, and whose decision relied on an outdated pause or newest version."""
    names = {c.new.workflow for c in changes if c.new} | {c.revived[0] for c in changes if c.revived}
    if not names:
        return set()
    rows = session.rows("read_beliefs", (json_list(list(names)),))
    return misjudged(changes, {row[0]: ((bool(row[1]), bool(row[2])), row[3]) for row in rows})


def _look(session: Session, changes: Sequence[Change]) -> Found:
    runs = {change.run: session.row("run_revision", (change.run,)) for change in changes}
    return Found(
        revisions={run: row[0] for run, row in runs.items() if row is not None},
        start_keys={key for key in start_keys_of(changes) if session.row("start_key_run", key) is not None},
        timers=_ids(session, "timer_there", (id for c in changes for id in c.rung)),
        messages=_ids(session, "message_there", (id for c in changes for id in c.read)),
        tasks={key for key in ended_of(changes) if session.row("task_there", key) is not None},
        seen={
            key for key in event_ids_of(changes) if session.row("seen_there", (*key, session.now)) is not None
        },
    )


def _ids(session: Session, query: str, ids: Iterable[int]) -> set[int]:
    return {id for id in ids if session.row(query, (id,)) is not None}
