"""`penstock workers` and `queues`: who works, and what waits."""

from __future__ import annotations

from penstock.cli.io.console import out, print_json, printable
from penstock.cli.io.inputs import AsJson
from penstock.cli.io.tables import print_table
from penstock.cli.io.target import Target, acting
from penstock.cli.io.times import Local, ago, moment


@acting
def workers(at: Target, local: Local = False, json: AsJson = False) -> None:
    """List the connected workers.

    [bold]Examples[/bold]

      penstock workers
    """
    found = at.do(lambda engine: engine.workers())
    if json:
        print_json(found)
        return
    rows = [
        (
            printable(each["name"]),
            printable(", ".join(each["task_lists"])),
            str(each["concurrency"]),
            moment(each["started_at"], local),
            ago(each["seen_at"]),
            printable(", ".join(each["tasks"])),
        )
        for each in found
    ]
    titles = ("worker", "task lists", "concurrency:", "started", "seen", "tasks")
    print_table(out(), titles, rows, ("tasks", "started"))


@acting
def queues(at: Target, local: Local = False, json: AsJson = False) -> None:
    """List the task lists: how many tasks wait, are held by a pause or are running, and since when the oldest waits.

    [bold]Examples[/bold]

      penstock queues --json
    """
    found = at.do(lambda engine: engine.queues())
    if json:
        print_json(found)
        return
    rows = [
        (
            printable(each["task_list"]),
            *(str(each[name]) for name in ("ready", "held", "running")),
            moment(each["oldest"], local),
            ago(each["oldest"]),
        )
        for each in found
    ]
    titles = ("task list", "waiting:", "held:", "running:", "oldest", "ago")
    print_table(out(), titles, rows, ("oldest",))
