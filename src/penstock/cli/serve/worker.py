"""`penstock worker`: tasks done for a server elsewhere, or on a database that is shared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Literal

import typer
from msgspec.structs import replace

from penstock.cli.io.inputs import AsJson
from penstock.cli.io.parameters import option
from penstock.cli.io.problems import Wrong
from penstock.cli.serve import options
from penstock.cli.serve.announcement import show_post
from penstock.cli.serve.http_worker import work_far
from penstock.cli.serve.process import Post, read_post, serve
from penstock.cli.serve.settings import settings_of
from penstock.engine.services import EngineServices
from penstock.server.settings import Settings
from penstock.workers.worker.worker import CONCURRENCY

Name = Annotated[
    str | None, option("--name", "NAME", "What it is called in lists. By default machine and process.")
]
Celery = Annotated[
    str | None,
    option(
        "--celery",
        "MODULE:APP",
        "Be a bridge: offer the tasks of this Celery app and have its workers do them.",
    ),
]
Executor = Annotated[
    Literal["local", "ray"],
    typer.Option("--executor", help="Where Python tasks run: in this process, or on a Ray cluster."),
]
RayAddress = Annotated[
    str | None,
    option(
        "--ray-address",
        "HOST:PORT",
        "The Ray cluster. By default RAY_ADDRESS, or a cluster that is started here.",
    ),
]


Server = Annotated[
    str | None,
    option(
        "--server",
        "URL",
        "The server to work for, such as http://penstock.example:7777. Also PENSTOCK_SERVER.",
    ),
]
Token = Annotated[
    str | None,
    option("--token", "TOKEN", "A worker token of the server. Better PENSTOCK_TOKEN: others cannot see it."),
]
Db = Annotated[
    str | None,
    option(
        "--db", "URL", "Work on a shared database instead: postgresql://user@host/name. Also PENSTOCK_DB."
    ),
]


def worker(
    server: Server = None,
    token: Token = None,
    db: Db = None,
    tasks: options.TaskSources = None,
    task_list: options.TaskLists = None,
    shell: options.Shell = None,
    concurrency: options.Concurrency = CONCURRENCY,
    processes: options.Processes = 0,
    executor: Executor = "local",
    ray_address: RayAddress = None,
    celery: Celery = None,
    name: Name = None,
    grace: options.Grace = "30s",
    log_level: options.LogLevel = "info",
    log_format: options.LogFormat = "text",
    stats: options.Stats = None,
    json: AsJson = False,
) -> None:
    """Do tasks for a server, or for runs that are kept in a shared database.

    Any number of them may run, on any machines. Signals and exit codes are those of `penstock up`.

    [bold]Examples[/bold]

      penstock worker --server http://penstock.example:7777 --tasks shop.tasks

      penstock worker --db postgresql://penstock@db.example/penstock --tasks shop.tasks

      penstock worker --db postgresql://penstock@db.example/penstock --tasks video.py --task-list gpu --processes 2

      penstock worker --db postgresql://penstock@db.example/penstock --celery shop.celery:app
    """
    settings = settings_of(server=server, db=db, tasks=tasks, token=token)
    sources = [] if celery and not tasks else list(settings["tasks"])
    _validate_options(sources, celery, executor, ray_address, processes, shell)
    server, db = _for_whom(server, db, settings)
    post = read_post(
        db or "",
        sources,
        task_list,
        concurrency=concurrency,
        processes=processes,
        name=name,
        grace=grace,
        stats=stats,
        settings=settings,
        shell=shell,
    )
    with _with_fleet(post, celery, executor, ray_address) as manned:
        if server is not None:
            work_far(server, settings["token"], manned, log_level, log_format, json)
            return

        async def announce(running: EngineServices, base: str | None) -> None:
            await show_post(running, manned, (), json)

        serve(manned, announce, log_level, "penstock worker", log_format)


def _for_whom(server: str | None, db: str | None, settings: Settings) -> tuple[str | None, str | None]:
    """A server or a database: what was said before what the environment or the file says. Raises Wrong."""
    if server is not None and db is not None:
        raise Wrong.because("--server and --db contradict each other: give one of them.")
    if server is None and db is None:
        server, db = (settings[name] if settings.given(name) else None for name in ("server", "db"))
    if server is None and db is None:
        raise Wrong.because("a worker needs to know for whom it works: name a --server, or a --db.")
    return server, db


def _validate_options(
    tasks: Sequence[str],
    celery: str | None,
    executor: str,
    ray_address: str | None,
    processes: int,
    shell: str | None,
) -> None:
    if celery and (tasks or executor == "ray" or processes or shell):
        raise Wrong.because(
            "--celery makes a bridge, which runs no Python tasks itself: start another worker for --tasks."
        )
    if not tasks and not celery and not shell:
        raise Wrong.because(
            "a worker needs tasks: name their module or file with --tasks, a Celery app with --celery, or a --shell."
        )
    if executor == "ray" and processes:
        raise Wrong.because("--processes and --executor ray are two ways: Ray has processes of its own.")
    if ray_address and executor != "ray":
        raise Wrong.because("--ray-address is for Ray: add --executor ray.")


@contextmanager
def _with_fleet(post: Post, celery: str | None, executor: str, ray_address: str | None) -> Iterator[Post]:
    """The post, its tasks run where the options say. Raises CannotOpen."""
    # Imported here: neither Celery nor Ray may cost anything where it is not asked for.
    if celery:
        from penstock.workers.bridges.celery import celery_executor_factory
        from penstock.workers.bridges.celery_app import celery_tasks, open_app

        app = open_app(celery)
        yield replace(post, tasks=celery_tasks(app), fleet=celery_executor_factory(app))
    elif executor == "ray":
        from penstock.workers.bridges.ray import RayCluster

        with RayCluster(ray_address) as cluster:
            yield replace(post, fleet=cluster.fleet_for(post.sources))
    else:
        yield post
