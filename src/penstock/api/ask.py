"""What a handler gets, and what it gives back."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from msgspec import Struct
from starlette.requests import Request

from penstock.access.caller import Caller
from penstock.access.roles import Action
from penstock.api.service import Service
from penstock.engine.engine import Engine

B = TypeVar("B")
Q = TypeVar("Q")


class Ask(Struct, Generic[B, Q]):
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


class Reply(Struct, frozen=True):
    """An answer with another status than the call's, or with headers."""

    value: Any = None
    status: int | None = None
    headers: dict[str, str] = {}
