"""`penstock schedules`, `sources` and `backfill`: what starts by itself, and runs for ticks of the past."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from penstock.cli.io.console import out, print_json, print_result, printable
from penstock.cli.io.inputs import AsJson
from penstock.cli.io.parameters import option
from penstock.cli.io.problems import Wrong
from penstock.cli.io.tables import print_list
from penstock.cli.io.target import Target, acting
from penstock.cli.io.times import Local, moment
from penstock.cli.runs.workflows import Workflow

Cron = Annotated[str | None, option("--cron", "LINE", "Show the next ticks of this cron line instead.")]
Every = Annotated[str | None, option("--every", "DURATION", "Show the next ticks of this interval instead.")]
Zone = Annotated[str | None, option("--tz", "ZONE", "The time zone of --cron, such as Europe/Berlin.")]
Since = Annotated[
    str | None,
    option(
        "--from",
        "TIME",
        "The first moment: 2026-03-02, or 2026-03-02T15:30:00Z; without a zone it is of the schedule's.",
    ),
]
Until = Annotated[str | None, option("--to", "TIME", "The last moment; a day is the whole day.")]
Failing = Annotated[bool, typer.Option("--failing", help="Only those that fail.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only count the ticks.")]
Cancel = Annotated[bool, typer.Option("--cancel", help="End the running backfill; its runs stay.")]


@acting
def schedules(
    at: Target,
    cron: Cron = None,
    every: Every = None,
    tz: Zone = None,
    local: Local = False,
    json: AsJson = False,
) -> None:
    """List what clocks start: the next tick, the last run, the state; or show the ticks of a schedule to be.

    [bold]Examples[/bold]

      penstock schedules

      penstock schedules --cron "30 2 * * 1-5" --tz Europe/Berlin
    """
    if cron is not None or every is not None:
        _show_ticks(
            at.do(lambda engine: engine.schedules.preview(cron=cron, every=every, tz=tz)), local, json
        )
        return
    found = at.do(lambda engine: engine.schedules.all())
    titles = ("workflow", "schedule", "state", "next", "last tick", "last run", "error")
    print_list(found, json, titles, lambda each: _line(each, local), ("error", "last run"))


def _show_ticks(ticks: dict[str, Any], local: bool, json: bool) -> None:
    if json:
        print_json(ticks)
        return
    out().print(printable(ticks["schedule"]))
    for tick in ticks["next"]:
        out().print(moment(tick, local))


def _line(each: dict[str, Any], local: bool) -> tuple[str, ...]:
    return (
        printable(each["workflow"]),
        printable(each["schedule"]),
        each["state"],
        moment(each["next"][0] if each["next"] else None, local),
        moment(each["last_tick"], local),
        each["last_run"] or "",
        printable(each["error"] or ""),
    )


@acting
def sources(at: Target, failing: Failing = False, local: Local = False, json: AsJson = False) -> None:
    """List what is fed (clocks, searches, folders, topics, backfills): by which node, since when it fails and why.

    [bold]Examples[/bold]

      penstock sources

      penstock sources --failing
    """
    found = at.do(lambda engine: engine.schedules.sources())
    if failing:
        found = [each for each in found if each["state"] == "failing"]
    titles = ("workflow", "source", "state", "node", "failures:", "last error", "error")
    print_list(found, json, titles, lambda each: _source_line(each, local), ("error", "node"))
    for hint in dict.fromkeys(each["hint"] for each in found if each["hint"] and not json):
        out().print(printable(hint), style="faint")


def _source_line(each: dict[str, Any], local: bool) -> tuple[str, ...]:
    event = f" of {each['event']}" if each["event"] else ""
    return (
        printable(each["workflow"]),
        printable(f"{each['kind']}{event}"),
        each["state"],
        printable(each["node"] or ""),
        str(each["failures"] or ""),
        moment(each["error_at"], local),
        printable(each["error"] or ""),
    )


@acting
def backfill(
    at: Target,
    name: Workflow,
    since: Since = None,
    until: Until = None,
    dry_run: DryRun = False,
    cancel: Cancel = False,
    json: AsJson = False,
) -> None:
    """Make the runs of past ticks, up to 10,000; those that exist already are not made again.

    A server does it, also where the source of the workflow is stopped; `penstock schedules --json` shows its progress.

    [bold]Examples[/bold]

      penstock backfill nightly --from 2026-03-01 --to 2026-03-14 --dry-run

      penstock backfill nightly --from 2026-03-02T15:30:00Z --to 2026-03-03
    """
    if cancel:
        _cancel(at, name, json)
        return
    if since is None or until is None:
        raise Wrong.because("a backfill needs --from and --to: from when, and to when.")
    told = at.do(lambda engine: engine.schedules.backfill(name, since=since, until=until, dry_run=dry_run))
    would = "would be made" if dry_run else "are being made"
    first, last = moment(told["from"]), moment(told["to"])
    words = f"{told['count']} ticks from {first} to {last}: their runs {would}, where they are not there yet"
    print_result(told, words, json)


def _cancel(at: Target, name: str, json: bool) -> None:
    done = at.do(lambda engine: engine.schedules.cancel_backfill(name))
    shown = printable(name)
    words = f"the backfill of {shown} is canceled" if done else f"{shown} has no running backfill"
    print_result({"name": name, "canceled": done}, words, json)
