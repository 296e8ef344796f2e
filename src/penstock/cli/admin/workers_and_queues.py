"""`penstock workers` and `queues`: who works, and what waits."""

from __future__ import annotations

from penstock.cli.io.console import printable
from penstock.cli.io.inputs import AsJson
from penstock.cli.io.tables import print_list
from penstock.cli.io.target import Target, acting
from penstock.cli.io.times import Local, ago, moment


@acting
def workers(at: Target, local: Local = False, json: AsJson = False) -> None:
    """List the connected workers.

    [bold]Examples[/bold]

      penstock workers
    """
    print_list(
        at.do(lambda engine: engine.workers()),
        json,
        ("worker", "task lists", "concurrency:", "started", "seen", "tasks"),
        lambda each: (
            printable(each["name"]),
            printable(", ".join(each["task_lists"])),
            str(each["concurrency"]),
            moment(each["started_at"], local),
            ago(each["seen_at"]),
            printable(", ".join(each["tasks"])),
        ),
        spare=("tasks", "started"),
    )


@acting
def queues(at: Target, local: Local = False, json: AsJson = False) -> None:
    """List the task lists: how many tasks wait, are held by a pause or are running, and since when the oldest waits.

    [bold]Examples[/bold]

      penstock queues --json
    """
    print_list(
        at.do(lambda engine: engine.queues()),
        json,
        ("task list", "waiting:", "held:", "running:", "oldest", "ago"),
        lambda each: (
            printable(each["task_list"]),
            *(str(each[name]) for name in ("ready", "held", "running")),
            moment(each["oldest"], local),
            ago(each["oldest"]),
        ),
        spare=("oldest",),
    )
