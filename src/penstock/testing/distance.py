"""How far away a step is, at least: the number of firings that must come before it, if events were never used up."""

from __future__ import annotations

from math import inf

from penstock.flow.compile.compile import Flow
from penstock.flow.model.run import Snapshot
from penstock.kernel.net import CANCEL, FAIL, TIMEOUT, Exit, WiredSlot
from penstock.testing.exploration import held, may_come


class Distances:
    """Estimates for one flow. A step that is infinitely far away can never fire."""

    def __init__(self, flow: Flow) -> None:
        self._flow = flow
        self._fires = {
            step.name: tuple(name for way in step.exits for name in _fires(way) if name in flow.net.awaited)
            for step in flow.net.steps
        }

    def of(self, snapshot: Snapshot) -> dict[str, float]:
        """Step → how many firings and outside events before it begins; 0 where it is under way."""
        if snapshot.ended:
            return {}
        steps: dict[str, float] = {element.step: 0 for element in snapshot.elements.values()}
        events = self._sources(snapshot)
        waits = {slot: {token.name for token in tokens} for slot, tokens in held(snapshot).items()}
        for name in steps:
            self._fire(name, 0, events)
        changed = True
        while changed:
            changed = False
            for step in self._flow.wiring.steps:
                cost = sum(_cost(slot, waits, events) for slot in step.slots)
                if cost < steps.get(step.name, inf):
                    steps[step.name] = cost
                    self._fire(step.name, cost, events)
                    changed = True
        return steps

    def _fire(self, step: str, cost: float, events: dict[str, float]) -> None:
        for name in self._fires[step]:
            if cost + 1 < events.get(name, inf):
                events[name] = cost + 1

    def _sources(self, snapshot: Snapshot) -> dict[str, float]:
        """What may come from outside."""
        sources: dict[str, float] = {
            name: 1 for name in self._flow.outside if may_come(self._flow, snapshot, name)
        }
        if snapshot.ending is None:
            if snapshot.put_off is not None:
                sources[FAIL] = 1
            sources[CANCEL] = 1
            if self._flow.net.has_timeout:
                sources[TIMEOUT] = 1
        return sources


def _fires(way: Exit) -> tuple[str, ...]:
    """What an exit fires; a failure that is put off fires FAIL in the end."""
    return (*way.fires, FAIL) if way.put_off else way.fires


def _cost(slot: WiredSlot, waits: dict[int, set[str]], events: dict[str, float]) -> float:
    waiting = waits.get(slot.index, ())
    costs = sorted(0 if name in waiting else events.get(name, inf) for name in slot.events)
    return sum(costs[: slot.need or 1])
