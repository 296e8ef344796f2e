"""Questions to people: who may decide one, and so who may let a run go past it."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from penstock.access.caller import Caller
from penstock.access.errors import Forbidden
from penstock.access.roles import ROLES
from penstock.api.ask import Ask
from penstock.runtime.errors import NotSeparate


def may_decide(caller: Caller, workflow: str, role: str) -> bool:
    """Whether the caller has the role that a step asks for, or one above it."""
    if caller.role == "worker" or not caller.may("operate", workflow):
        return False
    return ROLES.index(caller.role) >= ROLES.index(role)


def no_decider(caller: Caller, step: str, role: str) -> Forbidden:
    roles = ROLES[ROLES.index(role) : ROLES.index("admin") + 1]
    return Forbidden(caller.described, f"decide '{step}'", roles)


async def may_go_past(
    ask: Ask[Any, Any],
    run: str,
    *,
    steps: Collection[str] = (),
    into: Collection[str] = (),
    workflow: str | None = None,
) -> None:
    """Who ends `steps` of a run by hand, or puts events into those of `into`, must be one who could decide the
    approvals that this leaves out. Raises Forbidden, NotSeparate, UnknownRun."""
    caller = ask.caller
    for each in await ask.engine.questions(run, caller.name, steps=steps, into=into, workflow=workflow):
        if not may_decide(caller, each["workflow"], each["role"]):
            raise no_decider(caller, each["step"], each["role"])
        if each["barred"] is not None:
            raise NotSeparate(caller.name, each["barred"])
