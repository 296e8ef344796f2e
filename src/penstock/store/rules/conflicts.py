"""Which changes of a batch conflict: judged if the batch did not fit as a whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from penstock.store.rows.change import Change, Outcome
from penstock.store.rules.deduplication import Pair, event_ids_of, is_duplicate

TaskKey = tuple[str, int, int, int, int]
"""Run, firing, index, attempt and fence."""

TAKEN = -1
"""The revision of a run that no further change of the batch may have."""


class Found(Struct):
    """Which rows exist of all that the changes name. An applied change takes its own away from those after it."""

    revisions: dict[str, int]
    start_keys: set[Pair]
    timers: set[int]
    messages: set[int]
    tasks: set[TaskKey]
    seen: set[Pair]


class Belief(Struct, frozen=True):
    """What a change that makes a run live was decided on: whether the workflow, or everything, is paused."""

    workflow: str
    paused: tuple[bool, bool]
    latest: int | None = None

    def holds(self, paused: tuple[bool, bool], latest: int) -> bool:
        """Whether it is still so."""
        return self.paused == paused and self.latest in (None, latest)


def belief_of(change: Change) -> Belief | None:
    """What must hold for a change to fit, in addition to the run itself."""
    if change.new is not None:
        return Belief(change.new.workflow, change.new.paused, change.new.latest)
    return None if change.revived is None else Belief(*change.revived)


def start_keys_of(changes: Sequence[Change]) -> list[Pair]:
    """The start keys that changes use, each with its workflow."""
    return [(c.new.workflow, c.new.start_key[0]) for c in changes if c.new and c.new.start_key]


def ended_of(changes: Sequence[Change]) -> list[TaskKey]:
    """The tasks that changes end."""
    return [(c.run, e.firing, e.index, e.attempt, e.fence) for c in changes for e in c.ended]


def has_twins(changes: Sequence[Change]) -> bool:
    """Whether two changes want the same run, start key or id: one statement cannot tell them apart."""
    rare = [change for change in changes if change.has_extras]
    return any(
        len(set(names)) < len(names)
        for names in ([change.run for change in changes], start_keys_of(rare), event_ids_of(rare))
    )


def misjudged(changes: Sequence[Change], found: Mapping[str, tuple[tuple[bool, bool], int]]) -> set[str]:
    """Runs that begin, or begin again, as if other things were paused, or another version the newest, than is so.

    `found` says of each workflow what is paused, and its newest version.
    """
    beliefs = {change.run: said for change in changes if (said := belief_of(change)) is not None}
    wrong = {
        said
        for said in set(beliefs.values())
        if said.workflow in found and not said.holds(*found[said.workflow])
    }
    return {run for run, said in beliefs.items() if said in wrong} if wrong else set()


def judge(changes: Sequence[Change], found: Found, misjudged: set[str]) -> list[Outcome]:
    """What becomes of each change; of two that want the same, the first has it. Those `misjudged` are stale."""
    found.revisions.update(dict.fromkeys(misjudged, TAKEN))
    outcomes: list[Outcome] = []
    for change in changes:
        outcome = _judge(found, change)
        if outcome == "applied":
            _take(found, change)
        outcomes.append(outcome)
    return outcomes


def _judge(found: Found, change: Change) -> Outcome:
    if not found.start_keys.isdisjoint(start_keys_of([change])):
        return "known"
    if found.revisions.get(change.run) != (None if change.new else change.base):
        return "stale"
    if _used_up(found.timers, change.rung) or _used_up(found.messages, change.read):
        return "stale"
    ended = ended_of([change])
    if len(set(ended)) < len(ended) or not found.tasks.issuperset(ended):
        return "lost"
    return "seen" if is_duplicate(change, found.seen) else "applied"


def _used_up(there: set[int], ids: tuple[int, ...]) -> bool:
    return len(set(ids)) < len(ids) or not there.issuperset(ids)


def _take(found: Found, change: Change) -> None:
    found.revisions[change.run] = TAKEN
    found.start_keys.update(start_keys_of([change]))
    found.timers.difference_update(change.rung)
    found.messages.difference_update(change.read)
    found.seen.update(event_ids_of([change]))
