"""Liveness, readiness, and what the server offers."""

from __future__ import annotations

from typing import Any

from msgspec import Struct
from starlette.responses import Response

from penstock.api.call import Calls, Reply, RequestContext
from penstock.api.readiness import Trouble

calls = Calls("operations")


class Health(Struct):
    """`status` is `ok`, or `away`, `locked` or `starting` with the reason."""

    status: str
    detail: str | None = None


@calls.get("/health", "public", gives=Health)
async def health(context: RequestContext[None, None]) -> Health:
    """Whether the process is alive."""
    return Health("ok")


@calls.get("/ready", "public", gives=Health, statuses=(503,))
async def ready(context: RequestContext[None, None]) -> Any:
    """Whether the process can do its work: database and secrets are accessible, and its workflows are started."""
    service = context.service
    if trouble := await service.pulse.trouble(service.access.vault):
        return Reply(Health(trouble, _REASONS[trouble]), 503)
    if service.begun is None or service.begun.is_set():
        return Health("ok")
    return Reply(Health("starting", "the workflows that it was given are not all started yet"), 503)


_REASONS: dict[Trouble, str] = {
    "away": "the database does not answer: the log of the server says why",
    "locked": "this node cannot open the secrets: its log says which key it lacks, or which is none, and what to do",
}


@calls.get("/metrics", "read", everywhere=True, media="text/plain; version=0.0.4")
async def metrics(context: RequestContext[None, None]) -> Response:
    """What Prometheus reads."""
    body, media = await context.service.metrics.exposition(context.request.headers.get("accept", ""))
    return Response(body, media_type=media)


@calls.get("/openapi.json", "public", gives=dict[str, Any])
async def openapi(context: RequestContext[None, None]) -> Any:
    """This description."""
    return context.service.describe()
