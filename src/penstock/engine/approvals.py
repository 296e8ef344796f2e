"""The part of the engine for people who decide: open approvals, and the decision about one."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

import msgspec
from msgspec import Struct

from penstock.boxes.callback_tokens import Attempted
from penstock.engine.approval_form import Form, port_of
from penstock.engine.callbacks import report_end
from penstock.flow.views.run_view import time_text
from penstock.runtime.commands.approval_bypass import barring
from penstock.runtime.commands.validation import validate_texts
from penstock.runtime.decisions.children import parent_of
from penstock.runtime.errors import (
    AlreadyDecided,
    ApprovalExpired,
    NotSeparate,
    UnknownApproval,
)
from penstock.runtime.node.node import Node
from penstock.runtime.queries.history import MAX_PAGE_BYTES
from penstock.store.protocol import Approvals
from penstock.store.rows.rows import ApprovalRow

Before = tuple[datetime, str]
Refusals = dict[tuple[str, str | None], str | None]
"""What bars a person, by run and starter: a run may have thousands of approvals, and each one is checked."""
MAX_APPROVALS_READ, MAX_APPROVALS_PER_READ = 1_000, 64
"""Approvals that one page reads (if few match, it would read them all), and those read at a time."""


class Which(Struct, frozen=True, kw_only=True):
    """Approvals that somebody asks for: see `ApprovalDecisions.approvals`."""

    status: str | None = "open"
    workflow: str | None = None
    sees: Callable[[str], bool] | None = None
    by: str | None = None

    def includes(self, row: ApprovalRow) -> bool:
        return self.workflow in (None, row.workflow) and (self.sees is None or self.sees(row.workflow))


class ApprovalDecisions:
    """Lists approvals and decides them."""

    def __init__(self, store: Approvals, node: Node) -> None:
        self._store, self._node = store, node

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
        """The next page, with fewer than `limit` if they are large or few match, and the position after it."""
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
        if await report_end(self._node, Attempted(*place), done) != "accepted":
            _reject_decided(await self._approval(id))
            raise AlreadyDecided(id, "closed", None, now or "")
        return await self._view_for(await self._approval(id), by)

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
    """The next matching approvals that fit the page, and the position after them; None if the list ends here."""
    found: list[ApprovalRow] = []
    left = MAX_PAGE_BYTES
    for _ in range(0, MAX_APPROVALS_READ, MAX_APPROVALS_PER_READ):
        rows = await store.approvals(status=which.status, before=before, limit=MAX_APPROVALS_PER_READ)
        for row in rows:
            if which.includes(row):
                left -= len(row.body) + len(row.decision or b"")
                if len(found) == limit or (found and left < 0):
                    return found, before
                found.append(row)
            before = row.opened_at, row.id
        if len(rows) < MAX_APPROVALS_PER_READ:
            return found, None
    return found, before
