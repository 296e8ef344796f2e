"""The reference pages of the command line and of the settings, written from the commands and the settings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import typer

from penstock.cli.main import app
from penstock.server.settings import PREFIX, SETTINGS, Setting

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

**Servers.** Commands that act on workflows and runs ask the server at `http://127.0.0.1:7777`, or the one that
`--server` or `PENSTOCK_SERVER` names; where it needs sign-in, put a token into `PENSTOCK_TOKEN`. With `--db` they open
a database themselves instead: PostgreSQL lets them in at any time, a SQLite file is theirs only while no other process
has it. Every option that is a [setting](settings.md) can also be in the environment or in `penstock.toml`.

**Databases.** `--db` is a path for SQLite (`penstock.db`, `sqlite:///var/lib/penstock.db`) or
`postgresql://user:password@host/name`; for `up`, `server`, `db` and `doctor` the variable `PENSTOCK_DB` says the same.
See [Keep workflows running](../howto/running.md).

**Times** are in UTC, or with `--local` in the zone of your machine. Options such as `--since` take a time
(`2026-03-02T15:30:00Z`, `2026-03-02`) or how long ago it was (`2h`).

**Tasks.** `check`, `run`, `simulate` and `draw` take Python tasks with `--tasks`: a module such as `shop.tasks`, found
from the current folder, or a `.py` file, whose folder can be imported from while it is read. Without `--tasks` the
file of the same name next to the definition is imported (`order.py` for `order.yaml`) and named on stderr. Importing
runs its code: pass `--no-tasks` for definitions that you do not trust.

**Completion.** `penstock --install-completion` teaches your shell the commands and options, and the names of workflows
and the ids of runs where the server answers at once.
"""

SETTINGS_HEAD = """\
# Settings

This page is written by `make reference` from the settings themselves.

A setting is said by an option, or else by a variable, or else in the file `penstock.toml` of the current folder, or
else it has its default. `penstock doctor` shows what is in force and who says so. What is not known, or cannot be, is
told in a sentence each, and nothing begins.

```toml
# penstock.toml
db = "postgresql://penstock@db.example/penstock"
host = "0.0.0.0"
tasks = ["shop.tasks", "video.py"]
retention_days = {succeeded = 7, failed = 90}
```

In a variable a list has commas between its items (`PENSTOCK_TASKS=shop.tasks,video.py`), and a map is
`NAME=VALUE` with commas between (`PENSTOCK_RETENTION_DAYS=succeeded=7,failed=90`). Variables are the place for what is
secret: options show in the list of processes.
"""

SETTINGS_FOOT = """\
`PENSTOCK_SECRET_KEY` is no setting but the key of the [secrets](../explain/access.md), where it is not in
`penstock.key`; `PENSTOCK_TRACEBACK=1` shows where a bug in Penstock is.
"""


def reference_text() -> str:
    """The whole page."""
    group: Any = typer.main.get_command(app)
    return "\n".join(
        [HEAD, *(line for name, command in _commands(group) for line in _command(name, command))]
    )


def settings_text() -> str:
    """The whole page of settings."""
    rows = [_setting(each) for each in SETTINGS.values() if each.used]
    later = [_setting(each) for each in SETTINGS.values() if not each.used]
    head = "| setting | variable | default | says |\n| --- | --- | --- | --- |"
    unused = ["These are known, and nothing uses them yet:", "", head, *later, ""] if later else []
    return "\n".join([SETTINGS_HEAD, head, *rows, "", *unused, SETTINGS_FOOT])


def _setting(setting: Setting) -> str:
    default = f"`{setting.default}`" if setting.default not in (None, (), {}) else ""
    return f"| `{setting.name}` | `{PREFIX}{setting.name.upper()}` | {default} | {setting.says} |"


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
