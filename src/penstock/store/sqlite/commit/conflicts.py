"""Sorting out which changes of a batch fit the rows, by looking: after a batch did not fit as a whole."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.store.rows.change import Change, Outcome, belief_of
from penstock.store.sqlite.session import Session, json_list, unique

Claim = tuple[str, str, str]
"""Something that only one change may have: what it is, and which."""


def sort_out(session: Session, changes: Sequence[Change]) -> list[Outcome]:
    """What becomes of each change; of two that want the same, the first has it."""
    taken: set[Claim] = {("run", run, "") for run in misjudged_of(session, changes)}
    outcomes: list[Outcome] = []
    for change in changes:
        outcome = _judge(session, change, taken)
        if outcome == "applied":
            taken.update(_claims(change))
        outcomes.append(outcome)
    return outcomes


def misjudged_of(session: Session, changes: Sequence[Change]) -> set[str]:
    """Runs that begin, or begin again, and were decided on pauses or a newest version that are not so any more."""
    beliefs = {said: None for change in changes if (said := belief_of(change)) is not None}
    if not beliefs:
        return set()
    rows = session.rows("read_beliefs", (json_list(unique(said.workflow for said in beliefs)),))
    found = {row[0]: ((bool(row[1]), bool(row[2])), row[3]) for row in rows}
    wrong = {said for said in beliefs if said.workflow in found and not said.holds(*found[said.workflow])}
    return {change.run for change in changes if belief_of(change) in wrong} if wrong else set()


def _claims(change: Change) -> set[Claim]:
    claims: set[Claim] = {("run", change.run, "")}
    if change.new is not None and change.new.start_key is not None:
        claims.add(("key", change.new.workflow, change.new.start_key[0]))
    claims.update(("timer", str(id), "") for id in change.rung)
    claims.update(("message", str(id), "") for id in change.read)
    claims.update(("seen " + seen.scope, seen.id, "") for seen in change.seen)
    return claims


def _judge(session: Session, change: Change, taken: set[Claim]) -> Outcome:
    if _known(session, change, taken):
        return "known"
    if _stale(session, change, taken):
        return "stale"
    for ended in change.ended:
        key = (change.run, ended.firing, ended.index, ended.attempt, ended.fence)
        if session.row("task_there", key) is None:
            return "lost"
    if len({(e.firing, e.index) for e in change.ended}) < len(change.ended):
        return "lost"
    return "seen" if _seen(session, change, taken) else "applied"


def _known(session: Session, change: Change, taken: set[Claim]) -> bool:
    if change.new is None or change.new.start_key is None:
        return False
    workflow, key = change.new.workflow, change.new.start_key[0]
    return ("key", workflow, key) in taken or session.row("start_key_run", (workflow, key)) is not None


def _stale(session: Session, change: Change, taken: set[Claim]) -> bool:
    found = session.row("run_revision", (change.run,))
    wanted = None if change.new is not None else (change.base,)
    if found != wanted or ("run", change.run, "") in taken:
        return True
    used = [("timer", id) for id in change.rung] + [("message", id) for id in change.read]
    return len(set(used)) < len(used) or any(
        (kind, str(id), "") in taken or session.row(f"{kind}_there", (id,)) is None for kind, id in used
    )


def _seen(session: Session, change: Change, taken: set[Claim]) -> bool:
    ids = [(seen.scope, seen.id) for seen in change.seen]
    return len(set(ids)) < len(ids) or any(
        ("seen " + scope, id, "") in taken or session.row("seen_there", (scope, id, session.now)) is not None
        for scope, id in ids
    )
