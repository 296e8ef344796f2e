"""Committing changes: written at once in the hope that all fit; where one does not, they are sorted out.

Every guard is a statement whose changed rows are counted. If a count is off, all is taken back, the changes that
do not fit are found by looking, and the rest is written again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import timedelta

from penstock.store.rows.change import Change, Committed, Message, NewTask, Outcome, belief_of
from penstock.store.rules.conflicts import (
    Found,
    ended_of,
    judge,
    misjudged,
    seen_of,
    start_keys_of,
)
from penstock.store.sqlite.commit.lock_grants import insert_messages, settle_keys
from penstock.store.sqlite.session import (
    NEVER,
    Session,
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

Limits = tuple[timedelta | None, timedelta | None, timedelta | None, timedelta]
Kind = tuple[str, str, int, str | None, Limits, bool, str]
"""Task, list, priority, worker, limits, whether it is held, step: see `NewTask`."""


class BatchConflict(Exception):
    """Some change does not fit the rows: nothing of this attempt may stay."""


def commit(session: Session, changes: Sequence[Change]) -> Committed:
    """Apply each change that fits; see `Store.commit`."""
    outcomes: list[Outcome] = ["applied"] * len(changes)
    try:
        messages = _write(session, list(changes))
    except BatchConflict:
        session.undo()
        outcomes = sort_out(session, changes)
        fitting = [change for change, outcome in zip(changes, outcomes, strict=True) if outcome == "applied"]
        messages = _write(session, fitting)
    return Committed(outcomes, messages, moment(session.now), session.fence + 1)


def _write(session: Session, changes: list[Change]) -> list[Message]:
    """Write everything; BatchConflict where a guard does not hold. What is rare is looked for only where it may be."""
    rare = [change for change in changes if not change.plain]
    others = [change for change in changes if change.over or not change.plain]
    _guard(session, changes)
    if rare:
        _guard_rare(session, rare)
    pages = [(c.run, c.page_from, c.seq, c.page) for c in changes if c.page is not None]
    session.at_once("insert_page", pages)
    if rare:
        _states(session, rare)
        _void_tasks(session, rare)
    _new_tasks(session, changes)
    if not others:
        return []
    _timers(session, rare)
    session.many("drop_unbegun", [(run,) for change in others for run in change.unbegun])
    posts = [(post.run, post.body) for change in others for post in change.posts]
    messages = insert_messages(session, posts + settle_keys(session, others))
    if rare:
        insert_outbox_messages(session, rare)
        approvals.write(session, rare)
        note(session, [audit for change in rare for audit in change.audits])
    return messages


def _guard(session: Session, changes: list[Change]) -> None:
    """What can be lost in a race, of every change: a pause, the revision, the fence."""
    new = [change for change in changes if change.new is not None]
    if misjudged_of(session, [c for c in changes if c.new is not None or c.revived is not None]):
        raise BatchConflict
    going_on = [(c.revision, c.seq, c.head, c.run, c.base) for c in changes if c.goes_on]
    _all(session, "update_running", going_on)
    _all(session, "update_run", [_old_run(c) for c in changes if c.new is None and not c.goes_on])
    _all(session, "insert_run", [_new_run(c) for c in new])
    ended = [(c.run, e.firing, e.index, e.attempt, e.fence) for c in changes for e in c.ended]
    _all(session, "end_task", ended)


def _guard_rare(session: Session, changes: list[Change]) -> None:
    """And whatever is used up once."""
    starts = [
        (c.new.workflow, c.new.start_key[0], c.run, c.new.start_key[1])
        for c in changes
        if c.new is not None and c.new.start_key is not None
    ]
    _all(session, "insert_start_key", starts)
    _all(session, "use_timer", [(id,) for c in changes for id in c.rung])
    _all(session, "use_message", [(id,) for c in changes for id in c.read])
    ids = [
        (s.scope, s.id, NEVER, c.run, session.now)
        if s.until is None
        else (s.scope, s.id, micros(s.until), None, session.now)
        for c in changes
        for s in c.seen
    ]
    if ids and session.many("insert_seen", ids) != len(ids):
        raise BatchConflict


def _all(session: Session, query: str, rows: Sequence[tuple[object, ...]]) -> None:
    if rows and session.at_once(query, rows) != len(rows):
        raise BatchConflict


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


def _states(session: Session, changes: list[Change]) -> None:
    """What a run is made of besides its row and its history."""
    parts = [(c.run, p) for c in changes for p in c.parts]
    gone = [(run, p.kind, p.firing, p.index) for run, p in parts if p.body is None]
    session.many("drop_part", gone)
    session.many("put_part", [(r, p.kind, p.firing, p.index, p.body) for r, p in parts if p.body is not None])
    session.many("insert_payload", [(c.run, digest, body) for c in changes for digest, body in c.payloads])
    _marks(session, changes)


def _marks(session: Session, changes: list[Change]) -> None:
    """What runs are found by: their labels, their keys, where they rest. Most changes have none of it."""
    labelled = [(c.run,) for c in changes if c.new is not None and c.new.labels != "{}"]
    session.many("insert_labels", labelled)
    session.many("insert_run_key", [(name, value, c.run) for c in changes for name, value in c.keys])
    session.many("drop_rest", [(c.run,) for c in changes if c.rest is not None])
    rests = [(kind, name, session.now, c.run) for c in changes for kind, name in c.rest or ()]
    session.many("insert_rest", rests)


def _void_tasks(session: Session, changes: list[Change]) -> None:
    """Tasks that go, before those that come: an element may be tried again at once."""
    session.many("void_task", [(c.run, firing, index) for c in changes for firing, index in c.void])
    session.many("hold_tasks", [(NEVER, c.run) for c in changes if c.hold is True])
    session.many("free_tasks", [(session.now, NEVER, c.run) for c in changes if c.hold is False])


def _new_tasks(session: Session, changes: list[Change]) -> None:
    new = [(c.run, task) for c in changes for task in c.tasks]
    kinds: dict[Kind, list[tuple[object, ...]]] = {}
    known: dict[int, list[tuple[object, ...]]] = {}  # runs at the same step share their tasks
    for (run, task), turn in zip(new, session.numbers(len(new)), strict=True):
        if (rows := known.get(id(task))) is None:
            rows = known[id(task)] = kinds.setdefault(_kind(task), [])
        rows.append((run, task.firing, task.index, task.attempt, turn))
    for kind, rows in kinds.items():
        session.at_once("insert_task", rows, _shared(*kind, session.now, session.fence))
    over = [c.run for c in changes if c.over]
    for query in ("drop_tasks_of_runs", "drop_timers_of_runs"):
        session.rows_of_runs(query, over)


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


def sort_out(session: Session, changes: Sequence[Change]) -> list[Outcome]:
    """What becomes of each change."""
    return judge(changes, _look(session, changes), misjudged_of(session, changes))


def misjudged_of(session: Session, changes: Sequence[Change]) -> set[str]:
    """Runs that begin, or begin again, and were decided on pauses or a newest version that are not so any more."""
    beliefs = {change.run: said for change in changes if (said := belief_of(change)) is not None}
    if not beliefs:
        return set()
    rows = session.rows("read_beliefs", (json_list(list({said.workflow for said in beliefs.values()})),))
    return misjudged(beliefs, {row[0]: ((bool(row[1]), bool(row[2])), row[3]) for row in rows})


def _look(session: Session, changes: Sequence[Change]) -> Found:
    runs = {change.run: session.row("run_revision", (change.run,)) for change in changes}
    return Found(
        revisions={run: row[0] for run, row in runs.items() if row is not None},
        start_keys={key for key in start_keys_of(changes) if session.row("start_key_run", key) is not None},
        timers=_ids(session, "timer_there", (id for c in changes for id in c.rung)),
        messages=_ids(session, "message_there", (id for c in changes for id in c.read)),
        tasks={key for key in ended_of(changes) if session.row("task_there", key) is not None},
        seen={key for key in seen_of(changes) if session.row("seen_there", (*key, session.now)) is not None},
    )


def _ids(session: Session, query: str, ids: Iterable[int]) -> set[int]:
    return {id for id in ids if session.row(query, (id,)) is not None}
