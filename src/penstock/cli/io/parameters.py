"""Options and arguments, as the commands have them in `Annotated`."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, get_args

import typer

Function = Callable[..., None]
Parameters = list[inspect.Parameter]


def option(flags: str, metavar: str, help: str, **more: Any) -> Any:
    """An option with a value; it may have several flags, such as `--output -o`."""
    return typer.Option(*flags.split(), metavar=metavar, help=help, **more)


def argument(metavar: str, help: str, **more: Any) -> Any:
    """What is given by its place."""
    return typer.Argument(metavar=metavar, help=help, **more)


def expanded(
    command: Function,
    name: str,
    options: Mapping[str, Any],
    read: Callable[..., Any],
    arranged: Callable[[Parameters, Parameters], Parameters],
) -> Function:
    """The command with these options instead of one parameter, which is what `read` makes of them.

    A switch is off and anything else is None where it is not given. `arranged` puts the options among those of the
    command.
    """
    signature = inspect.signature(command, eval_str=True)
    own = [each for each in signature.parameters.values() if each.name != name]
    added = [
        inspect.Parameter(
            option,
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
            default=False if get_args(kind)[0] is bool else None,
            annotation=kind,
        )
        for option, kind in options.items()
    ]
    shown = arranged(own, added)

    @functools.wraps(command)
    def called(**values: Any) -> None:
        said = read(**{option: values.pop(option) for option in options})
        command(**{name: said}, **values)

    called.__signature__ = signature.replace(parameters=shown)  # type: ignore[attr-defined]
    called.__annotations__ = {each.name: each.annotation for each in shown}
    return called
