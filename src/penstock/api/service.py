"""What handlers may use: the parts of one running Penstock."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from msgspec import Struct, field

from penstock.access.access import Access
from penstock.access.oidc import Oidc
from penstock.access.rate_limits import HOOK_RATE, LOGIN_RATE, TOKEN_RATE, Limiter
from penstock.api.readiness import Readiness
from penstock.api.streams import Streams
from penstock.api.work.worker_registry import WorkerRegistry
from penstock.engine.engine import Engine
from penstock.metrics.prometheus import Metrics
from penstock.objects.stores import Stores
from penstock.sources.hooks.hooks import Hooks
from penstock.sources.objects.notifications import ObjectHooks
from penstock.sources.objects.starts import ObjectStarts
from penstock.store.protocol import Maintenance, Notes, WorkflowVersions


class Limiters(Struct):
    """How fast anybody may ask."""

    tokens: Limiter = field(default_factory=lambda: Limiter(TOKEN_RATE))
    hooks: Limiter = field(default_factory=lambda: Limiter(HOOK_RATE))
    logins: Limiter = field(default_factory=lambda: Limiter(LOGIN_RATE))


class ServiceRows(Maintenance, Notes, WorkflowVersions, Protocol):
    """What calls read besides what the engine does for them."""


class Service(Struct, kw_only=True):
    """One Penstock behind an HTTP surface. `open` says that it is bound to loopback and needs no sign-in."""

    engine: Engine
    store: ServiceRows
    access: Access
    hooks: Hooks
    objects: ObjectHooks
    stores: Stores
    metrics: Metrics
    oidc: Oidc | None = None
    open: bool = False
    describe: Callable[[], dict[str, Any]] = dict  # its calls, as OpenAPI
    streams: Streams = field(default_factory=Streams)
    settings: list[dict[str, Any]] = []  # what is in force, for people
    limiters: Limiters = field(default_factory=Limiters)
    pulse: Readiness = field(default_factory=Readiness)
    worker_registry: WorkerRegistry = field(default_factory=WorkerRegistry)  # of workers that come over HTTP
    begun: asyncio.Event | None = None  # set when everything that it must serve exists; None: it does
    parts: dict[str, Any] = field(default_factory=dict)  # applications that are served too, by name

    @classmethod
    async def of(cls, engine: Engine, access: Access, *, topics: Sequence[str] = (), **more: Any) -> Service:
        """The service of an engine, which is opened for it; `topics` are those of SNS that every hook takes."""
        running = await engine.running()
        node, worker = running.node, running.worker
        running.vault = access.vault
        node.dispatch.redaction = access.vault.redaction
        if (environment := running.environment) is not None and environment.secrets is None:
            environment.secrets = access.vault.resolve
        hooks = Hooks(running.store, node.flows, node.commands, access.vault.secret, topics=topics)
        stores = running.means.stores
        stores.secrets = access.vault.secret
        objects = ObjectHooks(hooks, stores, ObjectStarts(running.store, node.flows, node.commands, stores))
        counts = None if worker is None else worker.counts
        metrics = Metrics(node, counts=counts, hooks=hooks, trigger_counts=running.triggers)
        return cls(
            engine=engine,
            store=running.store,
            access=access,
            hooks=hooks,
            objects=objects,
            stores=stores,
            metrics=metrics,
            **more,
        )
