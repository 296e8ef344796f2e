"""What people who decide send and receive."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from penstock.api.paging import Paged

ApprovalStatus = Literal["open", "approved", "rejected", "expired", "closed"]


class WhichApprovals(Paged, kw_only=True, forbid_unknown_fields=True):
    """Which approvals: those that are open, unless said otherwise."""

    status: ApprovalStatus | Literal["all"] = "open"
    workflow: str | None = None


class Approval(Struct, kw_only=True):
    """What somebody is asked to decide; `may_decide` says whether the caller may, `barred` why four eyes forbid it."""

    id: str
    run: str
    workflow: str
    subject: str | None
    step: str
    index: int | None
    status: ApprovalStatus
    role: str
    text: str | None
    fields: Any
    separate: bool
    opened_at: str
    due_at: str | None
    ended_at: str | None
    decision: Any
    may_decide: bool
    barred: str | None = None


class Decide(Struct, kw_only=True, forbid_unknown_fields=True):
    """A decision, with what the form asks for."""

    decision: Literal["approved", "rejected"]
    fields: dict[str, Any] | None = None
    comment: Annotated[str, Meta(max_length=4000)] | None = None


class CalledBack(Struct):
    """Whether the call ended the step, or came before."""

    status: Literal["accepted", "repeated"]
