"""When a step may start and what it takes: rules K1 to K9 of docs/spec/kernel.md.

A `MutableMarking` is a working copy of a marking inside one decision. It keeps enabledness as it goes, so that each
event costs the same in a workflow of 5 steps and of 500. `marking()` gives the value back.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Iterable

from penstock.kernel.errors import NotEnabled
from penstock.kernel.marking import EMPTY, Join, Marking, Place, Taken, Token
from penstock.kernel.net import START, WiredSlot, WiredStep, Wiring

KeyOf = Callable[[WiredStep, Token], str | None]
"""The key of an event at a step with `match`; None sets the event aside."""


class MutableMarking:
    """A marking being changed. `woken` lists the joins that became enabled, in order; the owner clears it."""

    __slots__ = ("aside", "complete", "dropped", "filled", "owed", "tokens", "wiring", "woken")

    def __init__(self, wiring: Wiring, marking: Marking = EMPTY) -> None:
        self.wiring = wiring
        self.tokens = marking.tokens.mutate()
        self.filled = marking.filled
        self.owed = marking.owed
        self.complete = marking.complete
        self.woken: list[int] = []
        self.dropped: tuple[tuple[WiredSlot, Token], ...] = ()
        self.aside: tuple[tuple[WiredSlot, Token], ...] = ()

    def marking(self) -> Marking:
        """The marking as it is now, as a value."""
        return Marking(self.tokens.finish(), self.owed, self.filled, self.complete)

    def look(self) -> Marking:
        """The marking as it is now, without an end to the changes: a map under change cannot be walked."""
        marking = self.marking()
        self.tokens = marking.tokens.mutate()
        return marking

    # -- events arrive -------------------------------------------------------------------------------------

    def put(self, token: Token, key_of: KeyOf | None = None) -> None:
        """K1: a copy of the event goes to every slot of every step that waits for it."""
        for slot in self.wiring.takers.get(token.name, ()):
            if slot.plain:
                self._add_plain(slot, token)
            elif not slot.keyed:
                self.add(slot, token, None)
            else:
                key = key_of(self.wiring.steps[slot.step], token) if key_of else None
                if key is None:
                    self.aside += ((slot, token),)
                else:
                    self.add(slot, token, key)

    def _add_plain(self, slot: WiredSlot, token: Token) -> None:
        """Most slots are the only one of their step and need no more than one event."""
        place = slot.index
        queue = self.tokens.get(place)
        if queue is None:
            self.tokens[place] = (token,)
            self.woken.append(slot.step)
        else:
            self.tokens[place] = (*queue, token)

    def add(self, slot: WiredSlot, token: Token, key: str | None) -> None:
        """Put one copy into one slot; a copy that the slot still owes to an earlier round is dropped (K5)."""
        place: Place = slot.index if key is None else (slot.index, key)
        if slot.need and self._swallows(place, token.name):
            self.dropped += ((slot, token),)
            return
        queue = self.tokens.get(place)
        if queue is None:
            self.tokens[place] = (token,)
            if slot.need <= 1:
                self._fill(slot, key, token.number)
            return
        self.tokens[place] = (*queue, token)
        if slot.need > 1 and _distinct(queue) < slot.need == _distinct((*queue, token)):
            self._fill(slot, key, token.number)

    def put_back(self, step: WiredStep, taken: Taken) -> None:
        """Undo a take: the tokens wait again where they waited, in the order in which they came."""
        for slot, tokens in zip(step.slots, taken.slots, strict=True):
            place: Place = slot.index if taken.key is None else (slot.index, taken.key)
            if slot.need and not slot.keep:
                for name in set(slot.events) - {token.name for token in tokens}:
                    self._owe(place, name, -1)
            waiting = self.tokens.get(place, ())
            was_filled = _fills(slot, waiting)
            merged = tuple(sorted((*tokens, *waiting), key=lambda token: token.number))
            self.tokens[place] = merged
            if not was_filled:
                self._fill(slot, taken.key, merged[-1].number)
        if taken.key is not None:
            self._requeue(step, taken.key)

    # -- steps fire ----------------------------------------------------------------------------------------

    def enabled(self, step: WiredStep) -> bool:
        """K2: every slot of the step holds what it needs."""
        if step.plain is not None:
            return step.plain in self.tokens
        if step.keyed:
            return step.index in self.complete
        if step.width > 1:
            return self.filled.get(step.index, 0) == step.width
        slot = step.slots[0]
        if slot.need <= 1:
            return slot.index in self.tokens
        return _distinct(self.tokens.get(slot.index, ())) >= slot.need

    def take(self, step: WiredStep) -> Taken:
        """K3: take exactly what the step needs, the oldest first, from each slot. Raises NotEnabled."""
        taken = self.take_if_enabled(step)
        if taken is None:
            raise NotEnabled(step.name)
        return taken

    def take_if_enabled(self, step: WiredStep) -> Taken | None:
        """The same; None where the step may not fire."""
        if step.plain is not None:
            return self._take_plain(step.plain)
        if not self.enabled(step):
            return None
        key = self.complete[step.index][0][1] if step.keyed else None
        dropped: list[tuple[int, Token]] = []
        slots = tuple([self._draw(slot, key, dropped) for slot in step.slots])
        if key is not None:
            self._requeue(step, key)
        return Taken(slots, key, tuple(dropped))

    def _take_plain(self, place: int) -> Taken | None:
        """Most steps wait for one event and need no more than a look at one queue."""
        queue = self.tokens.get(place)
        if queue is None:
            return None
        if len(queue) == 1:
            del self.tokens[place]
            return Taken((queue,))
        self.tokens[place] = queue[1:]
        return Taken((queue[:1],))

    def clear(self, step: WiredStep) -> list[Token]:
        """K8: withdraw every event that waits at the step, and every debt of its slots."""
        places = self._places(step)
        gone = [token for place in places for token in self.tokens.pop(place, ())]
        for debt in [debt for debt in self.owed if debt[0] in places]:
            self.owed = self.owed.delete(debt)
        for join in self._joins(step):
            self.filled = self.filled.delete(join)
        self._reorder(step.index, ())
        return gone

    def remove(self, slot: WiredSlot, number: int) -> Token | None:
        """Take one token out of one slot by its number; None where it is not there."""
        for place in self._places(self.wiring.steps[slot.step]):
            if (place if isinstance(place, int) else place[0]) != slot.index:
                continue
            queue = self.tokens[place]
            for token in queue:
                if token.number == number:
                    self._keep(slot, place, queue, tuple(other for other in queue if other is not token))
                    return token
        return None

    # -- the inside ----------------------------------------------------------------------------------------

    def _draw(self, slot: WiredSlot, key: str | None, dropped: list[tuple[int, Token]]) -> tuple[Token, ...]:
        place: Place = slot.index if key is None else (slot.index, key)
        queue = self.tokens[place]
        if not slot.need:
            if len(queue) == 1:
                del self.tokens[place]
                self._drain(slot, key)
                return queue
            self.tokens[place] = queue[1:]
            return queue[:1]
        chosen, rest = _first_different(queue, slot.need)
        if not slot.keep:
            rest = self._settle_round(slot, place, chosen, rest, dropped)
        self._keep(slot, place, queue, rest)
        return chosen

    def _settle_round(
        self,
        slot: WiredSlot,
        place: Place,
        chosen: tuple[Token, ...],
        rest: tuple[Token, ...],
        dropped: list[tuple[int, Token]],
    ) -> tuple[Token, ...]:
        """K5: what the round did not take is dropped if it waits already, and owed if it is still to come."""
        taken = {token.name for token in chosen}
        for name in slot.events:
            if name in taken:
                continue
            waiting = next((token for token in rest if token.name == name), None)
            if waiting is None or self.owed.get((place, name), 0) < 0:
                self._owe(place, name, +1)
            else:
                dropped.append((slot.position, waiting))
                rest = tuple(token for token in rest if token is not waiting)
        return rest

    def _keep(
        self, slot: WiredSlot, place: Place, before: tuple[Token, ...], rest: tuple[Token, ...]
    ) -> None:
        if rest:
            self.tokens[place] = rest
        else:
            del self.tokens[place]
        if _fills(slot, before) and not _fills(slot, rest):
            self._drain(slot, None if isinstance(place, int) else place[1])

    def _fill(self, slot: WiredSlot, key: str | None, number: int) -> None:
        if not slot.alone:
            join: Join = slot.step if key is None else (slot.step, key)
            count = self.filled.get(join, 0) + 1
            self.filled = self.filled.set(join, count)
            if count < self.wiring.steps[slot.step].width:
                return
        if key is not None:
            self._complete(slot.step, key, number)
        self.woken.append(slot.step)

    def _drain(self, slot: WiredSlot, key: str | None) -> None:
        if not slot.alone:
            join: Join = slot.step if key is None else (slot.step, key)
            left = self.filled[join] - 1
            self.filled = self.filled.set(join, left) if left else self.filled.delete(join)
        if key is not None:
            self._forget(slot.step, key)

    def _swallows(self, place: Place, name: str) -> bool:
        if self.owed.get((place, name), 0) <= 0:
            return False
        self._owe(place, name, -1)
        return True

    def _owe(self, place: Place, name: str, change: int) -> None:
        debt = self.owed.get((place, name), 0) + change
        if debt:
            self.owed = self.owed.set((place, name), debt)
        elif (place, name) in self.owed:
            self.owed = self.owed.delete((place, name))

    def _complete(self, step: int, key: str, number: int) -> None:
        order = list(self.complete.get(step, ()))
        insort(order, (number, key))
        self._reorder(step, tuple(order))

    def _forget(self, step: int, key: str) -> None:
        order = self.complete.get(step, ())
        if order and order[0][1] == key:
            self._reorder(step, order[1:])
        else:
            self._reorder(step, tuple(entry for entry in order if entry[1] != key))

    def _reorder(self, step: int, order: tuple[tuple[int, str], ...]) -> None:
        if order:
            self.complete = self.complete.set(step, order)
        elif step in self.complete:
            self.complete = self.complete.delete(step)

    def _requeue(self, step: WiredStep, key: str) -> None:
        """K7: a key that is still complete goes behind the keys that were complete before its next round."""
        if not self._has_all(step, key):
            return
        self._forget(step.index, key)
        queues = ((slot, self.tokens[slot.index, key]) for slot in step.slots)
        number = max(_first_different(queue, slot.need or 1)[0][-1].number for slot, queue in queues)
        self._complete(step.index, key, number)

    def _has_all(self, step: WiredStep, key: str) -> bool:
        if step.width > 1:
            return self.filled.get((step.index, key), 0) == step.width
        slot = step.slots[0]
        return _fills(slot, self.tokens.get((slot.index, key), ()))

    def _places(self, step: WiredStep) -> list[Place]:
        if not step.keyed:
            return [slot.index for slot in step.slots if slot.index in self.tokens or slot.need]
        mine = {slot.index for slot in step.slots}
        tokens = self.look().tokens
        held: list[Place] = [place for place in tokens if not isinstance(place, int) and place[0] in mine]
        return held + [debt[0] for debt in self.owed if not isinstance(debt[0], int) and debt[0][0] in mine]

    def _joins(self, step: WiredStep) -> list[Join]:
        if not step.keyed:
            return [step.index] if step.index in self.filled else []
        return [join for join in self.filled if not isinstance(join, int) and join[0] == step.index]


def _distinct(queue: Iterable[Token]) -> int:
    return len({token.name for token in queue})


def _fills(slot: WiredSlot, queue: tuple[Token, ...]) -> bool:
    return _distinct(queue) >= slot.need if slot.need > 1 else bool(queue)


def _first_different(queue: tuple[Token, ...], need: int) -> tuple[tuple[Token, ...], tuple[Token, ...]]:
    """The first `need` tokens with different names, and the rest, both in order."""
    chosen: dict[str, Token] = {}
    for token in queue:
        if token.name not in chosen:
            chosen[token.name] = token
            if len(chosen) == need:
                break
    taken = tuple(chosen.values())
    numbers = {token.number for token in taken}
    return taken, tuple(token for token in queue if token.number not in numbers)


def begin(wiring: Wiring) -> Marking:
    """The marking of a new run: START has been fired."""
    board = MutableMarking(wiring)
    board.put(Token(0, START))
    return board.marking()


def enabled(wiring: Wiring, marking: Marking) -> list[str]:
    """The steps that may fire, in the order of the net."""
    board = MutableMarking(wiring, marking)
    return [step.name for step in wiring.steps if board.enabled(step)]


def fire(wiring: Wiring, marking: Marking, step: str, port: str | None, number: int) -> Marking:
    """The marking after `step` fires and ends on `port`; its events are numbered from `number` on."""
    board = MutableMarking(wiring, marking)
    wired = wiring.by_name[step]
    board.take(wired)
    for other in wired.cancels:
        board.clear(wiring.steps[other])
    for name in wired.fires[port]:
        board.put(Token(number, name))
        number += 1
    return board.marking()
