"""The part of the engine for those whom runs wait for: people who decide, functions and services that report."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from hashlib import blake2b
from typing import Any, Protocol

import msgspec
from msgspec import Struct

from penstock.boxes.callback_tokens import Attempted, CallbackTokens
from penstock.boxes.failures import Failing
from penstock.boxes.http import read_callback
from penstock.boxes.service import outcome_of
from penstock.boxes.states import States
from penstock.engine.approval_decision import Form, port_of
from penstock.flow.model.plan import Answer
from penstock.flow.model.run import Element
from penstock.flow.model.run_input import Done, Outcome, Reported
from penstock.flow.values.key_text import key_text
from penstock.flow.views.run_view import time_text
from penstock.runtime.commands.authority import barring
from penstock.runtime.commands.validation import plain_payload, validate_texts
from penstock.runtime.decisions.children import parent_of
from penstock.runtime.decisions.correlation import RETENTION
from penstock.runtime.dispatch.redaction import is_result, redacted_answer, redacted_outcome
from penstock.runtime.errors import (
    AlreadyDecided,
    AlreadyOver,
    ApprovalExpired,
    Invalid,
    NotSeparate,
    UnknownApproval,
    UnknownCallback,
    UnknownRun,
)
from penstock.runtime.node.node import Node
from penstock.runtime.queries.history import ROOM
from penstock.steps.io_steps import KEY
from penstock.store.protocol import Approvals, InboundEvents
from penstock.store.rows.change import Seen
from penstock.store.rows.rows import ApprovalRow, LogLine

Before = tuple[datetime, str]
Refusals = dict[tuple[str, str | None], str | None]
"""What bars somebody, by the run and who started it: a run may have thousands of approvals, and all are looked at."""
LOOKED, TOGETHER = 1_000, 64
"""Approvals that one page looks at, for where few are wanted it would look at them all; and those read at a time."""


class Which(Struct, frozen=True, kw_only=True):
    """Approvals that somebody asks for: see `DecisionsAndReports.approvals`."""

    status: str | None = "open"
    workflow: str | None = None
    sees: Callable[[str], bool] | None = None
    by: str | None = None

    def includes(self, row: ApprovalRow) -> bool:
        return self.workflow in (None, row.workflow) and (self.sees is None or self.sees(row.workflow))


class AnswerRows(Approvals, InboundEvents, Protocol):
    """What people are asked to decide, and what services report."""


class DecisionsAndReports:
    """Approvals, callbacks and reports."""

    def __init__(self, store: AnswerRows, node: Node, seals: CallbackTokens) -> None:
        self._store, self._node, self._seals = store, node, seals

    async def approvals(
        self,
        *,
        status: str | None = "open",
        workflow: str | None = None,
        limit: int = 50,
        before: Before | None = None,
        sees: Callable[[str], bool] | None = None,
        by: str | None = None,
    ) -> list[dict[str, Any]]:
        """What people are, or were, asked to decide, the newest first; `status` None: all.

        `before` is `opened_at` and `id` of the last one seen; `sees` says of which workflows one may know; `barred`
        says why `by` may not decide, where four eyes are asked for.
        """
        found: list[dict[str, Any]] = []
        which = {"status": status, "workflow": workflow, "sees": sees, "by": by}
        while len(found) < limit:
            items, before = await self.approvals_page(limit=limit - len(found), before=before, **which)
            found += items
            if before is None:
                break
        return found

    async def approvals_page(
        self, /, *, limit: int = 50, before: Before | None = None, **which: Any
    ) -> tuple[list[dict[str, Any]], Before | None]:
        """The next of them, fewer than `limit` where they are large or few are wanted; and where to go on."""
        wanted, known = Which(**which), Refusals()
        rows, last = await _some(self._store, wanted, before, limit)
        return [await self._view_for(row, wanted.by, known) for row in rows], last

    async def approval(self, id: str, by: str | None = None) -> dict[str, Any]:
        """One of them. Raises UnknownApproval."""
        return await self._view_for(await self._approval(id), by)

    async def decide(
        self,
        id: str,
        decision: str,
        *,
        fields: Any = None,
        comment: str | None = None,
        by: str = "engine",
    ) -> dict[str, Any]:
        """Approve or reject, once. Raises UnknownApproval, AlreadyDecided, InvalidFields, NotSeparate, Invalid."""
        row = await self._approval(id)
        port = port_of(decision)
        validate_texts(comment=comment)
        _reject_decided(row)
        said = msgspec.json.decode(row.body)
        if (barred := await self._barred(row, by)) is not None:
            raise NotSeparate(by, barred)
        now = time_text(self._node.clock.now())
        form = Form(row.step, said["fields"])
        done = form.decided(port, fields, {"by": by, "at": now, "comment": comment})
        place = parent_of(id)
        assert place is not None
        if await self._tell(Attempted(*place), done) != "accepted":
            _reject_decided(await self._approval(id))
            raise AlreadyDecided(id, "closed", None, now or "")
        return await self._view_for(await self._approval(id), by)

    async def knows_callback(self, id: str) -> bool:
        """Whether a callback address was given away here; what it was given for may be over."""
        return await self._seals.open(id) is not None

    async def call_back(self, id: str, body: Any) -> str:
        """A function that was given a callback address says how it ended: `accepted`, or `repeated`.

        Raises UnknownCallback, and AlreadyOver where the step waits for it no longer.
        """
        place = await self._seals.open(id)
        if place is None:
            raise UnknownCallback
        outcome = await self._without_secrets(place, await self._called_back(place, body))
        digest = blake2b(key_text(body).encode(), digest_size=16).hexdigest()
        seen = Seen(f"callback/{id}", digest, self._node.clock.now() + RETENTION)
        if await self._tell(place, outcome, seen) == "accepted":
            return "accepted"
        if (await self._store.seen([seen]))[0]:
            return "repeated"
        raise AlreadyOver

    async def report(self, key: str, state: str, body: Any = None) -> str:
        """A task service tells the state of the `service` step with that `key`; it counts like a poll.

        Answers `ended`, `progress` (the step goes on), or `ignored`: nothing waits under that key any more.
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
        return "ended" if await self._tell(place, outcome) == "accepted" else "ignored"

    async def _approval(self, id: str) -> ApprovalRow:
        validate_texts(id=id)
        found = await self._store.approvals([id]) if len(id) < 1000 else []
        if not found:
            raise UnknownApproval(id)
        return found[0]

    async def _view_for(
        self, row: ApprovalRow, by: str | None, known: Refusals | None = None
    ) -> dict[str, Any]:
        barred = None if by is None or row.status != "open" else await self._barred(row, by, known)
        return {**approval_view(row), "barred": barred}

    async def _barred(self, row: ApprovalRow, by: str, known: Refusals | None = None) -> str | None:
        """What bars somebody from deciding, where the step asks for four eyes. `known` is what was found before."""
        said, known = msgspec.json.decode(row.body), {} if known is None else known
        if not said["separate"]:
            return None
        place = row.run, said["by"]
        if place not in known:
            known[place] = await barring(self._store, *place, by)
        return known[place]

    async def _tell(self, place: Attempted, outcome: Outcome, seen: Seen | None = None) -> Answer:
        if not is_result(outcome):
            outcome = redacted_outcome(outcome, await self._node.dispatch.redaction())
        told = Reported(place.firing, place.index, place.attempt, outcome, outside=True)
        return await self._node.commands.ask(place.run, told, seen=seen)

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
        """The attempt of a `service` step with that key that is under way."""
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


def approval_view(row: ApprovalRow) -> dict[str, Any]:
    """One approval as JSON."""
    said = msgspec.json.decode(row.body)
    return {
        "id": row.id,
        "run": row.run,
        "workflow": row.workflow,
        "subject": said["subject"],
        "step": row.step,
        "index": said["index"],
        "status": row.status,
        "role": row.role,
        "text": said["text"],
        "fields": said["fields"],
        "separate": said["separate"],
        "opened_at": time_text(row.opened_at),
        "due_at": time_text(row.due_at),
        "ended_at": time_text(row.ended_at),
        "decision": None if row.decision is None else msgspec.json.decode(row.decision),
    }


def _reject_decided(row: ApprovalRow) -> None:
    if row.status == "expired":
        raise ApprovalExpired(row.id, time_text(row.ended_at))
    if row.status != "open":
        first = None if row.decision is None else msgspec.json.decode(row.decision)
        raise AlreadyDecided(row.id, row.status, row.decided_by, time_text(row.ended_at), first)


async def _some(
    store: Approvals, which: Which, before: Before | None, limit: int
) -> tuple[list[ApprovalRow], Before | None]:
    """The next that are wanted, as many as there is room for, and behind which one to go on; None: those are all."""
    found: list[ApprovalRow] = []
    left = ROOM
    for _ in range(0, LOOKED, TOGETHER):
        rows = await store.approvals(status=which.status, before=before, limit=TOGETHER)
        for row in rows:
            if which.includes(row):
                left -= len(row.body) + len(row.decision or b"")
                if len(found) == limit or (found and left < 0):
                    return found, before
                found.append(row)
            before = row.opened_at, row.id
        if len(rows) < TOGETHER:
            return found, None
    return found, before
