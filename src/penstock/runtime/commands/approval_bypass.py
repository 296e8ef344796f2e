"""Only a caller who may give an approval may bypass it by skipping it or injecting its events."""

from __future__ import annotations

from collections.abc import Iterable
from contextvars import ContextVar

from penstock.flow.compile.compile import APPROVAL, Flow
from penstock.flow.errors import PenstockError
from penstock.flow.model.run_input import Put
from penstock.runtime.errors import NotSeparate
from penstock.runtime.node.audit_context import CALLER_NAME
from penstock.runtime.node.run_cache import CachedRun
from penstock.steps.approval import ROLES
from penstock.store.protocol import Approvals

ROLE: ContextVar[str | None] = ContextVar("penstock_role", default=None)
"""The role of the caller; None if the program itself calls."""

ADMIN = ROLES[-1]
"""May bypass any approval, because somebody must be able to help; the audit log records it."""


class NotTheirs(PenstockError):
    """Only another role may give an approval, and therefore bypass it."""

    code = "not_theirs"

    def __init__(self, step: str, role: str) -> None:
        super().__init__(
            f"'{step}' is an approval for the role {role}, and bypassing it would be giving it: ask a person who may"
        )


async def reject_approval_bypass(
    store: Approvals, live: CachedRun, steps: Iterable[str], begins: bool = False
) -> None:
    """Raises NotTheirs or NotSeparate if one of the steps is an approval that the caller may not give.

    `begins`: the caller starts a run after it, and so counts as the starter of that run.
    """
    role, who, run = ROLE.get(), CALLER_NAME.get() or "", live.snapshot.run
    if role in (None, ADMIN):
        return
    for name in steps:
        wants, separate = asked_by(live.flow, name)
        if role not in ROLES[ROLES.index(wants) :]:
            raise NotTheirs(name, wants)
        if separate and (why := await barring(store, run.id, who if begins else run.by, who)) is not None:
            raise NotSeparate(who, why)


async def barring(store: Approvals, run: str, starter: str | None, who: str) -> str | None:
    """Four eyes: what a person did that bars them from an approval of a run, such as `started the run`."""
    if starter == who:
        return "started the run"
    decided = any(each.decided_by == who for each in await store.approvals(run=run))
    return "decided in this run before" if decided else None


def asked_by(flow: Flow, step: str) -> tuple[str, bool]:
    """The role that an approval needs (the strictest, if a template fills it in), and whether it needs four eyes."""
    said = flow.definition.steps[step].params or {}
    role = said.get("role", ROLES[0])
    return role if role in ROLES else ADMIN, said.get("separate", False) is not False


def approvals_in(flow: Flow, steps: Iterable[str]) -> list[str]:
    """Those of the steps that are approvals."""
    return [name for name in steps if name in flow.steps and flow.steps[name].task == APPROVAL]


def approvals_left_out(live: CachedRun, puts: Iterable[Put]) -> list[str]:
    """The approvals that these events would bypass."""
    flow, given = live.flow, list(puts)
    events, into = {put.event for put in given}, {put.step for put in given}
    return [
        name
        for name in approvals_in(flow, flow.steps)
        if any(not events.isdisjoint(way.names) for way in flow.steps[name].ways.values())
        or not (_has_spoken(live, name) or behind(flow, name).isdisjoint(into))
    ]


def _has_spoken(live: CachedRun, step: str) -> bool:
    state = live.snapshot.steps.get(step)
    return state is not None and state.spoke


def behind(flow: Flow, step: str) -> set[str]:
    """The steps that may begin because this one ended, at once or later."""
    found: set[str] = set()
    todo = [step]
    while todo:
        for events in flow.wiring.by_name[todo.pop()].fires.values():
            takers = (slot for event in events for slot in flow.wiring.takers.get(event, ()))
            fresh = {flow.wiring.steps[slot.step].name for slot in takers} - found
            found |= fresh
            todo += fresh
    return found
