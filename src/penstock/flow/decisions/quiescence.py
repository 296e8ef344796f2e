"""What a run that is not in motion is: ended, waiting for outside, or stalled, and for what (R8)."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from penstock.flow.compile.compile import Flow
from penstock.flow.decisions.end import end_early, finish_run
from penstock.flow.decisions.state import DecisionState
from penstock.flow.model.run import Failure, Snapshot, Status
from penstock.kernel.marking import Marking, Token
from penstock.kernel.net import FAIL, WiredSlot, WiredStep


class Starving(Struct, frozen=True):
    """A step that holds some of what it needs, and the events that it misses."""

    step: str
    missing: tuple[str, ...]  # a slot each: `b`, or `b | c` where either is enough

    def events(self) -> list[str]:
        """Every event that would fill some slot."""
        return [name for slot in self.missing for name in slot.split(" | ")]


def settle(decision: DecisionState) -> None:
    """Decide what the run is after all that could begin has begun."""
    if decision.ended or decision.started_at is None:
        return
    if decision.firings or decision.unfinished:
        decision.status = _moving(decision)
    elif decision.ending is not None:
        finish_run(decision, decision.ending)
    elif decision.paused:
        decision.status = "paused"
    elif decision.put_off:
        first = decision.put_off[min(decision.put_off)]
        end_early(decision, FAIL, first, Failure(**first["error"]), first["step"])
    elif decision.ok:
        finish_run(decision, "succeeded")
    else:
        _settle_open(decision)


def _moving(decision: DecisionState) -> Status:
    """What a run in motion is shown as: `waiting` where all that moves waits for people or callbacks."""
    if decision.ending is not None:
        return "running"
    if decision.paused:
        return "paused"
    if not decision.flow.parks or decision.unfinished or not decision.elements:
        return "running"
    # One that is queued waits for one that is parked.
    moving = any(element.state not in ("parked", "queued") for element in decision.elements.values())
    return "running" if moving else "waiting"


def _settle_open(decision: DecisionState) -> None:
    flow = decision.flow
    if flow.outside and any(_would_begin(flow, decision.marking.look(), _pending(flow, decision.came))):
        decision.status = "waiting"
    elif not flow.net.names_ok and (not decision.marking.tokens or _only_outside(decision.marking.look())):
        finish_run(decision, "succeeded")
    else:
        decision.status = "stalled"


def _only_outside(marking: Marking) -> bool:
    return all(token.load.outside for tokens in marking.tokens.values() for token in tokens)


def waiting_for(flow: Flow, snapshot: Snapshot) -> tuple[str, ...]:
    """The outside events that would let the run go on; none where it only waits for people or callbacks."""
    pending = _pending(flow, snapshot.came)
    wanted = {
        name
        for step in _would_begin(flow, snapshot.marking, pending)
        for slot in step.slots
        if not _filled(slot, snapshot.marking, None)
        for name in slot.events
        if name in pending
    }
    return tuple(name for name in flow.outside if name in wanted)


def parked_steps(snapshot: Snapshot) -> tuple[str, ...]:
    """The steps whose work is with somebody outside, in the order of their names."""
    return tuple(sorted({each.step for each in snapshot.elements.values() if each.state == "parked"}))


def starving(flow: Flow, snapshot: Snapshot) -> tuple[Starving, ...]:
    """The steps that hold something and still miss something: why a run is stalled."""
    found = []
    for step in flow.wiring.steps:
        held, missing = missing_slots(step, snapshot.marking)
        if held and missing:
            found.append(Starving(step.name, tuple(" | ".join(events) for events in missing)))
    return tuple(found)


def missing_slots(step: WiredStep, marking: Marking) -> tuple[bool, list[tuple[str, ...]]]:
    """Whether anything waits at a step, and the events of each slot that does not hold what it needs."""
    held = any(True for slot in step.slots for _ in _waiting(slot, marking))
    return held, [slot.events for slot in step.slots if not _filled(slot, marking, None)]


def _pending(flow: Flow, came: object) -> dict[str, bool]:
    """Outside events that may still come and are not optional: name → whether they may come again."""
    return {
        name: event.many
        for name, event in flow.outside.items()
        if not event.optional and (event.many or name not in came)  # type: ignore[operator]
    }


def _would_begin(flow: Flow, marking: Marking, pending: dict[str, bool]) -> Iterator[WiredStep]:
    """The steps that would become enabled if every pending outside event came."""
    seen: set[int] = set()
    for name in pending:
        for slot in flow.wiring.takers.get(name, ()):
            if slot.step not in seen:
                seen.add(slot.step)
                step = flow.wiring.steps[slot.step]
                if any(_could_fill(step, marking, pending, key) for key in _keys(step, marking)):
                    yield step


def _could_fill(step: WiredStep, marking: Marking, pending: dict[str, bool], key: str | None) -> bool:
    return all(_filled(slot, marking, key) or _fillable(slot, marking, pending, key) for slot in step.slots)


def _fillable(slot: WiredSlot, marking: Marking, pending: dict[str, bool], key: str | None) -> bool:
    place = slot.index if key is None else (slot.index, key)
    names = {token.name for token in marking.tokens.get(place, ())}
    for name in slot.events:
        swallowed = slot.need and marking.owed.get((place, name), 0) > 0
        if name in pending and (pending[name] or not swallowed):
            names.add(name)
    return len(names) >= (slot.need or 1)


def _keys(step: WiredStep, marking: Marking) -> Iterator[str | None]:
    """The keys that a step may fire with: at a step with `match` one that nobody has used yet, then those that wait."""
    if not step.keyed:
        yield None
        return
    yield "\x00"
    mine = {slot.index for slot in step.slots}
    yield from {place[1] for place in marking.tokens if not isinstance(place, int) and place[0] in mine}


def _filled(slot: WiredSlot, marking: Marking, key: str | None) -> bool:
    place = slot.index if key is None else (slot.index, key)
    queue = marking.tokens.get(place, ())
    return len({token.name for token in queue}) >= slot.need if slot.need > 1 else bool(queue)


def _waiting(slot: WiredSlot, marking: Marking) -> Iterator[Token]:
    if not slot.keyed:
        yield from marking.tokens.get(slot.index, ())
        return
    for place, queue in marking.tokens.items():
        if not isinstance(place, int) and place[0] == slot.index:
            yield from queue
