"""A process that stays: opened, announced, kept going until a signal, and drained."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    asynccontextmanager,
    nullcontext,
    suppress,
)
from datetime import timedelta
from pathlib import Path
from typing import Any

from msgspec import Struct

from penstock.boxes.task_environment import TaskEnvironment
from penstock.cli.io.command_group import INTERRUPTED
from penstock.cli.io.console import answers
from penstock.cli.io.inputs import import_tasks, one_of, read_duration
from penstock.cli.io.problems import Wrong
from penstock.cli.serve.settings import settings_of
from penstock.engine import event_loop
from penstock.engine.services import EngineServices
from penstock.flow.model.names import wrong_identifier
from penstock.flow.values.payload import set_payload_limit
from penstock.metrics.logs import FORMATS, logging_to, redact_logs
from penstock.objects.stores import Stores
from penstock.server.build import Front, answering, task_environment_of
from penstock.server.http import bind
from penstock.server.settings import Settings
from penstock.server.tracing import begin_tracing, tracing_wanted
from penstock.sources.triggers.trigger import Means
from penstock.workers.execute.fleet import ExecutorFactory
from penstock.workers.task import Task
from penstock.workers.worker.worker import CONCURRENCY, Worker

LEVELS = ("debug", "info", "warning", "error")
STATS_EVERY = 0.5
"""Seconds between two writings of the counters."""

log = logging.getLogger("penstock.process")


def shell_tasks(folder: str | None) -> dict[str, Task]:
    """The task `shell`, where a worker allows it. Raises Wrong."""
    if folder is None:
        return {}
    if not Path(folder).is_dir():
        raise Wrong.because(f"--shell '{folder}' is no folder: name one that the commands may use.")
    from penstock.boxes.shell import shell_task

    task = shell_task(Path(folder))
    return {task.name: task}


class Post(Struct, frozen=True, kw_only=True):
    """What one process serves."""

    db: str
    tasks: Mapping[str, Task] = {}
    sources: tuple[str, ...] = ()
    task_lists: tuple[str, ...] | None = None
    concurrency: int = CONCURRENCY
    processes: int = 0
    name: str | None = None
    grace: timedelta = timedelta(seconds=30)
    stats: str | None = None
    front: Front | None = None  # where it answers over HTTP, if it does
    retention: Mapping[str, timedelta] = {}
    means: Means | None = None  # what feeds the sources of workflows here; None: nothing does
    fleet: ExecutorFactory | None = None
    environment: TaskEnvironment | None = None  # what built-in tasks may reach, where they are done here
    tracing: str = "off"
    suffix: str = ""

    def of_worker(self) -> dict[str, Any]:
        """The settings of a worker, here or for a server elsewhere."""
        names = ("task_lists", "suffix", "concurrency", "processes", "sources", "grace", "fleet")
        return {name: getattr(self, name) for name in names}


Announce = Callable[[EngineServices, str | None], Awaitable[None]]
"""Told what runs and, where it answers over HTTP, at which address."""


def serve(post: Post, announce: Announce, level: str, role: str, log_format: str = "text") -> None:
    """Serve until a signal comes. Raises StoreError, and whatever `announce` raises, after all is closed."""
    with logging_to_stderr(level, log_format):
        event_loop.run(_serve(post, announce, role))


def read_post(
    db: str,
    sources: Sequence[str] = (),
    task_list: Sequence[str] | None = None,
    *,
    concurrency: int = CONCURRENCY,
    processes: int = 0,
    grace: str,
    name: str | None = None,
    stats: str | None = None,
    front: Front | None = None,
    settings: Settings | None = None,
    shell: str | None = None,
) -> Post:
    """What the options and settings of a command come to, its tasks imported. Raises Wrong,
    TasksUnreadable, BadStore."""
    distinct = tuple(dict.fromkeys(sources))
    if shell is not None and processes:
        raise Wrong.because("--shell and --processes contradict each other: commands are processes already.")
    for each in task_list or ():
        if (why := wrong_identifier(each)) is not None:
            raise Wrong.because(f"--task-list '{each}' {why}.")
    said = settings_of() if settings is None else settings
    set_payload_limit(said["payload_limit"])
    return Post(
        db=db,
        tasks={**(import_tasks(distinct) if distinct else {}), **shell_tasks(shell)},
        sources=distinct,
        task_lists=tuple(task_list) if task_list else None,
        concurrency=concurrency,
        processes=processes if distinct else 0,
        name=name,
        # 0 is allowed here: what runs is given up at once.
        grace=timedelta(0) if grace in ("0", "0s") else read_duration(grace, "--grace"),
        stats=stats,
        front=front,
        retention=said["retention_days"],
        tracing="off" if front is None else tracing_wanted(said["tracing"], os.environ),
        suffix=said["task_list_suffix"] or "",
        means=None if front is None else Means(stores=Stores(said["stores"]), buses=said["buses"]),
        environment=None if front is None else task_environment_of(said),
    )


async def _serve(post: Post, announce: Announce, role: str) -> None:
    stop = stop_on_signals(post.grace)
    # Bound before the store is opened: a port that is taken must not leave anything behind.
    with nullcontext() if post.front is None else bind(post.front.host, post.front.port) as listener:
        begun = asyncio.Event()
        async with _working(post, role) as running, _answering(post, running, listener, begun) as base:
            await announce(running, base)
            begun.set()
            answers().flush()
            log.info("%s is ready, process %d", role, os.getpid())
            await stop.wait()
            # Before the calls under way are answered: a task that began meanwhile would only be given up.
            running.wind_down()


@asynccontextmanager
async def _working(post: Post, role: str) -> AsyncIterator[EngineServices]:
    """The engine and its worker; at the end what runs has the grace to finish."""
    running = await EngineServices.open(
        post.db,
        post.tasks,
        **post.of_worker(),
        name=post.name,
        retention=post.retention,
        environment=post.environment,
        feed=post.means is not None,
        means=post.means,
    )
    begin_tracing(running, post.tracing, os.environ.get("OTEL_SERVICE_NAME"))
    with redact_logs(running.vault.redactor.redact):
        async with counting(post.stats, lambda: stats_of(running)):
            try:
                yield running
            finally:
                await running.close(post.grace)
    log.info("%s has stopped", role)


def _answering(
    post: Post, running: EngineServices, listener: socket.socket | None, begun: asyncio.Event
) -> AbstractAsyncContextManager[str | None]:
    if post.front is None or listener is None:
        return nullcontext()
    return answering(running, post.front, listener, begun)


def stop_on_signals(grace: timedelta) -> asyncio.Event:
    """The first signal asks for a stop, the second one does not wait for it."""
    stop = asyncio.Event()

    def on_signal(name: str) -> None:
        if stop.is_set():
            log.warning("%s again: ended at once; what ran is done again by others", name)
            sys.stderr.flush()
            os._exit(INTERRUPTED)
        log.info(
            "%s: stopping; what runs has %gs to end, the rest is given back", name, grace.total_seconds()
        )
        stop.set()

    event_loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        event_loop.add_signal_handler(number, on_signal, number.name)
    return stop


def logging_to_stderr(level: str, log_format: str = "text") -> AbstractContextManager[None]:
    """Lines on standard error, for people or for machines. Raises Wrong."""
    one_of(level, LEVELS, "--log-level")
    if log_format not in FORMATS:
        raise Wrong.because(f"--log-format '{log_format}' is not known: say {' or '.join(FORMATS)}.")
    # What the HTTP server says of its own life is said here already.
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
    return logging_to(level, log_format)


# -- what was counted --------------------------------------------------------------------------------------


@asynccontextmanager
async def counting(file: str | None, stats: Callable[[], dict[str, Any]]) -> AsyncIterator[None]:
    """Write what was counted to a file, if there is one, now and then and at the end."""
    if file is None:
        yield
        return
    writing = asyncio.create_task(_keep_stats(file, stats))
    try:
        yield
    finally:
        writing.cancel()
        await asyncio.gather(writing, return_exceptions=True)
        _write_stats(file, stats())


async def _keep_stats(file: str, stats: Callable[[], dict[str, Any]]) -> None:
    while True:
        with suppress(OSError):  # a full disk must not end the work
            _write_stats(file, stats())
        await asyncio.sleep(STATS_EVERY)


def _write_stats(file: str, stats: dict[str, Any]) -> None:
    """Whole or not at all: who reads it meanwhile sees the one before."""
    part = Path(f"{file}.part")
    part.write_text(json.dumps(stats), encoding="utf-8")
    part.replace(file)


def worker_stats(worker: Worker) -> dict[str, Any]:
    return {"id": worker.id, "name": worker.name, **worker.counts}


def stats_of(running: EngineServices) -> dict[str, Any]:
    """The counters of a node and its worker."""
    node, worker = running.node, running.worker
    dispatch, advancer, ringing = node.dispatch, node.advancer, node.timers
    return {
        "process": os.getpid(),
        "worker": None if worker is None else worker_stats(worker),
        "reports": {"rejected": dispatch.rejected, "repeated": dispatch.repeated},
        "tasks": {"handed": dispatch.handed, "leased": dispatch.leased},
        "decisions": {"made": advancer.decided, "stale": advancer.stale, "batches": advancer.batches},
        "due": {"timers": ringing.rung, "lost": ringing.lost, "timed_out": ringing.timed_out},
        "loops": {name: pulse.failures for name, pulse in node.loop_health.items()},
    }
