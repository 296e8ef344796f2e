"""Tasks: workers poll for them and report; authors see which tasks exist."""

from __future__ import annotations

from typing import Any, TypeVar

from msgspec.structs import replace

from penstock.api.call import Calls, RequestContext
from penstock.api.paging import Counted, Page
from penstock.api.problems import status_of
from penstock.api.request_body import BodyTooLarge, NotFitting, fit, raw_body, validate_content_type, value_of
from penstock.api.wire.tasks import Complete, Fail, Heartbeat, Log, Release, Renewed, TaskTaken
from penstock.api.work.errors import ResultTooLarge
from penstock.api.work.offers import TaskOffer, palette, take_offers
from penstock.api.work.poll import poll
from penstock.api.work.reports import Answer, take
from penstock.api.work.worker_registry import WorkerCall, worker_key
from penstock.flow.errors import PenstockError
from penstock.store.rows.rows import Renewal
from penstock.workers.wire import (
    MAX_BATCH,
    AllTold,
    Completion,
    Fault,
    Item,
    Items,
    Leaving,
    Nothing,
    Offers,
    Poll,
    Polled,
    Sign,
    Told,
    Written,
)

calls = Calls("tasks")
T = TypeVar("T")

MAX_REPORT = 8 * 1024 * 1024
"""Bytes of one report in a batch."""
MAX_DISCARDED = 64 * 1024 * 1024
"""Bytes of a too large body after which the server disconnects."""
TAKEN = TaskTaken("taken")


@calls.post("/api/tasks/poll", "work", takes=Poll, gives=Polled)
async def poll_tasks(context: RequestContext[Poll, None]) -> Any:
    """Wait for work; answered as soon as there is some, or with none after `wait` seconds."""
    return await poll(await _call(context), context.body, context.request)


@calls.post("/api/tasks/report", "work", takes=Items, gives=AllTold, reads="raw")
async def report_tasks(context: RequestContext[None, None]) -> Any:
    """Many things that one worker has to say of its tasks, each answered by itself."""
    body, size, wrong = await _read_items(context)
    call = await _call(context)
    answers = await take(call, body.items, worker=body.worker, small=size <= call.registry.limit)
    told = [_item_answer(item.id, answer) for item, answer in zip(body.items, answers, strict=True)]
    for number, each in wrong:
        told.insert(number, each)
    redact = context.service.access.vault.redactor.redact
    told = [each if each.detail is None else replace(each, detail=redact(each.detail)) for each in told]
    return AllTold(told, call.behind.now())


@calls.post("/api/tasks/{id}/heartbeat", "work", takes=Heartbeat, gives=Renewed, reads="raw")
async def heartbeat_task(context: RequestContext[None, None]) -> Any:
    """Renew the lease and say how far the task is; 409 with `cancel` where the work is no longer wanted."""
    body, _ = await _read(context, Heartbeat)
    answer = await _say(context, body.lease, heartbeat=Sign(progress=body.progress))
    assert isinstance(answer, Renewal) and answer.expires is not None
    now = (await _call(context)).behind.now()
    return Renewed(cancel=False, deadline=answer.deadline, expires=answer.expires, now=now)


@calls.post("/api/tasks/{id}/complete", "work", takes=Complete, gives=TaskTaken, reads="raw")
async def complete_task(context: RequestContext[None, None]) -> Any:
    """The task ended on a port; the same body again is answered as the first was."""
    body, _ = await _read(context, Complete)
    said = Completion(
        port=body.port, output=body.output, tags=body.tags, set=body.set, correlate=body.correlate
    )
    await _say(context, body.lease, complete=said)
    return TAKEN


@calls.post("/api/tasks/{id}/fail", "work", takes=Fail, gives=TaskTaken, reads="raw")
async def fail_task(context: RequestContext[None, None]) -> Any:
    """The task failed; it is tried again as the step says, or never with `retry: false`."""
    body, _ = await _read(context, Fail)
    fault = Fault(error=body.error, retry=body.retry, retry_after=body.retry_after)
    await _say(context, body.lease, fail=fault)
    return TAKEN


@calls.post("/api/tasks/{id}/release", "work", takes=Release, gives=TaskTaken)
async def release_task(context: RequestContext[Release, None]) -> Any:
    """Give back a task that was not begun; it costs no attempt."""
    await _say(context, context.body.lease, release=Nothing())
    return TAKEN


@calls.post("/api/tasks/{id}/log", "work", takes=Log, gives=TaskTaken)
async def log_task(context: RequestContext[Log, None]) -> Any:
    """Keep lines that the task wrote."""
    await _say(context, context.body.lease, log=Written(lines=context.body.lines))
    return TAKEN


@calls.post("/api/tasks/hangup", "work", takes=Leaving, gives=TaskTaken)
async def hang_up(context: RequestContext[Leaving, None]) -> Any:
    """End the polls of a worker that takes no more work: each is answered with what it has."""
    context.service.worker_registry.hang_up(worker_key(context.caller, context.body.worker))
    return TAKEN


@calls.post("/api/tasks/leave", "work", takes=Leaving, gives=TaskTaken)
async def leave(context: RequestContext[Leaving, None]) -> Any:
    """A worker goes: it is listed no more, and its polls end."""
    worker = worker_key(context.caller, context.body.worker)
    context.service.worker_registry.forget(worker)
    await (await _call(context)).behind.gate.deregister(worker)
    return TAKEN


@calls.put("/api/tasks/offers", "work", takes=Offers, gives=TaskTaken)
async def put_offers(context: RequestContext[Offers, None]) -> Any:
    """A worker says that it is there, and which tasks it can do."""
    await take_offers(await _call(context), context.body)
    return TAKEN


@calls.get("/api/tasks", "read", query=Counted, gives=Page[TaskOffer])
async def list_tasks(context: RequestContext[None, Counted]) -> Any:
    """The palette: every task that a step may name."""
    return context.query.cut(await palette(context.engine))


async def _call(context: RequestContext[Any, Any]) -> WorkerCall:
    registry = context.service.worker_registry
    return WorkerCall(registry, await registry.behind(context.engine), context.caller)


async def _read(
    context: RequestContext[Any, Any], kind: type[T], max_body: int | None = None
) -> tuple[T, int]:
    """The body and its size. Raises ResultTooLarge, NotFitting."""
    value, size = await _read_json(context, max_body)
    return fit(value, kind), size


async def _read_json(context: RequestContext[Any, Any], max_body: int | None = None) -> tuple[Any, int]:
    """What the body says, and its size. Raises ResultTooLarge where it cannot even be read: the lease is kept."""
    limit = context.service.worker_registry.limit
    try:
        raw = await (raw_body(context.request) if max_body is None else raw_body(context.request, max_body))
    except BodyTooLarge:
        length = context.request.headers.get("content-length", "")
        # A worker that still sends would be cut off before it reads why: let it finish, within reason.
        endless = not length.isdigit() or int(length) > MAX_DISCARDED
        raise ResultTooLarge(limit, unread=endless) from None
    validate_content_type(context.request, ("application/json",))
    return value_of(raw), len(raw)


async def _read_items(context: RequestContext[None, None]) -> tuple[Items, int, list[tuple[int, Told]]]:
    """The items, the size of the call, and what is wrong with each that is none, by its place.

    One that can never be taken must not hold up the others, which a worker would send with it again and again.
    """
    raw, size = await _read_json(context, MAX_REPORT)
    try:
        return fit(raw, Items), size, []
    except NotFitting:
        items = raw.get("items") if isinstance(raw, dict) else None
        if not isinstance(items, list) or len(items) > MAX_BATCH:
            raise
    good: list[Any] = []
    wrong: list[tuple[int, Told]] = []
    for number, item in enumerate(items):
        try:
            good.append(fit(item, Item))
        except NotFitting as error:
            id = str(item.get("id", "")) if isinstance(item, dict) else ""
            wrong.append((number, _item_answer(id, error)))
    return Items(worker=fit({**raw, "items": []}, Items).worker, items=good), size, wrong


async def _say(context: RequestContext[Any, Any], lease: str, **said: Any) -> Answer:
    """One thing about one task. Raises what is wrong with it."""
    item = Item(id=context.path["id"], lease=lease, **said)
    [answer] = await take(await _call(context), [item])
    if isinstance(answer, PenstockError):
        raise answer
    return answer


def _item_answer(id: str, answer: Answer) -> Told:
    if answer is None:
        return Told(id=id, status=200)
    if isinstance(answer, Renewal):
        return Told(id=id, status=200, cancel=False, deadline=answer.deadline, expires=answer.expires)
    lost = True if answer.code == "attempt_superseded" else None
    return Told(id=id, status=status_of(answer), code=answer.code, detail=str(answer), cancel=lost)
