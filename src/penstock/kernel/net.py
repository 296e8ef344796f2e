"""A net: steps with slots that take events and exits that fire them. A value, without any state."""

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
