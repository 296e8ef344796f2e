"""How much a run may hold: beyond it events from outside are refused, so that it stays quick for everybody."""

from __future__ import annotations

from penstock.flow.compile.compile import Flow
from penstock.flow.model.run import Snapshot
from penstock.flow.model.run_input import Outside
from penstock.flow.values.merge_patch import merge_patch
from penstock.flow.values.payload import TooLarge, validate_data_size
from penstock.kernel.net import WiredSlot
from penstock.runtime.errors import PayloadTooLarge, SlotFull

SLOT = 20_000
"""Events that may wait in one slot."""


def validate_room(flow: Flow, snapshot: Snapshot, event: Outside) -> None:
    """The run can take the event. Raises PayloadTooLarge, SlotFull.

    By the state that is known: events that come at the same time may be a few too many.
    """
    if event.set:
        try:
            validate_data_size(merge_patch(snapshot.data, event.set))
        except TooLarge as error:
            raise PayloadTooLarge(f"with `set` of '{event.event}' the run's data {error}") from None
    if sum(snapshot.came.values()) < SLOT:
        return  # most runs: no slot is looked at
    for slot in flow.wiring.takers.get(event.event, ()):
        if _waiting(snapshot, slot) >= SLOT:
            raise SlotFull(snapshot.run.id, event.event, flow.by_index[slot.step].name, SLOT)


def _waiting(snapshot: Snapshot, slot: WiredSlot) -> int:
    tokens = snapshot.marking.tokens
    if not slot.keyed:
        return len(tokens.get(slot.index, ()))
    return sum(
        len(queue) for place, queue in tokens.items() if not isinstance(place, int) and place[0] == slot.index
    )
