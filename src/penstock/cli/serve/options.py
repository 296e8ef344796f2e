"""The options that several of the commands that serve have."""

from __future__ import annotations

from typing import Annotated

import typer

Host = Annotated[
    str | None,
    typer.Option(
        "--host",
        metavar="HOST",
        help="The address to listen on; 127.0.0.1 unless said otherwise. Another one needs a token.",
    ),
]
Port = Annotated[
    int | None,
    typer.Option(
        "--port",
        metavar="PORT",
        min=0,
        max=65535,
        help="The port; 7777 unless said otherwise, 0 finds a free one.",
    ),
]
Stores = Annotated[
    list[str] | None,
    typer.Option(
        "--store",
        metavar="NAME=URL",
        help="An object store: s3://bucket?endpoint=…&region=… or dir:///path. May be given again.",
    ),
]
Buses = Annotated[
    list[str] | None,
    typer.Option(
        "--bus",
        metavar="NAME=URL",
        help="A broker: nats://host:4222, amqp://user@host/ or kafka://host:9092. May be given again.",
    ),
]
TaskSources = Annotated[
    list[str] | None,
    typer.Option(
        "--tasks", metavar="MODULE|FILE", help="Python tasks: a module, or a .py file. May be given again."
    ),
]
TaskLists = Annotated[
    list[str] | None,
    typer.Option(
        "--task-list",
        metavar="LIST",
        help="Serve this task list. May be given again. By default the lists that the tasks and workflows here name.",
    ),
]
Concurrency = Annotated[
    int, typer.Option("--concurrency", metavar="N", min=1, help="How many tasks may run at a time.")
]
Processes = Annotated[
    int,
    typer.Option(
        "--processes",
        metavar="N",
        min=0,
        help="Run tasks in N child processes, one at a time in each; 0: in this process.",
    ),
]
Grace = Annotated[
    str, typer.Option("--grace", metavar="DURATION", help="How long a stop waits for tasks that run.")
]
LogLevel = Annotated[
    str, typer.Option("--log-level", metavar="LEVEL", help="What is logged: debug, info, warning or error.")
]
LogFormat = Annotated[
    str, typer.Option("--log-format", metavar="FORMAT", help="How it is logged: text, or json for machines.")
]
Stats = Annotated[
    str | None,
    typer.Option(
        "--stats",
        metavar="FILE",
        help="Write what was counted to this file as JSON, twice a second and at the end.",
    ),
]
Shell = Annotated[
    str | None,
    typer.Option(
        "--shell",
        metavar="DIR",
        help="Also run the commands of `shell` steps, in this folder and below. All who may publish may then run any.",
    ),
]
