"""The command `penstock`: every command is registered here."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from penstock import __version__
from penstock.cli.bench import bench
from penstock.cli.check import check
from penstock.cli.commands import Command, Commands, leave
from penstock.cli.demo import demo
from penstock.cli.draw import draw
from penstock.cli.run import run
from penstock.cli.simulate import simulate
from penstock.cli.tasks import tasks

app = typer.Typer(
    name="penstock",
    cls=Commands,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 yes · 1 findings, or a run that did not succeed · 2 wrong use or unreadable input.",
)


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"penstock {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def penstock(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", help="Show the version.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """Event-driven workflows that are drawn, proved and run."""
    if context.invoked_subcommand is None:
        print(context.get_help())


for command in (check, run, simulate, draw, tasks, demo, bench):
    app.command(cls=Command)(command)


def main() -> None:
    """The entry point: never a traceback, whatever the encoding of the terminal."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    leave(app(standalone_mode=False))
