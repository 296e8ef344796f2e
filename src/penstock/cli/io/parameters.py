"""Options and arguments, as the commands have them in `Annotated`."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any

import typer

Function = Callable[..., None]


def option(flags: str, metavar: str, help: str, **more: Any) -> Any:
    """An option with a value; it may have several flags, such as `--output -o`."""
    return typer.Option(*flags.split(), metavar=metavar, help=help, **more)


def argument(metavar: str, help: str, **more: Any) -> Any:
    """What is given by its place."""
    return typer.Argument(metavar=metavar, help=help, **more)


def expanded(
    command: Function, name: str, options: Mapping[str, Any], read: Callable[..., Any], place: int
) -> Function:
    """The command with these options at a place, instead of the parameter that `read` makes of them."""
    signature = inspect.signature(command, eval_str=True)
    own = [each for each in signature.parameters.values() if each.name != name]
    added = [
        inspect.Parameter(option, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None, annotation=kind)
        for option, kind in options.items()
    ]
    shown = [*own[:place], *added, *own[place:]]

    @functools.wraps(command)
    def called(**values: Any) -> None:
        said = read(**{option: values.pop(option) for option in options})
        command(**{name: said}, **values)

    called.__signature__ = signature.replace(parameters=shown)  # type: ignore[attr-defined]
    called.__annotations__ = {each.name: each.annotation for each in shown}
    return called
