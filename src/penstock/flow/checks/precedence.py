"""What has happened when a step begins: which steps may have ended by then, and what must have come true."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from operator import and_, or_

from penstock.kernel.net import OK, RESERVED, Exit, Net, Slot
from penstock.kernel.proof.structure import finishing_order, reach, reverse, step_graph, takers

Facts = int
"""A set of facts: a number with a bit for each."""


class Precedence:
    """Of the steps of one net, by index; one more index is the end of the run."""

    def __init__(self, net: Net) -> None:
        self.net, self.end = net, len(net.steps)
        self.index = {step.name: number for number, step in enumerate(net.steps)}
        self.producers: dict[str, list[tuple[int, Exit]]] = {}
        for number, step in enumerate(net.steps):
            for way in step.exits:
                for name in way.fires:
                    self.producers.setdefault(name, []).append((number, way))
        self._outside = {*RESERVED, *net.outside_names()}
        self._taking = takers(net)
        graph = step_graph(net, lambda step, way: True)
        self._back = reverse(graph)
        self._order = list(
            reversed(finishing_order(graph))
        )  # facts reach the end in one pass, unless there are loops
        self._before: dict[int, set[int]] = {}
        self._ended = self.facts(lambda number, way: 1 << number)
        self._spoken = self.facts(lambda number, way: 1 << number if way.port != "failed" else 0)

    def leads(self, other: int, step: int) -> bool:
        """Whether some event of one step leads to another, or back to itself."""
        if step not in self._before:
            self._before[step] = reach(self._back, self._back[step])
        return other in self._before[step]

    def must_precede(self, other: int, step: int) -> bool:
        """Whether a step has an output whenever another begins: it has ended, and not by a failure alone."""
        return bool(self._spoken[step] >> other & 1)

    def may_precede(self, other: int, step: int) -> bool:
        """Whether a step may have ended when another begins: so may one that runs at the same time."""
        if step == self.end or self.leads(other, step):
            return True
        return other != step and not self._ended[other] >> step & 1

    def outputs_from(self, other: int, step: int) -> list[Exit]:
        """The exits that may have given the latest output of a step when another begins."""
        ways = [way for way in self.net.steps[other].exits if way.port != "failed"]
        if step == self.end or not self.leads(other, step) or self.leads(other, other):
            return ways
        before = self._before[step] | {step}
        return [
            way for way in ways if any(before.intersection(self._taking.get(name, ())) for name in way.fires)
        ]

    def facts(self, adds: Callable[[int, Exit], Facts]) -> list[Facts]:
        """What holds whenever a step begins, if each exit makes the facts true that it `adds`.

        A step begins when all its slots are filled, by any of their events: the greatest solution, by iteration. The
        end is where OK is fired; if no step fires it, nobody knows what leads there, and all facts count as true.
        """
        unknown = -1
        found = [unknown] * (self.end + 1)
        fired = {
            name: [(number, adds(number, way)) for number, way in ways]
            for name, ways in self.producers.items()
        }

        def of_event(name: str) -> Facts:
            return reduce(and_, (found[number] | added for number, added in fired.get(name, ())), unknown)

        def of_slot(slot: Slot) -> Facts:
            return reduce(and_, (0 if name in self._outside else of_event(name) for name in slot.events))

        changed = True
        while changed:
            changed = False
            for number in self._order:
                holds = reduce(or_, map(of_slot, self.net.steps[number].slots))
                changed = changed or holds != found[number]
                found[number] = holds
        found[-1] = of_event(OK)
        return found
