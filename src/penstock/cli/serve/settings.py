"""Settings of a command: its options before the environment before `penstock.toml`."""

from __future__ import annotations

import os
from typing import Annotated, Any

import typer

from penstock.server.settings import Settings, read_settings

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


def settings_of(**options: Any) -> Settings:
    """What is in force for a command with these options. Raises BadSettings."""
    return read_settings(options, variables=os.environ)
