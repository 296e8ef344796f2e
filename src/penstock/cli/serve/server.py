"""`penstock server`: the API and an engine, without a worker."""

from __future__ import annotations

from penstock.cli.admin.database import DbOption
from penstock.cli.io.inputs import AsJson
from penstock.cli.io.problems import Wrong
from penstock.cli.serve import options
from penstock.cli.serve.announcement import show_post
from penstock.cli.serve.listen_address import front_of
from penstock.cli.serve.process import read_post, serve
from penstock.cli.serve.settings import settings_of
from penstock.engine.services import EngineServices


def server(
    db: DbOption = None,
    host: options.Host = None,
    port: options.Port = None,
    store: options.Stores = None,
    bus: options.Buses = None,
    grace: options.Grace = "30s",
    log_level: options.LogLevel = "info",
    log_format: options.LogFormat = "text",
    stats: options.Stats = None,
    json: AsJson = False,
) -> None:
    """Serve the API and run workflows on a database that several processes share; workers do the tasks.

    Any number of them may run, on any machines, on one PostgreSQL database: they are equal, and none is needed
    for long. Signals and exit codes are those of `penstock up`.

    [bold]Examples[/bold]

      penstock server --db postgresql://penstock@db.example/penstock

      PENSTOCK_TOKEN=… penstock server --db postgresql://penstock@db.example/penstock --host 0.0.0.0
    """
    settings = settings_of(db=db, host=host, port=port, stores=store, buses=bus)
    if not settings.given("db"):
        raise Wrong.because("a server needs a database: name it with --db, or PENSTOCK_DB.")
    front = front_of(settings)
    post = read_post(
        settings["db"],
        grace=grace,
        stats=stats,
        front=front,
        settings=settings,
    )

    async def announce(running: EngineServices, base: str | None) -> None:
        await show_post(running, post, (), json, base)

    serve(post, announce, log_level, "penstock server", log_format)
