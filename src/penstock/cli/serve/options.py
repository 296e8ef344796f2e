"""The options that several of the commands that serve have."""

from __future__ import annotations

from typing import Annotated

from penstock.cli.io.parameters import option

Host = Annotated[
    str | None,
    option(
        "--host",
        "HOST",
        "The address to listen on; 127.0.0.1 unless said otherwise. Another one needs a token.",
    ),
]
Port = Annotated[
    int | None,
    option("--port", "PORT", "The port; 7777 unless said otherwise, 0 finds a free one.", min=0, max=65535),
]
Stores = Annotated[
    list[str] | None,
    option(
        "--store",
        "NAME=URL",
        "An object store: s3://bucket?endpoint=…&region=… or dir:///path. May be given again.",
    ),
]
Buses = Annotated[
    list[str] | None,
    option(
        "--bus",
        "NAME=URL",
        "A broker: nats://host:4222, amqp://user@host/ or kafka://host:9092. May be given again.",
    ),
]
TaskSources = Annotated[
    list[str] | None,
    option("--tasks", "MODULE|FILE", "Python tasks: a module, or a .py file. May be given again."),
]
TaskLists = Annotated[
    list[str] | None,
    option(
        "--task-list",
        "LIST",
        "Serve this task list. May be given again. By default the lists that the tasks and workflows here name.",
    ),
]
Concurrency = Annotated[int, option("--concurrency", "N", "How many tasks may run at a time.", min=1)]
Processes = Annotated[
    int,
    option(
        "--processes",
        "N",
        "Run tasks in N child processes, one at a time in each; 0: in this process.",
        min=0,
    ),
]
Grace = Annotated[str, option("--grace", "DURATION", "How long a stop waits for tasks that run.")]
LogLevel = Annotated[str, option("--log-level", "LEVEL", "What is logged: debug, info, warning or error.")]
LogFormat = Annotated[str, option("--log-format", "FORMAT", "How it is logged: text, or json for machines.")]
Stats = Annotated[
    str | None,
    option("--stats", "FILE", "Write what was counted to this file as JSON, twice a second and at the end."),
]
Shell = Annotated[
    str | None,
    option(
        "--shell",
        "DIR",
        "Also run the commands of `shell` steps, in this folder and below. All who may publish may then run any.",
    ),
]
