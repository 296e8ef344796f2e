"""The inbox of approvals, and the callback addresses of functions."""

from __future__ import annotations

from datetime import datetime
from time import monotonic
from typing import Any

from msgspec.structs import asdict

from penstock.access.caller import Caller
from penstock.access.errors import Forbidden
from penstock.access.roles import ROLES
from penstock.api.call import Calls, RequestContext
from penstock.api.paging import Page
from penstock.api.request_body import raw_body, value_of
from penstock.api.wire.approvals import Approval, CalledBack, Decide, WhichApprovals
from penstock.runtime.errors import UnknownApproval, UnknownCallback
from penstock.runtime.queries.cursors import write_cursor

calls = Calls("approvals")
MAX_BODY = 1024 * 1024


@calls.get("/api/approvals", "read", query=WhichApprovals, gives=Page[Approval])
async def list_approvals(context: RequestContext[None, WhichApprovals]) -> Page[Approval]:
    """What people are, or were, asked to decide, the newest first; a page has fewer where they are large."""
    query, caller = context.query, context.caller
    found, last = await context.engine.approvals_page(
        status=None if query.status == "all" else query.status,
        workflow=query.workflow,
        limit=query.limit,
        before=query.place(tuple[datetime, str]),
        sees=None if caller.everywhere else caller.sees,
        by=caller.name,
    )
    return Page([_shown(each, caller) for each in found], None if last is None else write_cursor(last))


@calls.get("/api/approvals/{id}", "read", gives=Approval)
async def show_approval(context: RequestContext[None, None]) -> Approval:
    """One approval."""
    return _shown(await _found(context), context.caller)


@calls.post("/api/approvals/{id}", "operate", takes=Decide, gives=Approval)
async def decide_approval(context: RequestContext[Decide, None]) -> Approval:
    """Approve or reject, once: a second decision is answered with the first."""
    found = await _found(context)
    context.may("operate", found["workflow"])
    if not _may_decide(found, context.caller):
        roles = ROLES[ROLES.index(found["role"]) : ROLES.index("admin") + 1]
        raise Forbidden(context.caller.described, f"decide '{found['step']}'", roles)
    decided = await context.engine.decide(found["id"], **asdict(context.body), by=context.caller.name)
    return _shown(decided, context.caller)


@calls.post("/hooks/callback/{id}", "public", reads="raw", gives=CalledBack)
async def call_back(context: RequestContext[None, None]) -> CalledBack:
    """A function says how it ended, at the address that it was given: `{port, output, tags, data, error}`."""
    id, limiter = context.path["id"], context.service.limiters.hooks
    # Before the body is read: anybody may call, and a large one takes its time.
    if not await context.engine.knows_callback(id):
        limiter.check("callback", monotonic())
        raise UnknownCallback
    limiter.check(f"callback/{id}", monotonic())
    raw = await raw_body(context.request, MAX_BODY)
    body: Any = value_of(raw) if raw.strip() else None
    return CalledBack(await context.engine.call_back(id, body))  # type: ignore[arg-type]


async def _found(context: RequestContext[Any, None]) -> dict[str, Any]:
    found = await context.engine.approval(context.path["id"], context.caller.name)
    if not context.caller.sees(found["workflow"]):
        raise UnknownApproval(context.path["id"])
    return found


def _may_decide(found: dict[str, Any], caller: Caller) -> bool:
    """Whether the caller has the role that the step asks for, or one above it."""
    if caller.role == "worker" or not caller.may("operate", found["workflow"]):
        return False
    return ROLES.index(caller.role) >= ROLES.index(found["role"])


def _shown(found: dict[str, Any], caller: Caller) -> Approval:
    may = found["status"] == "open" and found["barred"] is None and _may_decide(found, caller)
    return Approval(**found, may_decide=may)
