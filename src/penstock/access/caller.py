"""The caller of a request: what it may do, and for which workflows and task lists."""

from __future__ import annotations

from msgspec import Struct

from penstock.access.errors import Forbidden
from penstock.access.roles import ALLOWED, Action, Role, roles_for
from penstock.flow.values.name_patterns import matches
from penstock.flow.values.payload import storable_text as _kept
from penstock.runtime.errors import UnknownWorkflow
from penstock.store.rows.access import AuditRow


class Caller(Struct, frozen=True, kw_only=True):
    """Somebody who was let in. `workflows` and `task_lists` None: all; otherwise names, `*` stands for anything."""

    name: str
    role: Role
    token_id: str | None = None
    workflows: tuple[str, ...] | None = None
    task_lists: tuple[str, ...] | None = None
    concurrency: int | None = None  # tasks that a worker token may hold at once
    ip: str | None = None
    local: bool = False  # on loopback, without sign-in

    def may(self, action: Action, workflow: str | None = None) -> bool:
        """Whether it may do this, to this workflow where one is named.

        Who is bound to workflows may never do what concerns the whole installation: no `admin`.
        """
        if action not in ALLOWED[self.role] or (action == "admin" and self.workflows is not None):
            return False
        return workflow is None or self.sees(workflow)

    def sees(self, workflow: str) -> bool:
        """Whether it may know of a workflow."""
        return self.workflows is None or matches(self.workflows, workflow)

    def serves(self, task_list: str) -> bool:
        """Whether it may do the tasks of a list."""
        return self.may("work") and matches(self.task_lists, task_list)

    @property
    def everywhere(self) -> bool:
        """Whether it is bound to no workflow: only then may it act on all of them at once."""
        return self.workflows is None

    def require(self, action: Action, workflow: str | None = None) -> None:
        """Raises Forbidden where it may not do this, UnknownWorkflow where it may not know of the workflow."""
        if workflow is not None and not self.sees(workflow):
            raise UnknownWorkflow(workflow)
        if not self.may(action):
            raise Forbidden(self.described, f"do what needs '{action}'", roles_for(action))

    @property
    def described(self) -> str:
        """For sentences."""
        bound = "" if self.workflows is None else ", bound to some workflows"
        return f"'{self.name}' ({self.role}{bound})"

    def audit(
        self,
        action: str,
        target: str,
        *,
        after: bytes | None = None,
        reason: str | None = None,
    ) -> AuditRow:
        """The record of something that it does, to be written in the same transaction. Hashes by `digest_of`."""
        return AuditRow(
            actor=bounded_text(self.name),
            token_id=self.token_id,
            ip=self.ip,
            action=action,
            target=bounded_text(target),
            after=after,
            reason=None if reason is None else bounded_text(reason),
        )


ANYBODY_HERE = Caller(name="local", role="admin", local=True)
"""Whoever is on this machine, where Penstock is bound to loopback and asks nobody to sign in."""

NOBODY = Caller(name="nobody", role="viewer", workflows=())
"""Whoever asks for what is public: it sees no workflow."""

_TEXT = 1000


def bounded_text(text: str) -> str:
    """A text as both databases can keep it, and not longer than anybody reads."""
    return _kept(text[:_TEXT])
