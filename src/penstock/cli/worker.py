"""`penstock worker`: tasks done for engines elsewhere, on a database that is shared."""

from __future__ import annotations

from typing import Annotated

import typer

from penstock.cli.announcing import show_post
from penstock.cli.databases import Db
from penstock.cli.inputs import AsJson
from penstock.cli.problems import Wrong
from penstock.cli.serving import (
    Concurrency,
    Grace,
    LogFormat,
    LogLevel,
    Processes,
    Stats,
    TaskLists,
    TaskSources,
    read_post,
    serve,
)
from penstock.engine.running import Running
from penstock.workers.worker import CONCURRENCY

Name = Annotated[
    str | None,
    typer.Option(
        "--name", metavar="NAME", help="What it is called in lists. By default machine and process.",
        show_default=False,
    ),
]  # fmt: skip


def worker(
    db: Db,
    tasks: TaskSources = None,
    task_list: TaskLists = None,
    concurrency: Concurrency = CONCURRENCY,
    processes: Processes = 0,
    name: Name = None,
    grace: Grace = "30s",
    log_level: LogLevel = "info",
    log_format: LogFormat = "text",
    stats: Stats = None,
    json: AsJson = False,
) -> None:
    """Do the tasks of runs that are kept in a shared database.

    Any number of them may run, on any machines, on one PostgreSQL database. Signals and exit codes are those of
    `penstock up`.

    [bold]Examples[/bold]

      penstock worker --db postgresql://penstock@db.example/penstock --tasks shop.tasks

      penstock worker --db postgresql://penstock@db.example/penstock --tasks video.py --task-list gpu --processes 2
    """
    if not tasks:
        raise Wrong.because("a worker needs tasks: name their module or file with --tasks.")
    post = read_post(
        db,
        tasks,
        task_list,
        concurrency=concurrency,
        processes=processes,
        name=name,
        grace=grace,
        stats=stats,
    )

    async def announce(running: Running, base: str | None) -> None:
        await show_post(running, post, (), json)

    serve(post, announce, log_level, "penstock worker", log_format)
