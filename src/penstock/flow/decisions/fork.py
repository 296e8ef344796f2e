"""A new run that begins where an old one once was: just before a step of it began for the last time."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from penstock.flow.compile.compile import Flow
from penstock.flow.decisions.repair import put_into
from penstock.flow.decisions.state import DecisionState
from penstock.flow.model.plan import Answer, Entry, Timer
from penstock.flow.model.run import StepState
from penstock.flow.model.run_input import BegunFrom, Put, RunTimedOut
from penstock.flow.model.tags import NO_TAGS, TagChange, change
from penstock.flow.views.replay import Replay


class Fork(Struct, frozen=True):
    """What the old run had then: its data, the events that waited, what its steps had said, what had come."""

    data: Any
    puts: tuple[Put, ...]
    outputs: dict[str, Any]
    came: tuple[str, ...]


class Forking:
    """How a run was, as if it had begun with `input`, from the entries before a step began, taken one by one.

    None of them is kept: the history of a run that goes round for months has no end.
    """

    def __init__(self, flow: Flow, input: Any = None) -> None:
        self._flow, self._replay = flow, Replay(flow, input)
        self._live: set[int] = set()
        self._outputs: dict[str, Any] = {}
        self._came: list[str] = []

    def take(self, entry: Entry) -> None:
        """The next entry. Raises BrokenHistory."""
        self._replay.take(entry)
        if entry.kind == "fired":
            self._live.add(entry.seq)
        elif entry.kind in ("ended", "withdrawn") and entry.firing is not None:
            self._live.discard(entry.firing)
            if entry.kind == "ended" and entry.port != "failed":
                self._outputs[entry.step or ""] = entry.data
                self._replay.taken.pop(entry.firing, None)  # it is never put back
        elif entry.kind == "event" and entry.step is None and entry.event in self._flow.outside:
            self._came.append(entry.event)

    def fork(self) -> Fork:
        """What the run had after the last entry; what was under way then has not begun: it is done again."""
        replay = self._replay
        for number in self._live:
            replay.marking.put_back(*replay.taken[number])
        return Fork(replay.data, tuple(_puts(replay)), self._outputs, tuple(self._came))


def _puts(replay: Replay) -> list[Put]:
    found = []
    for place, tokens in replay.marking.marking().tokens.items():
        slot = replay.flow.wiring.slots[place if isinstance(place, int) else place[0]]
        step = replay.flow.wiring.steps[slot.step].name
        found += [
            (token.number, Put(step=step, slot=slot.position, event=token.name, data=token.load.data))
            for token in tokens
        ]
    return [put for _, put in sorted(found, key=lambda each: each[0])]


def set_out(decision: DecisionState, tags: dict[str, Any]) -> bool:
    """The time of a run begins, with its first tags; False: it has begun before."""
    if decision.started_at is not None:
        return False
    decision.started_at = decision.now
    if decision.flow.timeout is not None:
        decision.timers += (Timer(decision.now + decision.flow.timeout, RunTimedOut(decision.epoch)),)
    if tags:
        decision.tags = change(NO_TAGS, TagChange(dict(tags)), 0)
    return True


def begin_from(decision: DecisionState, begun: BegunFrom) -> Answer:
    """The run begins with events in its slots instead of START, and with what earlier steps of the old run said."""
    if not set_out(decision, begun.tags):
        return "duplicate"
    decision.data = begun.data
    decision.record("set", data=begun.data, tags=TagChange(begun.tags, replace=True))
    for name in begun.came:
        decision.came = decision.came.set(name, decision.came.get(name, 0) + 1)
    for name, output in begun.outputs.items():
        if name in decision.flow.steps:
            decision.steps = decision.steps.set(
                name, StepState("complete", output=output, reason="rerun", spoke=True)
            )
    for put in begun.puts:
        put_into(decision, put, f"rerun from step '{begun.step}'")
    return "accepted"
