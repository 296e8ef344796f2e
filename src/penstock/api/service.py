"""What handlers may use: the parts of one running Penstock."""

from __future__ import annotations

from typing import Any, Protocol

from msgspec import Struct, field

from penstock.access.caller import Caller
from penstock.api.streams import Streams
from penstock.engine.engine import Engine


class Doors(Protocol):
    """Who may come in."""

    async def authenticate(self, bearer: str) -> Caller:
        """Whose token it is. Raises Unauthenticated."""
        ...


class Service(Struct, kw_only=True):
    """One Penstock behind an HTTP surface. `open` says that it is bound to loopback and needs no sign-in."""

    engine: Engine
    doors: Doors | None = None
    open: bool = False
    description: dict[str, Any] = {}
    streams: Streams = field(default_factory=Streams)
