"""The command `penstock`: every command is registered here."""

from __future__ import annotations

import os
import sys
from io import TextIOWrapper
from keyword import iskeyword
from typing import Annotated, ClassVar, TextIO

import typer

from penstock import __version__
from penstock.cli.io.command_group import LazyGroup, exit_process, show_help

PANELS = {
    "Start here": {
        "demo": "demo.demo",
        "examples": "author.examples",
    },
    "Draw, prove and try": {
        "check": "author.check",
        "run": "author.run",
        "simulate": "author.simulate",
        "draw": "author.draw",
        "import": "author.import_definition",
        "export": "author.export",
        "tasks": "author.tasks",
    },
    "Serve": {
        "up": "serve.up",
        "server": "serve.server",
        "worker": "serve.worker",
    },
    "Workflows": {
        "publish": "runs.workflows",
        "workflows": "runs.workflows",
        "start-source": "runs.workflows",
        "stop-source": "runs.workflows",
        "pause": "runs.actions",
        "resume": "runs.actions",
        "schedules": "runs.schedules",
        "sources": "runs.schedules",
        "backfill": "runs.schedules",
    },
    "Runs": {
        "start": "runs.workflows",
        "runs": "runs.runs",
        "show": "runs.runs",
        "history": "runs.runs",
        "logs": "runs.watch",
        "watch": "runs.watch",
        "why": "runs.why",
        "emit": "runs.actions",
        "cancel": "runs.actions",
        "retry": "runs.actions",
        "rerun": "runs.actions",
        "skip": "runs.actions",
        "tokens": "runs.tokens",
    },
    "People and incidents": {
        "approvals": "runs.approvals",
        "approve": "runs.approvals",
        "reject": "runs.approvals",
        "incidents": "runs.why",
        "redeliver": "runs.why",
    },
    "Operate": {
        "workers": "admin.workers_and_queues",
        "queues": "admin.workers_and_queues",
        "doctor": "admin.doctor",
        "access": "admin.access",
        "secret": "admin.secrets",
        "db": "admin.db",
    },
}
"""The commands as `--help` groups them, and the module of each below `penstock.cli`."""


class All(LazyGroup):
    """Every command of `penstock`."""

    panels: ClassVar = {name: panel for panel, homes in PANELS.items() for name in homes}
    homes: ClassVar = {
        # A name that is a word of Python has a function with an underscore.
        name: f"penstock.cli.{home}:{name.replace('-', '_')}{'_' if iskeyword(name) else ''}"
        for homes in PANELS.values()
        for name, home in homes.items()
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
    show_help(context)


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
    exit_process(code)
