"""Sorting out which changes of a batch fit the rows, by looking: after a batch did not fit as a whole."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from penstock.store.postgres.commit.column_arrays import columns
from penstock.store.postgres.database import Work
from penstock.store.rows.change import Belief, Change, Outcome, belief_of


class Found(Struct):
    """What there is of all that the changes name; what an earlier change of the batch takes goes, or comes, here."""

    revisions: dict[str, int]
    start_keys: set[tuple[str, str]]
    timers: set[int]
    messages: set[int]
    tasks: set[tuple[str, int, int, int, int]]
    seen: set[tuple[str, str]]


def has_twins(changes: Sequence[Change]) -> bool:
    """Whether two changes want the same run, start key or id: one statement cannot tell them apart."""
    runs = [change.run for change in changes]
    rare = [change for change in changes if not change.plain]
    keys = [(c.new.workflow, c.new.start_key[0]) for c in rare if c.new and c.new.start_key]
    seen = [(one.scope, one.id) for change in rare for one in change.seen]
    return any(len(set(names)) < len(names) for names in (runs, keys, seen))


async def misjudged_of(work: Work, changes: Sequence[Change]) -> set[str]:
    """Runs that begin, or begin again, and were decided on pauses or a newest version that are not so any more."""
    live = [(change.run, said) for change in changes if (said := belief_of(change)) is not None]
    if not live:
        return set()
    rows = await work.rows("read_beliefs", names=sorted({said.workflow for _, said in live}))
    found: dict[str | None, tuple[bool, int]] = {row[0]: (row[1], row[2]) for row in rows}
    halted = found.get(None, (False, 0))[0]
    return {run for run, said in live if _is_wrong(said, found.get(said.workflow), halted)}


def _is_wrong(said: Belief, found: tuple[bool, int] | None, halted: bool) -> bool:
    return found is not None and not said.holds((found[0], halted), found[1])


async def sort_out(work: Work, changes: Sequence[Change], misjudged: set[str]) -> list[Outcome]:
    """What becomes of each change; of two that want the same, the first has it. Those `misjudged` are stale."""
    found = await _look(work, changes)
    found.revisions.update(dict.fromkeys(misjudged, -1))
    outcomes: list[Outcome] = []
    for change in changes:
        outcome = _judge(found, change)
        if outcome == "applied":
            _take(found, change)
        outcomes.append(outcome)
    return outcomes


async def _look(work: Work, changes: Sequence[Change]) -> Found:
    keys = {(c.new.workflow, c.new.start_key[0]) for c in changes if c.new and c.new.start_key}
    ended = {(c.run, e.firing, e.index, e.attempt, e.fence) for c in changes for e in c.ended}
    seen = sorted({(one.scope, one.id) for change in changes for one in change.seen})
    came = await work.rows("seen_there", **columns("scope id", seen))
    runs = sorted({change.run for change in changes})
    return Found(
        revisions={row[0]: row[1] for row in await work.rows("run_revision", runs=runs)},
        start_keys={
            (r[0], r[1]) for r in await work.rows("start_key_there", **columns("workflow key", keys))
        },
        timers=await _ids(work, "timer_there", (id for c in changes for id in c.rung)),
        messages=await _ids(work, "message_there", (id for c in changes for id in c.read)),
        tasks={
            (r[0], r[1], r[2], r[3], r[4])
            for r in await work.rows("task_there", **columns("run firing idx attempt fence", ended))
        },
        seen={seen[row[0] - 1] for row in came},
    )


async def _ids(work: Work, query: str, ids: Iterable[int]) -> set[int]:
    wanted = list(ids)
    return {row[0] for row in await work.rows(query, ids=wanted)} if wanted else set()


def _judge(found: Found, change: Change) -> Outcome:
    new, seen = change.new, [(one.scope, one.id) for one in change.seen]
    if new and new.start_key and (new.workflow, new.start_key[0]) in found.start_keys:
        return "known"
    if found.revisions.get(change.run) != (None if new else change.base):
        return "stale"
    if _used_up(found.timers, change.rung) or _used_up(found.messages, change.read):
        return "stale"
    ended = [(change.run, e.firing, e.index, e.attempt, e.fence) for e in change.ended]
    if len(set(ended)) < len(ended) or not found.tasks.issuperset(ended):
        return "lost"
    return "seen" if len(set(seen)) < len(seen) or not found.seen.isdisjoint(seen) else "applied"


def _used_up(there: set[int], ids: tuple[int, ...]) -> bool:
    return len(set(ids)) < len(ids) or not there.issuperset(ids)


def _take(found: Found, change: Change) -> None:
    found.revisions[change.run] = change.revision if change.revision != change.base else -1
    if change.new and change.new.start_key:
        found.start_keys.add((change.new.workflow, change.new.start_key[0]))
    found.timers.difference_update(change.rung)
    found.messages.difference_update(change.read)
    found.seen.update((one.scope, one.id) for one in change.seen)
