"""`--filter`: one action on many runs, after a preview."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from typing import Annotated, Any, NoReturn

import typer
from msgspec import Struct
from rich.text import Text

from penstock.cli.io.command_group import NO, YES
from penstock.cli.io.console import out, plural, print_json, printable, working
from penstock.cli.io.inputs import AsJson
from penstock.cli.io.parameters import Function, expanded, option
from penstock.cli.io.problems import Wrong
from penstock.cli.io.target import PLACE, Target, place
from penstock.cli.runs.filters import FILTERS, read_filter, read_pair
from penstock.cli.runs.runs import show_view
from penstock.runtime.commands.verbs import VERBS

_ANOTHER = re.compile(rf"\s+(?=(?:{'|'.join(sorted(FILTERS))})=)")
NOTHING = {"count": 0, "done": 0, "refused": 0, "failed": 0, "errors": [], "more": False, "made": []}

Filters = Annotated[
    list[str] | None,
    option(
        "--filter",
        "NAME=VALUE",
        "Act on every run that fits, after a preview: workflow=…, status=…, since=2h … May be given again.",
    ),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="With --filter: do it without asking.")]


def read_filters(given: Sequence[str]) -> dict[str, Any]:
    """`NAME=VALUE`, as often as wanted, also several in one; a status may come again. Raises Wrong."""
    found: dict[str, Any] = {}
    for text in (each for one in given for each in _ANOTHER.split(one.strip())):
        name, value = read_pair(text, "--filter")
        if name not in FILTERS:
            raise Wrong.because(f"--filter '{text}' is not known: use {', '.join(sorted(FILTERS))}.")
        if name == "status":
            found.setdefault("status", []).append(value)
        elif name in found:
            raise Wrong.because(f"--filter {name} is given twice: give it once.")
        else:
            found[name] = value
    return read_filter(**found)


class Chosen(Struct, frozen=True):
    """What a command acts on: one run, or with `--filter` many."""

    at: Target
    run: str | None
    json: bool
    filter: list[str] | None = None
    yes: bool = False

    def act(self, action: str, **parameters: Any) -> None:
        """Do it to one run and show what the run is then, or to all that the filter finds. Raises Wrong."""
        if self.filter:
            self._act_on_many(action, self.filter)
        run = self.run
        if run is None:
            raise Wrong.because("name a run, or many with --filter NAME=VALUE.")
        show_view(self.at.do(lambda engine: VERBS[action].act(engine, run, **parameters)), self.json)

    def _act_on_many(self, action: str, given: Sequence[str]) -> NoReturn:
        """Count the runs, ask, act on them. Raises Wrong where nobody can be asked."""
        if self.run is not None:
            raise Wrong.because("name a run or give --filter, not both.")
        filter = read_filters(given)
        count = self.at.do(lambda engine: engine.bulk(action, filter, dry_run=True))["count"]
        if count and not self.yes and not _confirmed(action, count):
            raise typer.Abort
        with working(f"{action}: {plural(count, 'run')}"):
            answer = dict(NOTHING, action=action)
            if count:
                answer = self.at.do(lambda engine: engine.bulk(action, filter))
        if self.json:
            print_json(answer)
        else:
            _show(action, answer)
        raise typer.Exit(NO if answer["errors"] else YES)


def choosing(name: str, kind: Any) -> Callable[[Function], Function]:
    """The command takes a run, `--filter`, `--yes`, where to act and `--json`, and gets them as `on`."""

    def read(filter: list[str] | None, yes: bool, json: bool, **where: Any) -> Chosen:
        run = where.pop(name)
        return Chosen(place(**where), run, json, filter, yes)

    options = {name: kind, "filter": Filters, "yes": Yes, **PLACE, "json": AsJson}
    return lambda command: expanded(
        command, "on", options, read, lambda own, added: [added[0], *own, *added[1:]]
    )


def _show(action: str, answer: dict[str, Any]) -> None:
    refused = f", {answer['refused']:,} had changed meanwhile" if answer["refused"] else ""
    more = "; there are more: do it again" if answer["more"] else ""
    out().print(f"{action}: {plural(answer['done'], 'run')}{refused}{more}")
    for each in answer["errors"]:
        run = f"run {each['run']}: " if each["run"] else ""
        out().print(Text.assemble(("error", "error"), f": {run}{printable(each['message'])}"))


def _confirmed(action: str, count: int) -> bool:
    if not sys.stdin.isatty():
        raise Wrong.because(f"{plural(count, 'run')} would be acted on by {action}: say --yes to do it.")
    return typer.confirm(f"{action} {plural(count, 'run')}?", err=True)
