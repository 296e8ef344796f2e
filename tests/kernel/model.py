"""The kernel once more, as plainly as it can be said: lists, no indexes, nothing kept. The oracle of the laws."""

from __future__ import annotations

from dataclasses import dataclass, field

from penstock.kernel.net import Net, Slot

Event = tuple[int, str, str]  # number, name, key


@dataclass
class Model:
    """Everything that waits, slot by slot, and what slots owe."""

    net: Net
    waiting: dict[tuple[str, int], list[Event]] = field(default_factory=dict)
    owed: list[tuple[str, int, str, str]] = field(default_factory=list)  # step, slot, key, name
    dropped: list[int] = field(default_factory=list)

    def put(self, event: Event) -> None:
        number, name, key = event
        for step in self.net.steps:
            for position, slot in enumerate(step.slots):
                debt = (step.name, position, key if step.keyed else "", name)
                if name not in slot.events or (step.keyed and not key):
                    continue
                if debt in self.owed:
                    self.owed.remove(debt)
                    self.dropped.append(number)
                else:
                    self.waiting.setdefault((step.name, position), []).append(event)

    def queues(self, step: str, key: str) -> list[list[Event]]:
        wired = self.net.by_name[step]
        return [
            [event for event in self.waiting.get((step, position), []) if not wired.keyed or event[2] == key]
            for position in range(len(wired.slots))
        ]

    def choice(self, step: str, key: str) -> list[list[Event]] | None:
        """What a firing of the step with that key would take; None where it may not fire."""
        chosen = []
        for slot, queue in zip(self.net.by_name[step].slots, self.queues(step, key), strict=True):
            picked = _pick(slot, queue)
            if picked is None:
                return None
            chosen.append(picked)
        return chosen

    def enabled(self) -> dict[str, list[str]]:
        """Step → its complete keys, the one completed first in front ('' where the step has no keys)."""
        found: dict[str, list[str]] = {}
        for step in self.net.steps:
            keys = {
                event[2]
                for position in range(len(step.slots))
                for event in self.waiting.get((step.name, position), [])
            }
            candidates = []
            for key in keys if step.keyed else {""}:
                chosen = self.choice(step.name, key)
                if chosen is not None:
                    candidates.append((max(event[0] for queue in chosen for event in queue), key))
            if candidates:
                found[step.name] = [key for _, key in sorted(candidates)]
        return found

    def fire(self, step: str) -> list[list[int]]:
        """Take for the key completed first; the numbers taken, slot by slot."""
        key = self.enabled()[step][0]
        chosen = self.choice(step, key)
        assert chosen is not None
        for position, (slot, taken) in enumerate(zip(self.net.by_name[step].slots, chosen, strict=True)):
            queue = self.waiting[step, position]
            for event in taken:
                queue.remove(event)
            if slot.need and not slot.keep:
                self._settle(step, position, key, slot, taken)
        return [[event[0] for event in taken] for taken in chosen]

    def _settle(self, step: str, position: int, key: str, slot: Slot, taken: list[Event]) -> None:
        for name in slot.events:
            if name in [event[1] for event in taken]:
                continue
            late = [event for event in self.queues(step, key)[position] if event[1] == name]
            if late:
                self.waiting[step, position].remove(late[0])
                self.dropped.append(late[0][0])
            else:
                self.owed.append((step, position, key, name))

    def clear(self, step: str) -> None:
        for position in range(len(self.net.by_name[step].slots)):
            self.waiting.pop((step, position), None)
        self.owed = [debt for debt in self.owed if debt[0] != step]


def _pick(slot: Slot, queue: list[Event]) -> list[Event] | None:
    if not slot.need:
        return queue[:1] or None
    chosen: list[Event] = []
    for event in queue:
        if event[1] not in [other[1] for other in chosen] and len(chosen) < slot.need:
            chosen.append(event)
    return chosen if len(chosen) == slot.need else None
