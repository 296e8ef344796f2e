"""The command `penstock`: every command is registered here."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from io import TextIOWrapper
from keyword import iskeyword
from typing import Annotated, ClassVar, TextIO

import typer

from penstock import __version__
from penstock.cli.io.command_group import LazyGroup, exit_process, show_help

PANELS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "Start here": {"demo.demo": ("demo",), "author.examples": ("examples",)},
    "Draw, prove and try": {
        "author.check": ("check",),
        "author.run": ("run",),
        "author.simulate": ("simulate",),
        "author.draw": ("draw",),
        "author.import_definition": ("import",),
        "author.export": ("export",),
        "author.tasks": ("tasks",),
    },
    "Serve": {"serve.up": ("up",), "serve.server": ("server",), "serve.worker": ("worker",)},
    "Workflows": {
        "runs.workflows": ("publish", "workflows", "start-source", "stop-source"),
        "runs.actions": ("pause", "resume"),
        "runs.schedules": ("schedules", "sources", "backfill"),
    },
    "Runs": {
        "runs.workflows": ("start",),
        "runs.runs": ("runs", "show", "history"),
        "runs.watch": ("logs", "watch"),
        "runs.why": ("why",),
        "runs.actions": ("emit", "cancel", "retry", "rerun", "skip"),
        "runs.tokens": ("tokens",),
    },
    "People and incidents": {
        "runs.approvals": ("approvals", "approve", "reject"),
        "runs.why": ("incidents", "redeliver"),
    },
    "Operate": {
        "admin.workers_and_queues": ("workers", "queues"),
        "admin.doctor": ("doctor",),
        "admin.access": ("access",),
        "admin.secrets": ("secret",),
        "admin.db": ("db",),
    },
}
"""The commands as `--help` groups them, by their modules below `penstock.cli`."""
COMMANDS = [
    (panel, home, name) for panel, homes in PANELS.items() for home, names in homes.items() for name in names
]


class All(LazyGroup):
    """Every command of `penstock`."""

    panels: ClassVar = {name: panel for panel, _, name in COMMANDS}
    homes: ClassVar = {
        # A name that is a word of Python has a function with an underscore.
        name: f"penstock.cli.{home}:{name.replace('-', '_')}{'_' if iskeyword(name) else ''}"
        for _, home, name in COMMANDS
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
