"""A marking: which events wait in which slots. An immutable value that shares structure with its neighbours."""

from __future__ import annotations

from typing import Any

from immutables import Map
from msgspec import Struct

Place = int | tuple[int, str]
"""A slot by its index; of a step with `match`, the slot and the key."""

Join = int | tuple[int, str]
"""A step by its index; of a step with `match`, the step and the key."""


class Token(Struct, frozen=True, array_like=True, gc=False):
    """One copy of an event. `number` is its place in the history; `load` belongs to the caller."""

    number: int
    name: str
    load: Any = None


class Taken(Struct, frozen=True, array_like=True, gc=False):
    """What one firing took, slot by slot, and what it dropped because the round did not need it."""

    slots: tuple[tuple[Token, ...], ...]
    key: str | None = None
    dropped: tuple[tuple[int, Token], ...] = ()

    def tokens(self) -> tuple[Token, ...]:
        """All that was taken, in the order of the slots."""
        if len(self.slots) == 1:
            return self.slots[0]
        return tuple([token for slot in self.slots for token in slot])


class Marking(Struct, frozen=True, gc=False):
    """Waiting tokens by place. Equal by value: an empty place, a zero debt and an empty join are never stored.

    `owed` counts, for a slot `{need: n, of: ...}`, the events of a round that are still to be swallowed
    (below zero: swallowed already, for a round that was put back). `filled` and `complete` are derived:
    how many slots of a join hold what they need (only steps with several slots are listed), and the complete
    keys of a step with `match`, in the order in which they became complete.
    """

    tokens: Map[Place, tuple[Token, ...]] = Map()
    owed: Map[tuple[Place, str], int] = Map()
    filled: Map[Join, int] = Map()
    complete: Map[int, tuple[tuple[int, str], ...]] = Map()


EMPTY = Marking()
