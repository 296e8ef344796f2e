"""`penstock bench`: how fast it is, beside its neighbours and beside the bare database."""

from __future__ import annotations

from importlib import import_module
from typing import Annotated, Any

import typer

from penstock.cli.io.command_group import NO, YES
from penstock.cli.io.inputs import AsJson
from penstock.cli.io.problems import Wrong

SUITES = {
    "net": "penstock.bench.net",
    "engine": "penstock.bench.engine.suite",
    "http": "penstock.bench.http.suite",
    "sources": "penstock.bench.sources.suite",
}

Suite = Annotated[
    str,
    typer.Argument(
        metavar="SUITE",
        help="What to measure: net, engine (the durable one), http (the service), or sources.",
    ),
]
Db = Annotated[
    str | None,
    typer.Option(
        "--db", metavar="URL", help="All but net: an empty database for it, not those it makes by itself.",
        show_default=False,
    ),
]  # fmt: skip
Runs = Annotated[
    int | None,
    typer.Option("--runs", metavar="N", min=3, help="All but net: runs at saturation.", show_default=False),
]
Quick = Annotated[bool, typer.Option("--quick", help="All but net: fewer runs, and a shorter past.")]


def bench(suite: Suite, db: Db = None, runs: Runs = None, quick: Quick = False, json: AsJson = False) -> None:
    """Measure Penstock, and its neighbours in memory where `penstock[bench]` is installed.

    [bold]Examples[/bold]

      penstock bench net

      penstock bench engine --quick

      penstock bench engine --db postgresql://me@localhost/bench --json

      penstock bench http --quick

      penstock bench sources --quick
    """
    if suite not in SUITES:
        raise Wrong.because(f"There is no benchmark '{suite}': say net, engine, http or sources.")
    more: dict[str, Any] = {"db": db, "runs": runs, "quick": quick} if suite != "net" else {}
    if not more and (db is not None or runs is not None or quick):
        raise Wrong.because("`--db`, `--runs` and `--quick` are not for `penstock bench net`.")
    # Not at the top: it needs packages that a server does not.
    try:
        library = import_module(SUITES[suite])
    except ImportError as error:
        raise Wrong.because(f"The benchmark cannot be loaded: {error}. Install what it names.") from None
    raise typer.Exit(NO if library.main(json, **more) else YES)
