"""`penstock server`: an engine without a worker."""

from __future__ import annotations

from penstock.cli.announcing import show_post
from penstock.cli.databases import Db
from penstock.cli.inputs import AsJson
from penstock.cli.serving import Grace, LogFormat, LogLevel, Stats, read_post, serve
from penstock.engine.running import Running


def server(
    db: Db,
    grace: Grace = "30s",
    log_level: LogLevel = "info",
    log_format: LogFormat = "text",
    stats: Stats = None,
    json: AsJson = False,
) -> None:
    """Keep runs going on a database that several processes share; workers do the tasks.

    Any number of them may run, on any machines, on one PostgreSQL database: they are equal, and none is needed
    for long. Signals and exit codes are those of `penstock up`.

    [bold]Examples[/bold]

      penstock server --db postgresql://penstock@db.example/penstock
    """
    post = read_post(db, grace=grace, stats=stats)

    async def announce(running: Running) -> None:
        await show_post(running, post, (), json)

    serve(post, announce, log_level, "penstock server", log_format)
