"""The reference page of the command line, written from the commands themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import typer

from penstock.cli.main import app

HEAD = """\
# Command line

This page is written by `make reference` from the commands themselves: `penstock --help` and
`penstock COMMAND --help` say the same.

Answers go to stdout, everything else to stderr. With `--json` stdout holds one JSON document and nothing else; a
mistake is then `{"file", "problems": [{"code", "path", "message", "line", "column"}]}`, and its sentence is on stderr
as well. Colours appear only on a terminal, and not where `NO_COLOR` is set.

| exit code | says |
| --- | --- |
| 0 | yes: no error was found, the run succeeded |
| 1 | an error among the findings (with `--strict` also a warning), or a run that did not succeed |
| 2 | wrong use, or input that cannot be read |
| 130 | ended by Ctrl-C; for a process that stays: by a second signal |

**Databases.** `--db` is a path for SQLite (`penstock.db`, `sqlite:///var/lib/penstock.db`) or
`postgresql://user:password@host/name`; the variable `PENSTOCK_DB` says the same. See
[Keep workflows running](../howto/running.md).

**Tasks.** `check`, `run`, `simulate` and `draw` take Python tasks with `--tasks`: a module such as `shop.tasks`, found
from the current folder, or a `.py` file, whose folder can be imported from while it is read. Without `--tasks` the
file of the same name beside the definition is imported (`order.py` for `order.yaml`) and named on stderr. Importing
runs its code: pass `--no-tasks` for definitions that you do not trust.

**Completion.** `penstock --install-completion` teaches your shell the commands and options.
"""


def reference_text() -> str:
    """The whole page."""
    group: Any = typer.main.get_command(app)
    return "\n".join(
        [HEAD, *(line for name, command in _commands(group) for line in _command(name, command))]
    )


def _commands(group: Any, before: str = "") -> Iterator[tuple[str, Any]]:
    """Every command by its name; those of a group inside by both names."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from _commands(command, f"{before}{name} ")
        else:
            yield f"{before}{name}", command


def _command(name: str, command: Any) -> Iterator[str]:
    arguments = [param for param in command.params if param.param_type_name == "argument"]
    options = [param for param in command.params if param.param_type_name == "option"]
    usage = " ".join(param.metavar or param.name.upper() for param in arguments)
    yield f"## penstock {name}\n"
    yield f"```text\npenstock {name} [OPTIONS] {usage}".rstrip() + "\n```\n"
    yield _prose(command.help)
    yield "| option | says |\n| --- | --- |"
    for param in (*arguments, *options):
        yield f"| {_signature(param)} | {_says(param)} |"
    yield ""


def _prose(help: str) -> str:
    """The doc of a command as Markdown; its examples as one block."""
    words, _, examples = help.partition("[bold]Examples[/bold]")
    lines = [line.strip() for line in examples.splitlines() if line.strip()]
    return f"{words.strip()}\n\n```sh\n" + "\n".join(lines) + "\n```\n"


def _signature(param: Any) -> str:
    if param.param_type_name == "argument":
        return f"`{param.metavar}`".replace("|", "\\|")
    names = ", ".join(f"`{name}`" for name in param.opts)
    return f"{names} `{param.metavar}`".replace("|", "\\|") if param.metavar else names


def _says(param: Any) -> str:
    default = param.default
    shown = (
        f" Default: `{default}`." if default not in (None, False, [], ()) and not callable(default) else ""
    )
    return re.sub(r"\s+", " ", param.help or "") + shown
