"""Options and arguments, as the commands have them in `Annotated`."""

from __future__ import annotations

from typing import Any

import typer


def option(flags: str, metavar: str, help: str, **more: Any) -> Any:
    """An option with a value; it may have several flags, such as `--output -o`."""
    return typer.Option(*flags.split(), metavar=metavar, help=help, **more)


def argument(metavar: str, help: str, **more: Any) -> Any:
    """What is given by its place."""
    return typer.Argument(metavar=metavar, help=help, **more)
