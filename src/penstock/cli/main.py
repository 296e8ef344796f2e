"""The command `penstock`: every command is registered here."""

from __future__ import annotations

import os
import sys
from io import TextIOWrapper
from typing import Annotated, TextIO

import typer

from penstock import __version__
from penstock.cli.access import access
from penstock.cli.acting import cancel, emit, pause, rerun, resume, retry, skip
from penstock.cli.bench import bench
from penstock.cli.check import check
from penstock.cli.commands import Command, Commands, leave
from penstock.cli.db import db
from penstock.cli.demo import demo
from penstock.cli.doctor import doctor
from penstock.cli.draw import draw
from penstock.cli.explaining import incidents, why
from penstock.cli.operating import queues, workers
from penstock.cli.run import run
from penstock.cli.runs import history, runs, show
from penstock.cli.secrets import secret
from penstock.cli.server import server
from penstock.cli.simulate import simulate
from penstock.cli.tasks import tasks
from penstock.cli.tokens import tokens
from penstock.cli.up import up
from penstock.cli.watch import logs, watch
from penstock.cli.worker import worker
from penstock.cli.workflows import publish, start, start_source, stop_source, workflows

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


COMMANDS = (
    *(check, run, simulate, draw, tasks, demo, bench, up, server, worker),
    *(publish, workflows, start_source, stop_source, pause, resume),
    *(start, runs, show, history, logs, watch, why),
    *(emit, cancel, retry, rerun, skip, incidents),
    *(workers, queues, doctor),
)
for command in COMMANDS:
    app.command(cls=Command)(command)
app.add_typer(tokens, name="tokens")
app.add_typer(access, name="access")
app.add_typer(secret, name="secret")
app.add_typer(db, name="db")


def _usable(stream: TextIO | None) -> TextIO:
    """A stream that takes every character; one that was closed takes all and keeps nothing."""
    if stream is None:
        return open(os.devnull, "w", encoding="utf-8")
    if isinstance(stream, TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")
    return stream


def _apart(stdout: TextIO) -> TextIO:
    """A duplicate of stdout for answers; what others write to its descriptor, or pass on to a program, is stderr's."""
    try:
        number = stdout.fileno()
        stdout.flush()
        own = open(os.dup(number), "w", encoding=stdout.encoding, errors="backslashreplace")  # noqa: SIM115
        os.dup2(sys.stderr.fileno(), number)
    except (OSError, ValueError):
        return stdout
    return own


def main() -> None:
    """The entry point: never a traceback, whatever the streams are."""
    sys.stdout, sys.stderr = _usable(sys.stdout), _usable(sys.stderr)
    sys.stdout = _apart(sys.stdout)
    code = app(standalone_mode=False)
    # What tasks have left for the end of the process must not follow the answer.
    sys.stdout = sys.stderr
    leave(code)
