"""`penstock watch` and `logs`: runs while they go on."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

import typer
from rich.text import Text

from penstock.cli.io.command_group import NO, YES
from penstock.cli.io.console import answers, out, print_json, printable
from penstock.cli.io.inputs import AsJson
from penstock.cli.io.target import Penstock, Target, acting
from penstock.cli.io.times import Local, moment
from penstock.cli.runs.runs import Run, show_view
from penstock.cli.runs.watch_stream import watched
from penstock.remote.engine import OVER

EVERY = 0.5
"""Seconds between two looks for new lines."""
LEVELS = {"error": "error", "warning": "warning", "debug": "faint"}

Follow = Annotated[bool, typer.Option("--follow", "-f", help="Follow the log until the run has ended.")]


@acting
def watch(at: Target, run: Run, json: AsJson = False) -> None:
    """Draw a run live, until it has ended or is stalled.

    Without a terminal, print a line for each thing that happens. Exit code 0: it succeeded. 1: it did not.

    [bold]Examples[/bold]

      penstock watch 1a1e21b4904dfa6a32b7
    """
    view = at.do(lambda engine: watched(engine, run, quiet=json, stay=True))
    if json or not out().is_terminal:
        show_view(view, json)
    raise typer.Exit(YES if view["status"] == "succeeded" else NO)


@acting
def logs(at: Target, run: Run, follow: Follow = False, local: Local = False, json: AsJson = False) -> None:
    """Show what the tasks of a run wrote with `ctx.log`.

    [bold]Examples[/bold]

      penstock logs 1a1e21b4904dfa6a32b7

      penstock logs -f 1a1e21b4904dfa6a32b7
    """
    if follow and not json:
        at.do(lambda engine: _follow(engine, run, local))
        return
    lines = at.do(lambda engine: _all(engine, run, wait=follow))
    if json:
        print_json(lines)
    else:
        _show(lines, local)


async def _all(engine: Penstock, run: str, wait: bool) -> list[dict[str, Any]]:
    if wait:
        await engine.wait(run)
    return await engine.logs(run, limit=100_000)


async def _follow(engine: Penstock, run: str, local: bool) -> None:
    seen = 0
    while True:
        over = (await engine.show(run))["status"] in OVER
        lines = await engine.logs(run, limit=100_000)
        _show(lines[seen:], local)
        seen = max(seen, len(lines))
        answers().flush()
        if over:
            return
        await asyncio.sleep(EVERY)


def _show(lines: list[dict[str, Any]], local: bool) -> None:
    console = out()
    for line in lines:
        item = "" if line.get("index") is None else f"[{line['index']}]"
        style = LEVELS.get(line.get("level", "info"), "")
        console.print(
            Text.assemble(
                (f"{moment(line.get('at'), local)} ", "faint"),
                f"{printable(str(line.get('step')))}{item}: ",
                (printable(str(line.get("text", line.get("message", "")))), style),
            )
        )
