"""What a handler gets, and what it gives back."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from msgspec import Struct
from starlette.requests import Request

from penstock.access.caller import Caller
from penstock.access.roles import Action
from penstock.api.service import Service
from penstock.engine.engine import Engine
from penstock.runtime.errors import NotFound, UnknownRun

B = TypeVar("B")
Q = TypeVar("Q")


class RequestContext(Struct, Generic[B, Q]):
    """One request, read and admitted: who asks, for what, with which values."""

    request: Request
    service: Service
    caller: Caller
    path: dict[str, str]
    body: B
    query: Q

    @property
    def engine(self) -> Engine:
        return self.service.engine

    def may(self, action: Action, workflow: str) -> None:
        """Raises UnknownWorkflow where the caller may not know of it, Forbidden where it may not do this to it."""
        self.caller.require(action, workflow)

    async def may_run(self, action: Action) -> str:
        """The id in the path. Raises UnknownRun where the caller may not know of it, Forbidden."""
        run = self.path["id"]
        if self.caller.everywhere:
            self.caller.require(action)
            return run
        workflow: str = (await self.engine.show(run))["workflow"]
        if not self.caller.sees(workflow):
            raise UnknownRun(run)
        self.caller.require(action, workflow)
        return run

    def number(self, name: str) -> int:
        """A whole number in the path. Raises NotFound where it is none: nothing has such a number."""
        text = self.path[name]
        # The whole of it, and not too long for `int`: digits behind the first twenty count, too.
        if not (text.isascii() and text.isdigit() and len(text) < 20 and 0 < int(text) < 2**63):
            raise NotFound(f"'{text[:80]}' is no number of anything here: numbers are 1, 2, 3 …")
        return int(text)


class Reply(Struct, frozen=True):
    """An answer with another status than the call's, or with headers."""

    value: Any = None
    status: int | None = None
    headers: dict[str, str] = {}
