"""`penstock bench`: how fast it is, beside its neighbours."""

from __future__ import annotations

from importlib import import_module
from typing import Annotated

import typer

from penstock.cli.commands import NO, YES
from penstock.cli.inputs import AsJson
from penstock.cli.problems import Wrong

SUITES = ("net",)

Suite = Annotated[str, typer.Argument(metavar="SUITE", help="What to measure: net.")]


def bench(suite: Suite, json: AsJson = False) -> None:
    """Measure Penstock, and its neighbours where they are installed (`make bench` installs them).

    [bold]Examples[/bold]

      penstock bench net

      penstock bench net --json
    """
    if suite not in SUITES:
        raise Wrong.because(f"There is no benchmark '{suite}': say net.")
    # Not at the top: it needs packages that only `make bench` installs.
    try:
        library = import_module(f"penstock.bench.{suite}")
    except ImportError as error:
        raise Wrong.because(f"The benchmark cannot be loaded: {error}. Run `make bench` once.") from None
    raise typer.Exit(NO if library.main(json) else YES)
