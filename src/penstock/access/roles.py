"""Roles and what each may do: one table. Whatever is not in it is forbidden."""

from __future__ import annotations

from typing import Literal, get_args

Role = Literal["viewer", "operator", "author", "admin", "worker"]
"""viewer < operator < author < admin; `worker` stands apart: it does tasks and sees nothing else."""

Action = Literal["public", "read", "operate", "repair", "author", "admin", "work"]
"""What a call is about.

public   health, readiness and hooks: they need no sign-in, or verify the sender themselves
read     look at workflows, runs and queues
operate  start, emit, cancel, pause, retry, rerun, skip, approve, also in bulk
repair   change tokens and markings of runs
author   write drafts, publish, start and stop sources
admin    tokens, secrets, settings, the audit, overriding checks
work     poll for tasks and report on them
"""

ROLES: tuple[Role, ...] = get_args(Role)
ACTIONS: tuple[Action, ...] = get_args(Action)

_VIEWER: frozenset[Action] = frozenset({"public", "read"})
_OPERATOR: frozenset[Action] = _VIEWER | {"operate", "repair"}
_AUTHOR: frozenset[Action] = _OPERATOR | {"author"}

ALLOWED: dict[Role, frozenset[Action]] = {
    "viewer": _VIEWER,
    "operator": _OPERATOR,
    "author": _AUTHOR,
    "admin": frozenset(ACTIONS),
    "worker": frozenset({"public", "work"}),
}


def allows(role: Role, action: Action) -> bool:
    """Whether a role may do an action; a role or action that is not known may nothing."""
    return action in ALLOWED.get(role, frozenset())


def role_named(name: str) -> Role | None:
    """A role as it was written down; None: there is no such role."""
    return next((role for role in ROLES if role == name), None)


def roles_for(action: Action) -> tuple[Role, ...]:
    """Who may do an action, for the sentence that refuses somebody else."""
    return tuple(role for role in ROLES if allows(role, action))
