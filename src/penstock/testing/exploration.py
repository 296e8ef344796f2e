"""The token game on values: what can happen next to a run, and the run after it. Only the net counts."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from datetime import UTC, datetime
from typing import Any, Literal

from msgspec import Struct

from penstock.flow.compile.compile import Flow
from penstock.flow.decisions.advance import advance
from penstock.flow.decisions.creation import new_run
from penstock.flow.model.run import Element, Failure, Header, RunId, Snapshot
from penstock.flow.model.run_input import (
    Begun,
    Canceled,
    Continued,
    Done,
    Failed,
    Outside,
    Reported,
    RunInput,
    RunTimedOut,
)
from penstock.kernel.marking import Token
from penstock.kernel.net import CANCEL, TIMEOUT

NOW = datetime(2026, 1, 1, tzinfo=UTC)
INLINE_ROUNDS = 10
"""A loop of steps without tasks never comes to an end: it is not followed further."""

Port = str | None
Pair = tuple[str, Port]
"""A step and a port on which it ends."""


class Move(Struct, frozen=True):
    """One thing that happens: a step ends on a port, an outside event comes, the run is canceled or times out."""

    what: Literal["ends", "event", "cancel", "timeout"]
    name: str = ""
    port: Port = None
    firing: int = 0
    """Which firing of the step it is that ends, by its place in the history; known once the move was made."""


class Node(Struct, frozen=True):
    """A run after some moves. `ended` lists the firings that the last move ended."""

    snapshot: Snapshot
    ended: tuple[Pair, ...]
    move: Move | None = None
    parent: Node | None = None
    depth: int = 0

    def path(self) -> list[Node]:
        """From the beginning to here."""
        nodes: list[Node] = []
        node: Node | None = self
        while node is not None:
            nodes.append(node)
            node = node.parent
        return nodes[::-1]


def begin(flow: Flow) -> Node:
    """A new run of a relaxed flow: START has been fired."""
    header = Header(id=RunId("scenario"), workflow=flow.name)
    return _after(flow, new_run(header), Begun(), None, None)


def follow(flow: Flow, node: Node, move: Move) -> Node:
    """The run after one more move, which must be possible."""
    if move.what == "ends":
        element = next(element for element in running(node.snapshot) if element.step == move.name)
        move = Move("ends", move.name, move.port, element.firing)
    return _after(flow, node.snapshot, _run_input(node.snapshot, move), move, node)


def _after(
    flow: Flow, snapshot: Snapshot, run_input: RunInput, move: Move | None, parent: Node | None
) -> Node:
    plan = advance(flow, snapshot, (run_input,), NOW)
    history = list(plan.history)
    for _ in range(INLINE_ROUNDS):
        if not plan.unfinished:
            break
        plan = advance(flow, plan.snapshot, (Continued(),), NOW)
        history += plan.history
    ended = tuple((entry.step, entry.port) for entry in history if entry.kind == "ended" and entry.step)
    return Node(plan.snapshot, ended, move, parent, parent.depth + 1 if parent else 0)


def _run_input(snapshot: Snapshot, move: Move) -> RunInput:
    match move.what:
        case "event":
            return Outside(event=move.name)
        case "cancel":
            return Canceled()
        case "timeout":
            return RunTimedOut(snapshot.epoch)
    return Reported(move.firing, None, 1, outcome_of(move.port))


def outcome_of(port: Port) -> Done | Failed:
    """The report of a task that ends on `port`."""
    if port == "failed":
        return Failed(error=Failure("error", "the scenario says so"), retry=False)
    return Done(port=port or "done")


def running(snapshot: Snapshot) -> list[Element]:
    """The attempts that are under way, the oldest first."""
    return [snapshot.elements[key] for key in sorted(snapshot.elements, key=lambda key: key[0])]


def moves(flow: Flow, node: Node) -> Iterator[Move]:
    """All that can happen next."""
    snapshot = node.snapshot
    if snapshot.ended:
        return
    for step in dict.fromkeys(element.step for element in running(snapshot)):
        for port in flow.steps[step].ports:
            yield Move("ends", step, port)
    for name in flow.outside:
        if may_come(flow, snapshot, name):
            yield Move("event", name)
    if snapshot.ending is None:
        if CANCEL in flow.net.awaited:
            yield Move("cancel")
        if flow.net.has_timeout and TIMEOUT in flow.net.awaited:
            yield Move("timeout")


def may_come(flow: Flow, snapshot: Snapshot, event: str) -> bool:
    """Whether an outside event may still come; one that is `many` comes again where a slot lacks it."""
    if event not in snapshot.came:
        return True
    if not flow.outside[event].many:
        return False
    has = {slot for slot, tokens in held(snapshot).items() if any(token.name == event for token in tokens)}
    return any(slot.index not in has for slot in flow.wiring.takers.get(event, ()))


def held(snapshot: Snapshot) -> dict[int, list[Token]]:
    """Slot → the events that wait in it."""
    found: dict[int, list[Token]] = {}
    for place, queue in snapshot.marking.tokens.items():
        found.setdefault(place if isinstance(place, int) else place[0], []).extend(queue)
    return found


def state(snapshot: Snapshot) -> Hashable:
    """Equal for runs that can go on in the same ways."""
    marking = snapshot.marking
    tokens: Any = frozenset(
        (place, tuple(token.name for token in queue)) for place, queue in marking.tokens.items()
    )
    under_way = tuple(sorted(element.step for element in snapshot.elements.values()))
    came = frozenset(snapshot.came)
    goal = (
        snapshot.status if snapshot.ended else None,
        snapshot.ending,
        snapshot.ok,
        snapshot.put_off is None,
    )
    return tokens, marking.owed, under_way, came, goal
