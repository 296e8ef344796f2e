"""Tiny builders: nets from lines, markings from names."""

from __future__ import annotations

from penstock.kernel.firing import MutableMarking
from penstock.kernel.marking import Token
from penstock.kernel.net import Exit, Net, Slot, Step, Wiring


def wired(
    *lines: str, cancels: dict[str, tuple[str, ...]] | None = None, keyed: tuple[str, ...] = ()
) -> Wiring:
    """`join: a b|c 2(x,y,z) -> e f / g`: slots, then the events of port done, then those of port failed."""
    return Wiring(net_of(*lines, cancels=cancels, keyed=keyed))


def net_of(
    *lines: str, cancels: dict[str, tuple[str, ...]] | None = None, keyed: tuple[str, ...] = ()
) -> Net:
    steps = []
    for line in lines:
        name, _, rest = line.partition(":")
        takes, _, fires = rest.partition("->")
        done, _, failed = fires.partition("/")
        exits = [Exit("done", tuple(done.split()))]
        if failed:
            exits.append(Exit("failed", tuple(failed.split()), failure=True))
        slots = tuple(_slot(word) for word in takes.split())
        steps.append(
            Step(
                name.strip(),
                slots,
                tuple(exits),
                (cancels or {}).get(name.strip(), ()),
                name.strip() in keyed,
            )
        )
    return Net(tuple(steps))


def _slot(word: str) -> Slot:
    if "(" not in word:
        return Slot(tuple(word.split("|")))
    need, _, names = word.rstrip(")+").partition("(")
    return Slot(tuple(names.split(",")), int(need), keep=word.endswith("+"))


def board_with(wiring: Wiring, *names: str, keys: dict[str, str] | None = None) -> MutableMarking:
    """A board on which the named events came in this order, numbered from 1; `a:k` is event a with key k."""
    board = MutableMarking(wiring)
    for number, name in enumerate(names, 1):
        put(board, name, number)
    return board


def put(board: MutableMarking, name: str, number: int) -> None:
    event, _, key = name.partition(":")
    board.put(Token(number, event, key), lambda step, token: token.load or None)


def waiting(board: MutableMarking) -> dict[str, list[str]]:
    """What waits, slot by slot, as `step.position: [event names]`; only what is not empty."""
    marking = board.look()
    found: dict[str, list[str]] = {}
    for slot in board.wiring.slots:
        for place, tokens in sorted(marking.tokens.items(), key=str):
            if (place if isinstance(place, int) else place[0]) == slot.index:
                name = f"{board.wiring.steps[slot.step].name}.{slot.position}"
                found.setdefault(name, []).extend(token.name for token in tokens)
    return found


def numbers(taken: object) -> list[list[int]]:
    return [[token.number for token in slot] for slot in taken.slots]  # type: ignore[attr-defined]
