"""What a run waits for, so that it can be found: its events, and the steps at which it waits or failed."""

from __future__ import annotations

from penstock.flow.compile.compile import Flow
from penstock.flow.decisions.quiescence import parked_steps, starving, waiting_for
from penstock.flow.model.run import Snapshot

RESTS = frozenset({"waiting", "stalled", "failed"})

Rest = tuple[tuple[str, str], ...]
"""'event', 'step' or 'aside' (a step at which an event was set aside), and its name."""


def rest_of(flow: Flow, snapshot: Snapshot) -> Rest:
    """Where the run rests, and the steps at which events were set aside; nothing where it moves, or ended well."""
    aside = () if snapshot.ended else sorted({("aside", each.step) for each in snapshot.aside})
    return (*_waits_of(flow, snapshot), *aside)


def _waits_of(flow: Flow, snapshot: Snapshot) -> Rest:
    if snapshot.status == "waiting":
        events = waiting_for(flow, snapshot)
        takers = [slot.step for name in events for slot in flow.wiring.takers.get(name, ())]
        steps = {flow.wiring.steps[index].name for index in takers} | set(parked_steps(snapshot))
    elif snapshot.status == "stalled":
        hungry = starving(flow, snapshot)
        events = tuple({name for each in hungry for name in each.events()})
        steps = {each.step for each in hungry}
    elif snapshot.status == "failed":
        events = ()
        steps = {name for name, state in snapshot.steps.items() if state.status == "failed"}
    else:
        return ()
    return (*(("event", name) for name in sorted(events)), *(("step", name) for name in sorted(steps)))


def new_rest(flow: Flow, was: Snapshot, now: Snapshot) -> Rest | None:
    """Where a run rests now; None where that is as it was, so that it is known since when."""
    rest = rest_of(flow, now)
    return None if rest == rest_of(flow, was) else rest
