"""`serialize` keys: at most so many elements at a time, first come, first served; a key cannot leak."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field

from penstock.flow.model.run import ElementKey, RunId

Holder = tuple[RunId, ElementKey]


@dataclass
class _Key:
    limit: int
    holders: set[Holder] = field(default_factory=set)
    # Both ends and the middle cost O(1).
    waiting: OrderedDict[Holder, None] = field(default_factory=OrderedDict)


class Locks:
    """The keys that are held or awaited now."""

    def __init__(self) -> None:
        self._keys: dict[str, _Key] = {}

    def acquire(self, name: str, limit: int, holder: Holder) -> bool:
        """Hold the key at once where there is room, else queue for it."""
        key = self._keys.setdefault(name, _Key(limit))
        if len(key.holders) < limit and not key.waiting:
            key.holders.add(holder)
            return True
        key.waiting[holder] = None
        return False

    def release(self, name: str, holder: Holder) -> list[Holder]:
        """Release the key or leave its queue; the elements that hold it next."""
        key = self._keys.get(name)
        if key is None:
            return []
        key.holders.discard(holder)
        key.waiting.pop(holder, None)
        granted = []
        while key.waiting and len(key.holders) < key.limit:
            first, _ = key.waiting.popitem(last=False)
            key.holders.add(first)
            granted.append(first)
        if not key.holders:
            del self._keys[name]
        return granted

    def holders(self, name: str) -> set[Holder]:
        key = self._keys.get(name)
        return set(key.holders) if key else set()
