"""Commit optimistically; if one change conflicts, find it and retry without it.

A handful of statements, each over whole columns, however many changes there are. Every guard is a statement whose
rows are counted. If a count is off, all is rolled back, the changes that do not fit are found by looking, and the
rest is written again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import partial

from penstock.store.errors import OutcomeUnknown, StoreUnavailable
from penstock.store.postgres.commit.bad_texts import reject_bad_texts
from penstock.store.postgres.commit.column_arrays import columns, texts
from penstock.store.postgres.commit.lock_grants import insert_messages, settle_keys
from penstock.store.postgres.database import Database, Work
from penstock.store.postgres.tables import approvals
from penstock.store.postgres.tables.audit_log import note
from penstock.store.postgres.tables.outbox import insert_outbox_messages
from penstock.store.rows.change import Change, Committed, Message, NewTask, Outcome
from penstock.store.rules.conflicts import (
    Belief,
    Found,
    belief_of,
    ended_of,
    has_twins,
    judge,
    misjudged,
    start_keys_of,
)
from penstock.store.rules.deduplication import event_ids_of

_RUN = "run revision seq status ended_at waiting head page_from page"
_NEW = f"{_RUN} workflow version subject parent labels started_at header"
_STEP = f"{_RUN} base over ended place try fence"
_TASK = "of firing idx attempt kind"
_KIND = "task task_list priority worker beat start_within run_for end_within held step"


MAX_STEPS = 16
"""Largest batch that one statement with joins writes faster than several simple ones."""


class BatchConflict(Exception):
    """Some change does not fit the rows: nothing of this attempt may stay."""


class PostgresCommits:
    """See `store.protocol.Runs.commit`."""

    database: Database

    async def commit(self, changes: Sequence[Change]) -> Committed:
        return await commit(self.database, changes)


async def commit(database: Database, changes: Sequence[Change]) -> Committed:
    """Apply each change that fits; see `Store.commit`. Raises BadText before anything is sent."""
    reject_bad_texts(changes)
    look = has_twins(changes)
    if changes and not look and all(change.new is not None and not change.has_extras for change in changes):
        begun = await begin(database, changes)
        if begun is not None:
            return begun
    if 0 < len(changes) <= MAX_STEPS and not look and all(map(_is_step, changes)):
        return await advance(database, changes)
    return await _commit(database, changes, look)


async def _commit(database: Database, changes: Sequence[Change], look: bool) -> Committed:
    while True:
        try:
            return await database.transact(partial(commit_once, changes=changes, look=look))
        except BatchConflict:
            look = True  # also after a look: somebody was faster


async def begin(database: Database, changes: Sequence[Change]) -> Committed | None:
    """Make plain runs, in one way to the database and back; None: none could be made so, and nothing was done."""
    beliefs = {said.workflow: said for said in map(belief_of, changes) if said is not None}
    if any(belief_of(c) != beliefs[c.new.workflow] for c in changes if c.new is not None):
        return None  # made from different looks at one workflow
    [(made, now, fence)] = await database.rows("begin_runs", **begin_values(changes, beliefs.values()))
    if made is None:
        return None
    there = set(made)
    return Committed(["applied" if c.run in there else "stale" for c in changes], [], now, fence)


def begin_values(changes: Sequence[Change], beliefs: Iterable[Belief]) -> dict[str, object]:
    """The columns of `begin_runs`."""
    said = [(each.workflow, *each.paused, each.latest) for each in beliefs]
    tasks, kinds = _tasks(changes)
    return {
        **texts(_NEW, [_new_row(c) for c in sorted(changes, key=lambda c: c.run)]),
        **columns("names pauses halts newest", said),
        **texts(_TASK, tasks),
        **columns(_KIND, kinds),
    }


def _is_step(change: Change) -> bool:
    """Whether a task of a run has ended, and nothing rare follows."""
    return not change.has_extras and change.new is None and len(change.ended) == 1


async def advance(database: Database, changes: Sequence[Change]) -> Committed:
    """Let runs go on by a step, in one way to the database and back; what does not fit is looked at by itself."""
    [(done, now, fence)] = await database.rows("advance_runs", **advance_values(changes))
    there = set(done or ())
    if len(there) == len(changes):
        return Committed(["applied"] * len(changes), [], now, fence)
    left = [change for change in changes if change.run not in there]
    try:
        rest = await _commit(database, left, look=True)
    except StoreUnavailable as error:
        if not there:
            raise
        raise OutcomeUnknown(error.why) from error  # some of it is done
    others = iter(rest.outcomes)
    outcomes = ["applied" if change.run in there else next(others) for change in changes]
    return Committed(outcomes, rest.messages, rest.now, fence)  # `rest` knows none where it made no task


def advance_values(changes: Sequence[Change]) -> dict[str, object]:
    """The columns of `advance_runs`."""
    tasks, kinds = _tasks(changes)
    return {
        **texts(_STEP, [_step_row(c) for c in changes]),
        **texts(_TASK, tasks),
        **columns(_KIND, kinds),
    }


def _step_row(c: Change) -> tuple[object, ...]:
    [ended] = c.ended
    return (*_row(c), c.base, c.over, ended.firing, ended.index, ended.attempt, ended.fence)


async def commit_once(work: Work, changes: Sequence[Change], look: bool) -> Committed:
    """Write what fits, in this transaction. Raises BatchConflict where only a `look` tells, or somebody was faster."""
    outcomes: dict[str, Outcome] = {}
    misjudged = await misjudged_of(work, changes)
    if look:
        judged = judge(changes, await look_up(work, changes), misjudged)
    elif misjudged:
        raise BatchConflict
    else:
        judged = ["applied"] * len(changes)
    fitting = [c for c, outcome in zip(changes, judged, strict=True) if outcome == "applied"]
    now, stale = await _runs(work, fitting)
    if stale:
        fitting = [change for change in fitting if change.run not in stale]
        outcomes = dict.fromkeys(stale, "stale")
    # What most have not is looked for in these alone.
    rare = [change for change in fitting if change.has_extras]
    await _guard(work, fitting, rare)
    if rare:
        await _states(work, rare)
        await _marks(work, rare, now)
        await _void_tasks(work, rare, now)
    fence = await _new_tasks(work, fitting, now)
    messages = await _others(work, [c for c in fitting if c.over or c.has_extras], now)
    if rare:
        await insert_outbox_messages(work, rare, now)
        await approvals.write(work, rare, now)
        await note(work, [audit for change in rare for audit in change.audits])
    pairs = zip(changes, judged, strict=True)
    told = [outcomes.get(c.run, "applied") if said == "applied" else said for c, said in pairs]
    return Committed(told, messages, now, fence)


async def _runs(work: Work, changes: list[Change]) -> tuple[datetime, set[str]]:
    """Write the runs' rows and history; the time, and those at another revision: nothing was done to them."""
    # By id: two batches that share runs would wait for each other otherwise.
    old = sorted((c for c in changes if c.new is None), key=lambda c: c.run)
    new = sorted((c for c in changes if c.new is not None), key=lambda c: c.run)
    stale: set[str] = set()
    now: datetime | None = None
    if old:
        rows = [(*_row(c), c.base) for c in old]
        [(done, now)] = await work.rows("update_run", **texts(f"{_RUN} base", rows))
        stale = {c.run for c in old}.difference(done or ())
    if new:
        [(made, at)] = await work.rows("insert_run", **texts(_NEW, [_new_row(c) for c in new]))
        if made != len(new):
            raise BatchConflict
        now = now or at
    return now or await work.value("read_now"), stale


def _row(c: Change) -> tuple[object, ...]:
    return c.run, c.revision, c.seq, c.status, c.ended_at, c.waiting, c.head, c.page_from, c.page


def _new_row(c: Change) -> tuple[object, ...]:
    new = c.new
    assert new is not None
    made = (new.workflow, new.version, new.subject, new.parent, new.labels, new.started_at, new.header)
    return (*_row(c), *made)


async def _guard(work: Work, changes: list[Change], rare: list[Change]) -> None:
    """All else that can be lost in a race: the fence, and whatever is used up once."""
    starts = [(c.run, c.new.workflow, *c.new.start_key) for c in rare if c.new and c.new.start_key]
    await _all(work, "insert_start_key", "run workflow key digest", starts)
    ended = sorted([(c.run, e.firing, e.index, e.attempt, e.fence) for c in changes for e in c.ended])
    named = "run firing idx attempt fence"
    if ended and await work.value("end_task", **texts(named, ended)) != len(ended):
        raise BatchConflict
    await _all(work, "use_timer", "ids", sorted((id,) for c in rare for id in c.rung))
    await _all(work, "use_message", "ids", sorted((id,) for c in rare for id in c.read))
    seen = [(s.scope, s.id, s.until, c.run if s.until is None else None) for c in rare for s in c.seen]
    await _all(work, "insert_seen", "scope id until run", seen)


async def _all(work: Work, query: str, names: str, rows: Sequence[tuple[object, ...]]) -> None:
    if len(await work.many(query, names, rows)) != len(rows):
        raise BatchConflict


async def _states(work: Work, changes: list[Change]) -> None:
    """What a run is made of besides its row and its history."""
    parts = {(c.run, p.kind, p.firing, p.index): p.body for c in changes for p in c.parts}
    gone = [key for key, body in parts.items() if body is None]
    await work.many("drop_part", "run kind firing idx", gone)
    kept = [(*key, body) for key, body in parts.items() if body is not None]
    await work.many("put_part", "run kind firing idx body", kept)
    bodies = [(c.run, digest, body) for c in changes for digest, body in c.payloads]
    await work.many("insert_payload", "run digest body", bodies)


async def _marks(work: Work, changes: list[Change], now: datetime) -> None:
    """What runs are found by: their labels, their keys, where they rest. Most changes have none of it."""
    labelled = [(c.run,) for c in changes if c.new is not None and c.new.labels != "{}"]
    await work.many("insert_labels", "runs", labelled)
    keys = [(c.run, name, value) for c in changes for name, value in c.keys]
    await work.many("insert_run_key", "run name value", keys)
    await work.many("drop_rest", "runs", [(c.run,) for c in changes if c.rest is not None])
    rests = [(c.run, kind, name) for c in changes for kind, name in c.rest or ()]
    await work.many("insert_rest", "run kind name", rests, now=now)


async def _void_tasks(work: Work, changes: list[Change], now: datetime) -> None:
    """Tasks that go, before those that come: an element may be tried again at once."""
    void = sorted((c.run, firing, index) for c in changes for firing, index in c.void)
    await work.many("void_task", "run firing idx", void)
    await work.many("hold_tasks", "runs", [(c.run,) for c in changes if c.hold is True])
    await work.many("free_tasks", "runs", [(c.run,) for c in changes if c.hold is False], now=now)


async def _new_tasks(work: Work, changes: list[Change], now: datetime) -> int:
    """Put attempts on their task lists; the fence of those that are leased at once."""
    new, kinds = _tasks(changes)
    if not new:
        return 1
    rows = texts(_TASK, new)
    return int(await work.value("insert_task", now=now, **rows, **columns(_KIND, kinds)))


def _tasks(changes: Sequence[Change]) -> tuple[list[tuple[object, ...]], dict[tuple[object, ...], int]]:
    """The rows of attempts, each with the number of its kind, and the kinds."""
    kinds: dict[tuple[object, ...], int] = {}
    rows: list[tuple[object, ...]] = [
        (c.run, t.firing, t.index, t.attempt, kinds.setdefault(_kind(t), len(kinds) + 1))
        for c in changes
        if not c.over
        for t in c.tasks
    ]
    return rows, kinds


def _kind(t: NewTask) -> tuple[object, ...]:
    """What the attempts of a step have in common."""
    limits = (t.heartbeat, t.schedule_to_start, t.start_to_close, t.schedule_to_close)
    return (t.task, t.task_list, t.priority, t.worker, *limits, t.held, t.step)


async def _others(work: Work, changes: list[Change], now: datetime) -> list[Message]:
    """What is left of ended runs goes; timers, posts, locks and correlation keys: what one run does to others."""
    freed = await work.many("drop_rest_of_run", "runs", [(c.run,) for c in changes if c.over])
    timers = [(c.run, due, body) for c in changes if not c.over for due, body in c.timers]
    await work.many("insert_timer", "run due body", timers)
    await work.many("drop_unbegun", "runs", [(run,) for c in changes for run in c.unbegun])
    posts = [(post.run, post.body) for change in changes for post in change.posts]
    return await insert_messages(work, posts + await settle_keys(work, changes, freed), now)


async def misjudged_of(work: Work, changes: Sequence[Change]) -> set[str]:
    """Runs that begin, or begin again, and whose decision relied on an outdated pause or newest version."""
    names = {c.new.workflow for c in changes if c.new} | {c.revived[0] for c in changes if c.revived}
    if not names:
        return set()
    rows = await work.rows("read_beliefs", names=sorted(names))
    halted = next((row[1] for row in rows if row[0] is None), False)
    return misjudged(changes, {row[0]: ((row[1], halted), row[2]) for row in rows if row[0] is not None})


async def look_up(work: Work, changes: Sequence[Change]) -> Found:
    """Which rows exist of all that the changes name."""
    seen = sorted(set(event_ids_of(changes)))
    came = await work.many("seen_there", "scope id", seen)
    starts = await work.many("start_key_there", "workflow key", set(start_keys_of(changes)))
    tasks = await work.many("task_there", "run firing idx attempt fence", set(ended_of(changes)))
    runs = sorted({change.run for change in changes})
    return Found(
        revisions={row[0]: row[1] for row in await work.rows("run_revision", runs=runs)},
        start_keys={(row[0], row[1]) for row in starts},
        timers=await _ids(work, "timer_there", [(id,) for c in changes for id in c.rung]),
        messages=await _ids(work, "message_there", [(id,) for c in changes for id in c.read]),
        tasks={(row[0], row[1], row[2], row[3], row[4]) for row in tasks},
        seen={seen[row[0] - 1] for row in came},
    )


async def _ids(work: Work, query: str, ids: Sequence[tuple[int]]) -> set[int]:
    return {row[0] for row in await work.many(query, "ids", ids)}
