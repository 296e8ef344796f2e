"""Looking up what `rules.conflicts` judges by."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from penstock.store.postgres.commit.column_arrays import columns
from penstock.store.postgres.database import Work
from penstock.store.rows.change import Change, belief_of
from penstock.store.rules.conflicts import Found, ended_of, misjudged, seen_of, start_keys_of


async def misjudged_of(work: Work, changes: Sequence[Change]) -> set[str]:
    """Runs that begin, or begin again, and were decided on pauses or a newest version that are not so any more."""
    beliefs = {change.run: said for change in changes if (said := belief_of(change)) is not None}
    if not beliefs:
        return set()
    rows = await work.rows("read_beliefs", names=sorted({said.workflow for said in beliefs.values()}))
    halted = next((row[1] for row in rows if row[0] is None), False)
    return misjudged(beliefs, {row[0]: ((row[1], halted), row[2]) for row in rows if row[0] is not None})


async def look_up(work: Work, changes: Sequence[Change]) -> Found:
    """Which rows exist of all that the changes name."""
    seen = sorted(set(seen_of(changes)))
    came = await work.rows("seen_there", **columns("scope id", seen))
    runs = sorted({change.run for change in changes})
    return Found(
        revisions={row[0]: row[1] for row in await work.rows("run_revision", runs=runs)},
        start_keys={
            (row[0], row[1])
            for row in await work.rows(
                "start_key_there", **columns("workflow key", set(start_keys_of(changes)))
            )
        },
        timers=await _ids(work, "timer_there", (id for c in changes for id in c.rung)),
        messages=await _ids(work, "message_there", (id for c in changes for id in c.read)),
        tasks={
            (row[0], row[1], row[2], row[3], row[4])
            for row in await work.rows(
                "task_there", **columns("run firing idx attempt fence", set(ended_of(changes)))
            )
        },
        seen={seen[row[0] - 1] for row in came},
    )


async def _ids(work: Work, query: str, ids: Iterable[int]) -> set[int]:
    wanted = list(ids)
    return {row[0] for row in await work.rows(query, ids=wanted)} if wanted else set()
