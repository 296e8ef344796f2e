"""Looking up what `rules.conflicts` judges by."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from penstock.store.rows.change import Change, Outcome, belief_of
from penstock.store.rules.conflicts import (
    Found,
    ended_of,
    judge,
    misjudged,
    seen_of,
    start_keys_of,
)
from penstock.store.sqlite.session import Session, json_list


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
