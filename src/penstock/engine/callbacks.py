"""The part of the engine for functions and services that report how a task ended."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import msgspec

from penstock.boxes.callback_tokens import Attempted, CallbackTokens
from penstock.boxes.failures import Failing
from penstock.boxes.http import read_callback
from penstock.boxes.service import outcome_of
from penstock.boxes.states import States
from penstock.flow.model.plan import Answer
from penstock.flow.model.run import Element
from penstock.flow.model.run_input import Done, Outcome, Reported
from penstock.flow.values.key_text import key_text
from penstock.runtime.commands.validation import plain_payload, validate_texts
from penstock.runtime.decisions.correlation import RETENTION
from penstock.runtime.dispatch.redaction import is_result, redacted_answer, redacted_outcome
from penstock.runtime.errors import (
    AlreadyOver,
    Invalid,
    UnknownCallback,
    UnknownRun,
)
from penstock.runtime.node.node import Node
from penstock.steps.io_steps import KEY
from penstock.store.protocol import InboundEvents
from penstock.store.rows.change import EventId
from penstock.store.rows.rows import LogLine


class Callbacks:
    """Callbacks of functions, and reports of task services."""

    def __init__(self, store: InboundEvents, node: Node, callback_tokens: CallbackTokens) -> None:
        self._store, self._node, self._callback_tokens = store, node, callback_tokens

    async def knows_callback(self, id: str) -> bool:
        """Whether a callback address was given away here; what it was given for may be over."""
        return await self._callback_tokens.open(id) is not None

    async def call_back(self, id: str, body: Any) -> str:
        """A function that was given a callback address says how it ended: `accepted`, or `repeated`.

        Raises UnknownCallback, and AlreadyOver where the step waits for it no longer.
        """
        place = await self._callback_tokens.open(id)
        if place is None:
            raise UnknownCallback
        outcome = await self._without_secrets(place, await self._called_back(place, body))
        digest = blake2b(key_text(body).encode(), digest_size=16).hexdigest()
        seen = EventId(f"callback/{id}", digest, self._node.clock.now() + RETENTION)
        if await report_end(self._node, place, outcome, seen) == "accepted":
            return "accepted"
        if (await self._store.seen([seen]))[0]:
            return "repeated"
        raise AlreadyOver

    async def report(self, key: str, state: str, body: Any = None) -> str:
        """A task service tells the state of the `service` step with that `key`; it counts like a poll.

        Answers `ended`, `progress` (the step continues), or `ignored`: nothing waits under that key any more.
        """
        validate_texts(key=key, state=state)
        run = await self._store.find([(KEY, key)])
        found = None if run is None else await self._element(run, key)
        if run is None or found is None:
            return "ignored"
        said = plain_payload(body if body is not None else {"state": state}, "the report")
        place = Attempted(run, found.firing, found.index, found.attempt)
        outcome = outcome_of(States.of(found.params), state, said, found.params)
        if outcome is None:
            await self._note(place, found.step, state, said)
            return "progress"
        outcome = await self._without_secrets(place, outcome)
        return "ended" if await report_end(self._node, place, outcome) == "accepted" else "ignored"

    async def _without_secrets(self, place: Attempted, outcome: Outcome) -> Outcome:
        """What a step gives, redacted if its parameters name secrets."""
        live = await self._node.look(place.run)
        element = live.snapshot.elements.get((place.firing, place.index))
        if element is None or not live.flow.steps[element.step].secrets:
            return outcome
        return redacted_answer(outcome, await self._node.dispatch.redaction())

    async def _called_back(self, place: Attempted, body: Any) -> Outcome:
        """What a callback says to the step that waits for it. Raises UnknownCallback and Invalid."""
        try:
            live = await self._node.look(place.run)
        except UnknownRun:
            raise UnknownCallback from None
        element = live.snapshot.elements.get((place.firing, place.index))
        try:
            outcome = read_callback(
                body, element is not None and element.params.get("tags_mode") == "replace"
            )
        except Failing as failing:
            raise Invalid(str(failing)) from None
        if element is not None and isinstance(outcome, Done):
            step = live.flow.steps[element.step]
            if outcome.port not in step.ways:
                raise Invalid(
                    f"step '{step.name}' has no port '{outcome.port}': it ends on {', '.join(step.ports)}"
                )
        return outcome

    async def _element(self, run: str, key: str) -> Element | None:
        """The running attempt of the `service` step with that key."""
        live = await self._node.look(run)
        for element in live.snapshot.elements.values():
            if live.flow.steps[element.step].task != "service" or element.state not in ("running", "parked"):
                continue
            if str(element.params.get("key")) == key:
                return element
        return None

    async def _note(self, place: Attempted, step: str, state: str, body: Any) -> None:
        now = self._node.clock.now()
        line = {
            "at": now, "step": step, "index": place.index, "attempt": place.attempt, "level": "info",
            "text": f"the service reports that it is {state}: {msgspec.json.encode(body).decode()[:1000]}",
        }  # fmt: skip
        await self._node.dispatch.log([LogLine(place.run, now, msgspec.json.encode(line))])


async def report_end(node: Node, place: Attempted, outcome: Outcome, seen: EventId | None = None) -> Answer:
    """Report the end of an attempt from outside, redacted unless it is a result."""
    if not is_result(outcome):
        outcome = redacted_outcome(outcome, await node.dispatch.redaction())
    reported = Reported(place.firing, place.index, place.attempt, outcome, outside=True)
    return await node.commands.ask(place.run, reported, seen=seen)
