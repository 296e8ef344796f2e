"""A new run that begins where an old one once was: just before a step of it began for the last time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from penstock.flow.compile import Flow
from penstock.flow.mending import put_into
from penstock.flow.occurrence import BegunFrom, Put, RunTimedOut
from penstock.flow.plan import Answer, Entry, Timer
from penstock.flow.replay import Replay
from penstock.flow.run import StepState
from penstock.flow.tags import NO_TAGS, TagChange, change
from penstock.flow.turn import Turn


class Fork(Struct, frozen=True):
    """What the old run had then: its data, the events that waited, what its steps had said, what had come."""

    data: Any
    puts: tuple[Put, ...]
    outputs: dict[str, Any]
    came: tuple[str, ...]


def fork_before(flow: Flow, history: Sequence[Entry], step: str, input: Any = None) -> Fork | None:
    """How the run was before `step` began for the last time, as if it had begun with `input`; None: it never did.

    What was under way then has not begun: it is done again.
    """
    last = max(
        (n for n, entry in enumerate(history) if entry.kind == "fired" and entry.step == step), default=None
    )
    if last is None:
        return None
    replay = Replay(flow, input)
    live: set[int] = set()
    outputs: dict[str, Any] = {}
    for entry in history[:last]:
        replay.take(entry)
        if entry.kind == "fired":
            live.add(entry.seq)
        elif entry.kind in ("ended", "withdrawn") and entry.firing is not None:
            live.discard(entry.firing)
            if entry.kind == "ended" and entry.port != "failed":
                outputs[entry.step or ""] = entry.data
    for number in live:
        replay.board.put_back(*replay.taken[number])
    came = [
        e.event for e in history[:last] if e.kind == "event" and e.step is None and e.event in flow.outside
    ]
    return Fork(replay.data, tuple(_puts(replay)), outputs, tuple(came))


def _puts(replay: Replay) -> list[Put]:
    found = []
    for place, tokens in replay.board.marking().tokens.items():
        slot = replay.flow.wiring.slots[place if isinstance(place, int) else place[0]]
        step = replay.flow.wiring.steps[slot.step].name
        found += [
            (token.number, Put(step=step, slot=slot.position, event=token.name, data=token.load.data))
            for token in tokens
        ]
    return [put for _, put in sorted(found, key=lambda each: each[0])]


def set_out(turn: Turn, tags: dict[str, Any]) -> bool:
    """The time of a run begins, with its first tags; False: it has begun before."""
    if turn.started_at is not None:
        return False
    turn.started_at = turn.now
    if turn.flow.timeout is not None:
        turn.timers += (Timer(turn.now + turn.flow.timeout, RunTimedOut(turn.epoch)),)
    if tags:
        turn.tags = change(NO_TAGS, TagChange(dict(tags)), 0)
    return True


def begin_from(turn: Turn, begun: BegunFrom) -> Answer:
    """The run begins with events in its slots instead of START, and with what earlier steps of the old run said."""
    if not set_out(turn, begun.tags):
        return "duplicate"
    turn.data = begun.data
    turn.record("set", data=begun.data, tags=TagChange(begun.tags, replace=True))
    for name in begun.came:
        turn.came = turn.came.set(name, turn.came.get(name, 0) + 1)
    for name, output in begun.outputs.items():
        if name in turn.flow.steps:
            turn.steps = turn.steps.set(
                name, StepState("complete", output=output, reason="rerun", spoke=True)
            )
    for put in begun.puts:
        put_into(turn, put, f"rerun from step '{begun.step}'")
    return "accepted"
