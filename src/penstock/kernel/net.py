"""A net: steps with slots that take events and exits that fire them; and the same, compiled for running."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from msgspec import Struct

START, OK, FAIL, CANCEL, TIMEOUT = "START", "OK", "FAIL", "CANCEL", "TIMEOUT"
RESERVED = frozenset({START, OK, FAIL, CANCEL, TIMEOUT})
ENDINGS = (FAIL, CANCEL, TIMEOUT)


class Slot(Struct, frozen=True):
    """One entry of `after`. `need` 0: any one of `events`; n: the first n different ones of them."""

    events: tuple[str, ...]
    need: int = 0
    keep: bool = False  # `rest: keep`: what a round did not take stays for the next

    @property
    def wanted(self) -> int:
        """How many events one firing takes from this slot."""
        return self.need or 1


class Exit(Struct, frozen=True):
    """One way a firing may end: the port and every event name that is then fired, each once.

    Tasks without ports (`terminate`, `fail`) have one exit whose port is None. An unhandled failure lists
    FAIL among `fires`, or is `put_off` where the workflow says `on_failure: continue`.
    """

    port: str | None
    fires: tuple[str, ...] = ()
    failure: bool = False
    put_off: bool = False


class Step(Struct, frozen=True):
    """A transition: it takes from every slot at once and ends on one of its exits."""

    name: str
    slots: tuple[Slot, ...]
    exits: tuple[Exit, ...]
    cancels: tuple[str, ...] = ()
    keyed: bool = False  # `match`: takes only events with one and the same key


class Outside(Struct, frozen=True):
    """An event that may come from outside: once, or again and again where it is `many`."""

    name: str
    many: bool = False
    optional: bool = False


class Net(Struct, frozen=True, dict=True):
    """Steps joined by the names of events. START is fired once, at the beginning."""

    steps: tuple[Step, ...]
    outside: tuple[Outside, ...] = ()
    endless: bool = False
    has_timeout: bool = False

    @cached_property
    def by_name(self) -> dict[str, Step]:
        return {step.name: step for step in self.steps}

    @cached_property
    def fired(self) -> frozenset[str]:
        """Every event name that some step can fire."""
        return frozenset(name for step in self.steps for way in step.exits for name in way.fires)

    @cached_property
    def awaited(self) -> frozenset[str]:
        """Every event name that some slot takes."""
        return frozenset(name for step in self.steps for slot in step.slots for name in slot.events)

    @cached_property
    def names_ok(self) -> bool:
        """Whether any step fires OK: without it a run succeeds when nothing is left."""
        return OK in self.fired

    def outside_names(self) -> Iterable[str]:
        return (event.name for event in self.outside)


# -- compiled for running: integer indexes, and for each event the slots that take it -------------------------


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
