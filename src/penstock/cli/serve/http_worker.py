"""A worker for a server elsewhere: the same worker, behind a gate that speaks HTTP."""

from __future__ import annotations

import logging
import os
import socket

from penstock.access.errors import TooManyRequests
from penstock.cli.io.console import answers
from penstock.cli.io.problems import Wrong
from penstock.cli.serve.announcement import show_worker
from penstock.cli.serve.process import Post, counting, logging_to_stderr, stop_on_signals, worker_stats
from penstock.engine import event_loop
from penstock.remote.connection import Connection
from penstock.remote.errors import NoServer, ServerAway
from penstock.remote.gate import HttpGate
from penstock.store.errors import StoreAway
from penstock.workers.worker.worker import Worker

log = logging.getLogger("penstock.process")


def work_far(server: str, token: str | None, post: Post, level: str, log_format: str, as_json: bool) -> None:
    """Work until a signal comes. Raises BadServer, Wrong."""
    with logging_to_stderr(level, log_format):
        event_loop.run(_work(Connection(server, token), post, as_json))


async def _work(connection: Connection, post: Post, as_json: bool) -> None:
    stop = stop_on_signals(post.grace)
    try:
        await _validate_token(connection)
    except BaseException:
        await connection.close()
        raise
    gate = HttpGate(connection, [task.offer for task in post.tasks.values()])
    name = post.name or f"{socket.gethostname()}:{os.getpid()}"
    worker = Worker(gate, post.tasks, name=name, now=gate.now, **post.of_worker())
    async with counting(post.stats, lambda: {"process": os.getpid(), "worker": worker_stats(worker)}):
        try:
            show_worker(worker, connection.url, post, as_json)
            answers().flush()
            log.info("penstock worker is ready, process %d", os.getpid())
            await worker.run(stop)
        finally:
            await gate.close()
    log.info("penstock worker has stopped")


async def _validate_token(connection: Connection) -> None:
    """Who may not work there is told so at once; for a server that is away the worker waits. Raises PenstockError."""
    try:
        who = await connection.get("/api/session")
    except (NoServer, ServerAway, StoreAway, TooManyRequests):
        return
    # A server of an earlier release does not tell what one may do: there the first poll says it.
    if "work" not in who.get("may", ["work"]):
        raise Wrong.because(
            f"the token of '{who['name']}' is for the role {who['role']}: a worker needs one of "
            "`penstock access create --role worker`."
        )
