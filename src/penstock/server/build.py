"""From settings to a server that answers: who may come in, where it listens, what it serves."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from hmac import compare_digest

from msgspec import Struct

from penstock import __version__
from penstock.access.caller import Caller
from penstock.access.errors import Unauthenticated
from penstock.api.app import App
from penstock.api.guard import is_loopback
from penstock.api.openapi import describe
from penstock.api.service import Doors, Service
from penstock.api.table import CALLS
from penstock.engine.engine import Engine
from penstock.engine.running import Running
from penstock.flow.errors import PenstockError
from penstock.server.http import bind, serving_on

LEAST_TOKEN = 16
"""Characters below which a token could be guessed."""


class NeedsToken(PenstockError):
    """The server would be open to other machines, and nobody could sign in."""

    code = "needs_token"

    def __init__(self, host: str) -> None:
        super().__init__(
            f"{host} can be reached from other machines, so sign-in is needed: make a token with "
            "`penstock access create --role admin --db URL`, or set PENSTOCK_TOKEN to the first admin token"
        )
        self.host = host


class WeakToken(PenstockError):
    """The first admin token is too short."""

    code = "weak_token"

    def __init__(self) -> None:
        super().__init__(
            f"PENSTOCK_TOKEN is too short to be a token: use {LEAST_TOKEN} characters or more, at random"
        )


class Front(Struct, frozen=True):
    """Where a server listens, and the token that an administrator may come in with."""

    host: str
    port: int
    token: str | None = None

    @property
    def local(self) -> bool:
        """Whether only this machine can reach it: then nobody needs to sign in."""
        return is_loopback(self.host)


class FirstToken:
    """Lets in who shows the token of the settings, as administrator; all others are asked for at the next door."""

    def __init__(self, token: str, next: Doors | None = None) -> None:
        self._token, self._next = token.encode(), next

    async def authenticate(self, bearer: str) -> Caller:
        """Whose token it is. Raises Unauthenticated."""
        if compare_digest(bearer.encode(), self._token):
            return Caller(name="first", role="admin")
        if self._next is None:
            raise Unauthenticated("the token is not known here")
        return await self._next.authenticate(bearer)


def refuse_open(front: Front, tokens: bool = False) -> None:
    """Beyond loopback somebody must be able to sign in; `tokens` says that the database knows some.

    Raises NeedsToken, WeakToken. Nothing was opened yet.
    """
    if front.token is not None and len(front.token) < LEAST_TOKEN:
        raise WeakToken
    if not front.local and front.token is None and not tokens:
        raise NeedsToken(front.host)


def opened(front: Front) -> socket.socket:
    """The bound socket: whoever calls before the server is ready waits. Raises PortTaken."""
    return bind(front.host, front.port)


@asynccontextmanager
async def answering(running: Running, front: Front, listener: socket.socket) -> AsyncIterator[str]:
    """Serve the API of what is running while the block runs; its address. At the end calls under way are finished."""
    service = Service(
        engine=Engine(running=running),
        store=running.store,
        doors=FirstToken(front.token) if front.token else None,
        open=front.local,
        description=describe(CALLS, __version__),
    )
    async with serving_on(App(service, CALLS), listener) as base:
        yield base
