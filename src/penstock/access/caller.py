"""Who asks."""

from __future__ import annotations

from msgspec import Struct

from penstock.access.errors import Forbidden
from penstock.access.roles import allows


class Caller(Struct, frozen=True, kw_only=True):
    name: str
    role: str

    def require(self, action: str, workflow: str | None = None) -> None:
        if not allows(self.role, action):
            raise Forbidden(f"the role {self.role} may not do this")

    def may(self, action: str, workflow: str | None = None) -> bool:
        return allows(self.role, action)

    def sees(self, workflow: str) -> bool:
        return True

    @property
    def everywhere(self) -> bool:
        return True


ANYBODY_HERE = Caller(name="local", role="admin")
NOBODY = Caller(name="nobody", role="none")
