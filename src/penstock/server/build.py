"""From settings to a server that answers: who may come in, where it listens, what it serves."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import aiohttp
from msgspec import Struct

from penstock.access.access import Access
from penstock.access.claims import OidcSettings
from penstock.access.oidc import Oidc
from penstock.access.origin import is_loopback_host
from penstock.access.provider import Provider
from penstock.access.tokens import SHORTEST_OWN
from penstock.api.app import App
from penstock.api.service import Service
from penstock.api.table import CALLS
from penstock.boxes.task_environment import TaskEnvironment
from penstock.engine.engine import Engine
from penstock.engine.services import EngineServices
from penstock.flow.errors import PenstockError
from penstock.secrets.keys import Keys
from penstock.secrets.vault import Vault
from penstock.server.http import serving_on
from penstock.server.settings import Settings
from penstock.store.errors import NeedsMigration
from penstock.store.open import is_shared, open_store, sqlite_path
from penstock.store.protocol import Store
from penstock_release.api import calls_for
from penstock_release.api.answers import PART
from penstock_release.coordinator import Coordinator
from penstock_release.options import Options


class NeedsToken(PenstockError):
    """The server would be open to other machines, and nobody could sign in."""

    code = "needs_token"

    def __init__(self, host: str) -> None:
        super().__init__(
            f"{host} can be reached from other machines, so sign-in is needed: make a token with "
            "`penstock access create --role admin --db URL`, or set PENSTOCK_TOKEN to the first admin token"
        )


class WeakToken(PenstockError):
    """The first admin token is too short."""

    code = "weak_token"

    def __init__(self) -> None:
        super().__init__(
            f"PENSTOCK_TOKEN is too short to be a token: use {SHORTEST_OWN} characters or more, such as "
            "`openssl rand -hex 32` makes them"
        )


class Front(Struct, frozen=True):
    """Where a server listens, the token that an administrator may come in with, and what else it is told."""

    host: str
    port: int
    token: str | None = None
    oidc: OidcSettings | None = None
    topics: tuple[str, ...] = ()
    settings: list[dict[str, Any]] = []  # for people
    proxies: tuple[str, ...] = ()  # whose word on where a request comes from counts
    releases: Options | None = None  # how releases are coordinated, where they are

    @property
    def local(self) -> bool:
        """Whether only this machine can reach it."""
        return is_loopback_host(f"[{self.host}]" if ":" in self.host else self.host)

    @property
    def open(self) -> bool:
        """Whether nobody needs to sign in: it is local, and no way to sign in is set."""
        return self.local and self.token is None and self.oidc is None


def require_sign_in(front: Front, tokens: bool = False) -> None:
    """Beyond loopback somebody must be able to sign in; `tokens` says that the database knows some.

    Raises NeedsToken, WeakToken. Nothing was opened yet.
    """
    if front.token is not None and len(front.token) < SHORTEST_OWN:
        raise WeakToken
    if not front.local and front.token is None and not tokens:
        raise NeedsToken(front.host)


def access_to(store: Store, db: str) -> Access:
    """The doors of what is kept at `db`, and its secrets."""
    return Access(store, Vault(store, Keys.of(db)))


async def has_tokens(db: str) -> bool:
    """Whether somebody could sign in with a token that the database has; it is not made where it is not there."""
    if not is_shared(db) and not os.path.exists(sqlite_path(db)[0]):
        return False
    try:
        store = await open_store(db, migrate=False)
    except NeedsMigration:
        return False
    try:
        return any(row.state == "live" for row in await store.access_tokens(limit=1000))
    finally:
        await store.close()


def task_environment_of(settings: Settings) -> TaskEnvironment:
    """What built-in tasks may reach, as the settings say."""
    return TaskEnvironment(**{name: settings[name] for name in ("egress_allow", "smtp_url", "public_url")})


def releases_of(settings: Settings) -> Options:
    """How releases are coordinated, as the settings say."""
    names = ("poll_interval", "request_timeout", "task_timeout", "timeout", "token", "oauth", "open_reports")
    return Options(**{name: settings[f"release_{name}"] for name in (*names, "dataservice_url")})


@asynccontextmanager
async def answering(
    running: EngineServices, front: Front, listener: socket.socket, begun: asyncio.Event | None = None
) -> AsyncIterator[str]:
    """Serve the API of what is running while the block runs; its address. At the end calls under way are finished.

    Where there is a `begun`, it is not ready before that is set.
    """
    access = Access(running.store, running.vault, front.token)
    async with AsyncExitStack() as stack:
        service = await Service.of(
            Engine(running=running),
            access,
            topics=front.topics,
            oidc=await _identity(front.oidc, running.store, stack),
            open=front.open,
            settings=front.settings,
            begun=begun,
        )
        calls = CALLS if front.releases is None else (*CALLS, *calls_for(front.releases))
        if front.releases is not None:
            service.parts[PART] = await stack.enter_async_context(Coordinator(service.engine, front.releases))
        base = await stack.enter_async_context(serving_on(App(service, calls), listener, front.proxies))
        if running.environment is not None:
            running.environment.public_url = running.environment.public_url or base
        await running.serve_boxes()
        yield base


async def _identity(settings: OidcSettings | None, store: Store, stack: AsyncExitStack) -> Oidc | None:
    if settings is None:
        return None
    http = await stack.enter_async_context(aiohttp.ClientSession())
    return Oidc(settings, store, Provider(settings.issuer, http))
