"""Notifications of object stores, which verify themselves."""

from __future__ import annotations

from time import monotonic

from penstock.api.call import Calls, Reply, RequestContext
from penstock.api.request_body import raw_body
from penstock.api.routes.hooks import KINDS
from penstock.sources.hooks.envelope import Call
from penstock.sources.objects.notifications import Told

calls = Calls("hooks")
MAX_BODY = 1024 * 1024


@calls.post("/hooks/s3/{store}", "public", reads="raw", accepts=KINDS, gives=Told, statuses=(201,))
async def notify_of_objects(context: RequestContext[None, None]) -> Reply:
    """Tell which objects of a store came or went: Amazon, MinIO, Ceph, EventBridge, SNS and CloudEvents."""
    request, store = context.request, context.path["store"]
    context.service.limiters.hooks.check(f"s3/{store}", monotonic())
    call = Call(dict(request.headers), await raw_body(request, MAX_BODY), dict(request.query_params))
    told = await context.service.objects.receive(store, call)
    return Reply(told, 201 if told.started else 200)
