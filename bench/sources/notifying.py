"""Notifications of objects, one a call, many calls at a time: taken in, looked up and started durably."""

from __future__ import annotations

import asyncio
from itertools import count
from time import perf_counter, process_time
from typing import Any

import msgspec
from msgspec import Struct

from bench.engine.workloads import NotDone
from bench.sources.listing import address_at, listing
from penstock.engine.engine import Engine
from penstock.sources.hooks.envelope import Call
from penstock.sources.hooks.hooks import Hooks
from penstock.sources.objects.notifications import ObjectHooks
from penstock.sources.objects.starts import ObjectStarts

AT_ONCE = 64
TOKEN = "a-token-of-the-benchmark"
WORKFLOW = {
    "penstock": 1,
    "name": "bench-objects",
    "source": {"kind": "object", "store": "bench"},
    "steps": {"look": {"task": "look", "emits": "OK"}},
}
HEADERS = {"authorization": f"Bearer {TOKEN}", "content-type": "application/json"}


class Notified(Struct, frozen=True):
    """How many notifications a second started their runs, and milliseconds of a processor for each."""

    per_s: float
    processor: float


async def notified(url: str, number: int) -> Notified:
    """Raises NotDone where one did not start its run."""
    async with listing(0) as port:
        stores = {"bench": f"{address_at(port)}&hook_token={TOKEN}"}
        async with Engine(url, tasks={}, work=False, feed=False, stores=stores) as engine:
            await engine.publish(WORKFLOW, start=True)
            hooks = await _hooks(engine)
            await _tell(hooks, iter([-1]), number)  # what is opened only once does not count
            numbers = count()
            began, spent = perf_counter(), process_time()
            done = await asyncio.gather(*(_tell(hooks, numbers, number) for _ in range(AT_ONCE)))
            took, spent = perf_counter() - began, process_time() - spent
    if sum(done) != number:
        raise NotDone(f"{sum(done):,} of {number:,} notifications started a run")
    return Notified(number / took, 1000 * spent / number)


async def _hooks(engine: Engine) -> ObjectHooks:
    running = await engine.running()
    flows, intake, stores = running.node.flows, running.node.commands, running.means.stores

    async def no_secret(name: str) -> str | None:
        return None

    store = running.store
    hooks = Hooks(store, flows, intake, no_secret)
    return ObjectHooks(hooks, stores, ObjectStarts(store, flows, intake, stores))


async def _tell(hooks: ObjectHooks, numbers: Any, most: int) -> int:
    started = 0
    while (number := next(numbers, most)) < most:
        call = Call(HEADERS, msgspec.json.encode({"Records": [_record(number)]}))
        started += (await hooks.receive("bench", call)).started
    return started


def _record(number: int) -> dict[str, Any]:
    return {
        "eventVersion": "2.1",
        "eventSource": "aws:s3",
        "awsRegion": "eu-west-1",
        "eventTime": "2026-01-31T12:00:00.000Z",
        "eventName": "ObjectCreated:Put",
        "userIdentity": {"principalId": "AWS:BENCH"},
        "requestParameters": {"sourceIPAddress": "192.0.2.7"},
        "s3": {
            "bucket": {"name": "bench"},
            "object": {"key": f"{number}.bin", "size": 1, "eTag": "e", "sequencer": f"{number:016X}"},
        },
    }
