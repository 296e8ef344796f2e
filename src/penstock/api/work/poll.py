"""A poll: a worker waits for tasks. If it disconnects meanwhile, it takes none with it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta

from starlette.requests import ClientDisconnect, Request

from penstock.access.caller import Caller
from penstock.api.request_body import NotFitting, disconnected
from penstock.api.work.errors import OtherList, TooManyTasks
from penstock.api.work.lease_tokens import held_by
from penstock.api.work.worker_registry import Behind, WorkerCall, WorkerRegistry, worker_key
from penstock.flow.decisions.scope import events_of, inputs_of
from penstock.flow.model.names import MAX_NAME_LENGTH, wrong_identifier
from penstock.flow.model.retry_policy import Timeouts
from penstock.flow.model.tags import visible
from penstock.runtime.dispatch.gate import Assignment
from penstock.store.rows.rows import ClaimRequest
from penstock.workers.wire import MAX_BATCH, Given, Left, Poll, Polled, RunOf


async def poll(call: WorkerCall, body: Poll, request: Request) -> Polled:
    """Raises OtherList, TooManyPolls, TooManyTasks, TooManyWorkers; ClientDisconnect if the worker has disconnected."""
    registry, behind, caller = call.registry, call.behind, call.caller
    lists = _lists(body, caller)
    limit = _limit(registry, body.max, caller)
    registry.limit_polls(caller)
    registry.limit_workers(caller, body.worker)
    registry.seen(behind, caller, body, lists)
    tasks, worker = None if body.tasks is None else tuple(body.tasks), worker_key(caller, body.worker)
    wish = ClaimRequest(worker=worker, task_lists=lists, tasks=tasks, limit=limit)
    claiming = asyncio.ensure_future(behind.gate.claim(wish, timedelta(seconds=body.wait)))
    with registry.waiting(caller, worker, claiming):
        given = await _given(behind, claiming, request)
    now = behind.now()
    kept = registry.fill(caller, given, now)
    if kept < len(given):
        # Other polls of the token were faster: it holds as much as it may.
        await behind.gate.release([each.lease for each in given[kept:]])
    return Polled([_task(behind, body.worker, each, now) for each in given[:kept]], now)


async def _given(
    behind: Behind, claiming: asyncio.Task[list[Assignment]], request: Request
) -> list[Assignment]:
    gone = asyncio.ensure_future(disconnected(request.receive))
    try:
        await asyncio.wait({claiming, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not gone.done():
            return [] if claiming.cancelled() else claiming.result()
    finally:
        gone.cancel()
    claiming.cancel()
    await asyncio.wait([claiming])
    if not claiming.cancelled() and claiming.exception() is None and (given := claiming.result()):
        await behind.gate.release([each.lease for each in given])
    raise ClientDisconnect


def _lists(body: Poll, caller: Caller) -> tuple[str, ...]:
    if body.task_list is not None and body.task_lists is not None:
        raise NotFitting("/task_list", "say `task_list` or `task_lists`, not both")
    if body.task_lists is not None:
        lists = tuple(dict.fromkeys(body.task_lists))
    elif body.task_list is not None:
        lists = (body.task_list,)
    else:
        lists = tuple(name for name in caller.task_lists or () if "*" not in name) or ("default",)
    for name in lists:
        # A suffix of the installation may make it longer than the name of a list itself may be.
        if (problem := wrong_identifier(name[:MAX_NAME_LENGTH])) is not None:
            place = "/task_list" if body.task_lists is None else "/task_lists"
            raise NotFitting(place, f"the name of a task list {problem}")
    require_lists(caller, lists)
    return lists


def require_lists(caller: Caller, lists: Sequence[str]) -> None:
    """Raises OtherList."""
    for name in lists:
        if not caller.serves(name):
            raise OtherList(name)


def _limit(registry: WorkerRegistry, asked: int, caller: Caller) -> int:
    if asked > MAX_BATCH:
        raise TooManyTasks(f"{asked} tasks are too many for one poll: ask for {MAX_BATCH} at most")
    room = registry.room(caller)
    if room is None:
        return asked
    if not room:
        raise TooManyTasks(
            f"the workers of this token hold {caller.concurrency} tasks, as many as they may: report some first"
        )
    return min(asked, room)


def _task(behind: Behind, worker: str, given: Assignment, now: datetime) -> Given:
    attempt, run = given.attempt, given.attempt.run
    tokens = attempt.taken.tokens()
    return Given(
        id=attempt.id,
        lease=behind.seal.write(held_by(worker, given)),
        task=attempt.task,
        attempt=attempt.attempt,
        run=RunOf(run.id, run.workflow, run.version, run.subject),
        step=attempt.step,
        index=attempt.index,
        params=attempt.params,
        input=inputs_of(tokens),
        events=events_of(tokens),
        data=attempt.data,
        tags=visible(attempt.tags),
        timeouts=_left(attempt.timeouts, given.expires, given.deadline, now),
        deadline=given.deadline,
        idempotency_key=attempt.id,
        task_list=attempt.task_list,
        expires=given.expires,
    )


def _left(limits: Timeouts, expires: datetime, deadline: datetime | None, now: datetime) -> Left:
    """What is left of each: no more than to the deadline, by which the attempt must have ended anyway."""
    heartbeat = max(0.0, (expires - now).total_seconds())
    if deadline is None:
        return Left(heartbeat)
    left = max(0.0, (deadline - now).total_seconds())
    both = (limits.start_to_close, limits.schedule_to_close)
    return Left(heartbeat, *(None if limit is None else min(limit.total_seconds(), left) for limit in both))
