"""A net compiled for running: integer indexes, and for each event the slots that take it."""

from __future__ import annotations

from msgspec import Struct

from penstock.kernel.net import Net


class WiredSlot(Struct, frozen=True):
    """A slot that knows its step and its own index among all slots of the net."""

    index: int
    step: int
    position: int
    events: tuple[str, ...]
    need: int
    keep: bool
    keyed: bool
    alone: bool  # the only slot of its step
    plain: bool  # the same, and it takes one event without a key


class WiredStep(Struct, frozen=True):
    """A step that knows its slots and the steps that it cancels, by index."""

    index: int
    name: str
    slots: tuple[WiredSlot, ...]
    width: int
    keyed: bool
    cancels: tuple[int, ...]
    fires: dict[str | None, tuple[str, ...]]  # port -> events that some slot takes
    plain: int | None  # the index of its slot, where it has only one that takes one event without a key


class Wiring:
    """The compiled net. What happens at a step costs the same however many other steps there are."""

    __slots__ = ("by_name", "keyed", "net", "slots", "steps", "takers")

    def __init__(self, net: Net) -> None:
        self.net = net
        index = {step.name: number for number, step in enumerate(net.steps)}
        steps: list[WiredStep] = []
        takers: dict[str, list[WiredSlot]] = {}
        count = 0
        for number, step in enumerate(net.steps):
            slots: list[WiredSlot] = []
            alone = len(step.slots) == 1
            for position, slot in enumerate(step.slots):
                simple = alone and not slot.need and not step.keyed
                shape = slot.events, slot.need, slot.keep
                slots.append(WiredSlot(count, number, position, *shape, step.keyed, alone, simple))
                count += 1
            for wired in slots:
                for event in wired.events:
                    takers.setdefault(event, []).append(wired)
            fires = {way.port: tuple(name for name in way.fires if name in net.awaited) for way in step.exits}
            cancels = tuple(index[name] for name in step.cancels)
            plain = slots[0].index if slots and slots[0].plain else None
            steps.append(
                WiredStep(number, step.name, tuple(slots), len(slots), step.keyed, cancels, fires, plain)
            )
        self.steps = tuple(steps)
        self.slots = tuple(slot for step in steps for slot in step.slots)
        self.by_name = {step.name: step for step in steps}
        self.keyed = any(step.keyed for step in steps)
        self.takers = {event: tuple(slots) for event, slots in takers.items()}
