"""Hooks: calls from outside that verify themselves."""

from __future__ import annotations

from time import monotonic
from typing import Any

from starlette.responses import Response

from penstock.api.call import Calls, Reply, RequestContext
from penstock.api.paging import Counted, Page
from penstock.api.request_body import raw_body
from penstock.flow.values.payload import payload_limit
from penstock.secrets.errors import SecretKeyError
from penstock.sources.hooks.envelope import Call
from penstock.sources.hooks.hook_list import HookLine
from penstock.sources.hooks.hooks import Received

calls = Calls("hooks")
KINDS = (
    "application/json",
    "application/cloudevents+json",
    "application/cloudevents-batch+json",
    "text/plain",
)


@calls.get("/api/hooks", "read", query=Counted, gives=Page[HookLine])
async def list_hooks(context: RequestContext[None, Counted]) -> Any:
    """The addresses that take calls: those that start runs, and those that fire events into them."""
    found = await context.service.hooks.all()
    return context.query.cut([each for each in found if context.caller.sees(each.workflow)])


@calls.post("/hooks/{workflow}", "public", reads="raw", accepts=KINDS, gives=Received, statuses=(201, 202))
async def start_by_hook(context: RequestContext[None, None]) -> Any:
    """Start a run by a signed call; it is durable when this answers, and a repeat changes nothing."""
    return await _receive(context, None)


@calls.post(
    "/hooks/{workflow}/{event}", "public", reads="raw", accepts=KINDS, gives=Received, statuses=(201, 202)
)
async def emit_by_hook(context: RequestContext[None, None]) -> Any:
    """Fire an event by a signed call into the run that has the key that it carries."""
    return await _receive(context, context.path["event"])


@calls.options("/hooks/{workflow}", "public", status=200)
async def consent_to_start(context: RequestContext[None, None]) -> Response:
    """The handshake of CloudEvents: which origins may send here."""
    return await _consent(context, None)


@calls.options("/hooks/{workflow}/{event}", "public", status=200)
async def consent_to_emit(context: RequestContext[None, None]) -> Response:
    """The handshake of CloudEvents: which origins may send here."""
    return await _consent(context, context.path["event"])


async def _receive(context: RequestContext[None, None], event: str | None) -> Reply:
    request, workflow = context.request, context.path["workflow"]
    context.service.limiters.hooks.check(f"{workflow}/{event or ''}", monotonic())
    body = await raw_body(request, payload_limit())
    call = Call(dict(request.headers), body, dict(request.query_params))
    try:
        received = await context.service.hooks.receive(workflow, event, call)
    except SecretKeyError as error:
        # The caller is not authenticated. Operators see at /ready which key is missing.
        raise SecretKeyError(
            "the call cannot be verified now: this node lacks a key of its secrets"
        ) from error
    return Reply(received, received.status)


async def _consent(context: RequestContext[None, None], event: str | None) -> Response:
    answer = await context.service.hooks.consent(
        context.path["workflow"], event, dict(context.request.headers)
    )
    return Response(None, answer.status, answer.headers)
