"""A worker for a server elsewhere: the same worker, behind a gate that speaks HTTP."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import socket
from contextlib import suppress
from pathlib import Path
from typing import Any

from penstock.cli.announcing import show_worker
from penstock.cli.console import answers
from penstock.cli.serving import Post, logging_to_stderr, stop_on_signals
from penstock.engine import loop
from penstock.remote.connection import Connection
from penstock.remote.gate import HttpGate
from penstock.workers.worker import Worker

STATS_EVERY = 0.5
log = logging.getLogger("penstock.life")


def work_far(server: str, token: str | None, post: Post, level: str, log_format: str, as_json: bool) -> None:
    """Work until a signal comes. Raises BadServer, Wrong."""
    with logging_to_stderr(level, log_format):
        loop.run(_work(Connection(server, token), post, as_json))


async def _work(connection: Connection, post: Post, as_json: bool) -> None:
    stop = stop_on_signals(post.grace)
    gate = HttpGate(connection, [task.offer for task in post.tasks.values()])
    worker = Worker(
        gate,
        post.tasks,
        name=post.name or f"{socket.gethostname()}:{os.getpid()}",
        task_lists=post.task_lists,
        concurrency=post.concurrency,
        processes=post.processes,
        sources=post.sources,
        grace=post.grace,
        fleet=post.fleet,
        now=gate.now,
    )
    counting = asyncio.create_task(_keep_stats(worker, post.stats)) if post.stats else None
    try:
        show_worker(worker, connection.url, post, as_json)
        answers().flush()
        log.info("penstock worker is ready, process %d", os.getpid())
        await worker.run(stop)
    finally:
        await gate.close()
        if counting is not None:
            counting.cancel()
            await asyncio.gather(counting, return_exceptions=True)
            _write_stats(worker, post.stats or "")
        log.info("penstock worker has stopped")


async def _keep_stats(worker: Worker, file: str) -> None:
    while True:
        with suppress(OSError):  # a full disk must not end the work
            _write_stats(worker, file)
        await asyncio.sleep(STATS_EVERY)


def _write_stats(worker: Worker, file: str) -> None:
    """Whole or not at all: who reads it meanwhile sees the one before."""
    part = Path(f"{file}.part")
    counts: dict[str, Any] = {"id": worker.id, "name": worker.name, **worker.counts}
    part.write_text(json.dumps({"process": os.getpid(), "worker": counts}), encoding="utf-8")
    part.replace(file)
