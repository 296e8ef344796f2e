"""Who asks."""

from __future__ import annotations

from msgspec import Struct

from penstock.access.errors import Forbidden
from penstock.access.roles import allows


class Caller(Struct, frozen=True, kw_only=True):
    name: str
    role: str
    token_id: str | None = None
    task_lists: tuple[str, ...] | None = None
    concurrency: int | None = None  # tasks that a worker token may hold at once

    def serves(self, task_list: str) -> bool:
        """Whether it may do the tasks of a list."""
        lists = self.task_lists
        return allows(self.role, "work") and (lists is None or task_list in lists or "*" in lists)

    def require(self, action: str, workflow: str | None = None) -> None:
        if not allows(self.role, action):
            raise Forbidden(f"the role {self.role} may not do this")


ANYBODY_HERE = Caller(name="local", role="admin")
NOBODY = Caller(name="nobody", role="none")
