"""`penstock worker`: tasks done for a server elsewhere, or on a database that is shared."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from penstock.cli.announcing import show_post
from penstock.cli.far_worker import work_far
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


Server = Annotated[
    str | None,
    typer.Option(
        "--server", metavar="URL", help="The server to work for, such as http://penstock.example:7777."
        " Also PENSTOCK_SERVER.", show_default=False,
    ),
]  # fmt: skip
Token = Annotated[
    str | None,
    typer.Option(
        "--token", metavar="TOKEN", help="A worker token of the server. Better PENSTOCK_TOKEN: others cannot see it.",
        show_default=False,
    ),
]  # fmt: skip
Db = Annotated[
    str | None,
    typer.Option(
        "--db", metavar="URL", help="Work on a shared database instead: postgresql://user@host/name. Also PENSTOCK_DB.",
        show_default=False,
    ),
]  # fmt: skip


def worker(
    server: Server = None,
    token: Token = None,
    db: Db = None,
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
    """Do tasks for a server, or for runs that are kept in a shared database.

    Any number of them may run, on any machines. Signals and exit codes are those of `penstock up`.

    [bold]Examples[/bold]

      penstock worker --server http://penstock.example:7777 --tasks shop.tasks

      penstock worker --db postgresql://penstock@db.example/penstock --tasks shop.tasks

      penstock worker --db postgresql://penstock@db.example/penstock --tasks video.py --task-list gpu --processes 2
    """
    if not tasks:
        raise Wrong.because("a worker needs tasks: name their module or file with --tasks.")
    server, db = _for_whom(server, db)
    post = read_post(
        db or "",
        tasks,
        task_list,
        concurrency=concurrency,
        processes=processes,
        name=name,
        grace=grace,
        stats=stats,
    )

    if server is not None:
        work_far(server, token or os.environ.get("PENSTOCK_TOKEN"), post, log_level, json)
        return

    async def announce(running: Running, base: str | None) -> None:
        await show_post(running, post, (), json)

    serve(post, announce, log_level, "penstock worker", log_format)


def _for_whom(server: str | None, db: str | None) -> tuple[str | None, str | None]:
    """A server or a database: what was said before what the environment says. Raises Wrong."""
    if server is not None and db is not None:
        raise Wrong.because("--server and --db contradict each other: give one of them.")
    if server is None and db is None:
        server, db = os.environ.get("PENSTOCK_SERVER"), os.environ.get("PENSTOCK_DB")
    if server is None and db is None:
        raise Wrong.because("a worker needs to know for whom it works: name a --server, or a --db.")
    return server, db
