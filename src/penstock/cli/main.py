"""The command `penstock`: every command is registered here."""

from __future__ import annotations

import os
import sys
from io import TextIOWrapper
from keyword import iskeyword
from typing import Annotated, ClassVar, TextIO

import typer

from penstock import __version__
from penstock.cli.io.command_group import Shelved, leave

HOMES = {
    "check": "check",
    "run": "run",
    "simulate": "simulate",
    "draw": "draw",
    "import": "importing",
    "export": "exporting",
    "tasks": "tasks",
    "demo": "demo",
    "examples": "examples",
    "bench": "bench",
    "up": "up",
    "server": "server",
    "worker": "worker",
    "publish": "workflows",
    "workflows": "workflows",
    "start-source": "workflows",
    "stop-source": "workflows",
    "pause": "acting",
    "resume": "acting",
    "schedules": "schedules",
    "sources": "schedules",
    "backfill": "schedules",
    "start": "workflows",
    "runs": "runs",
    "show": "runs",
    "history": "runs",
    "logs": "watch",
    "watch": "watch",
    "why": "explaining",
    "emit": "acting",
    "cancel": "acting",
    "retry": "acting",
    "rerun": "acting",
    "skip": "acting",
    "approvals": "approvals",
    "approve": "approvals",
    "reject": "approvals",
    "incidents": "explaining",
    "redeliver": "explaining",
    "workers": "operating",
    "queues": "operating",
    "doctor": "doctor",
    "tokens": "tokens",
    "access": "access",
    "secret": "secrets",
    "db": "db",
}
"""Each command, and the module where it is."""


class All(Shelved):
    """Every command of `penstock`."""

    homes: ClassVar = {
        # A name that is a word of Python has a function with an underscore.
        name: f"penstock.cli.{home}:{name.replace('-', '_')}{'_' if iskeyword(name) else ''}"
        for name, home in HOMES.items()
    }


app = typer.Typer(
    name="penstock",
    cls=All,
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
