"""The group of all commands: whatever goes wrong ends in a sentence and an exit code, never in a traceback."""

from __future__ import annotations

import os
import sys
import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

from penstock.cli.io.console import answering, answers, print_json
from penstock.cli.io.problems import Wrong

YES, NO, WRONG, BROKEN, INTERRUPTED, BROKEN_PIPE = 0, 1, 2, 70, 130, 141
TRACEBACK = "PENSTOCK_TRACEBACK"
"""Set it, and a bug in Penstock shows its traceback."""


class Command(TyperCommand):
    """A command whose help does not say `<bool>` behind every switch."""

    def get_params(self, ctx: Any) -> list[Any]:
        return _bare_switches(super().get_params(ctx))


class Commands(TyperGroup):
    """Runs a command and turns its end into an exit code."""

    def get_params(self, ctx: Any) -> list[Any]:
        return _bare_switches(super().get_params(ctx))

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        given = list(sys.argv[1:] if args is None else args)
        run = super().main

        def work() -> int:
            extra["obj"] = given
            return int(run(given, "penstock", complete_var, False, windows_expand_args, **extra) or YES)

        with answering():
            code = _answer(work, "--json" in given)
        if standalone_mode:
            sys.exit(code)
        return code


def group(help: str) -> typer.Typer:
    """A command with commands of its own; alone it shows its help."""
    return typer.Typer(
        cls=Commands, rich_markup_mode="rich", help=help, callback=show_help, invoke_without_command=True
    )


def show_help(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        print(context.get_help())


class LazyGroup(Commands):
    """Commands that are imported when they are asked for: nobody waits for what another command needs."""

    homes: ClassVar[Mapping[str, str]] = {}
    """The name of each command, and the module and name of its function or group."""
    panels: ClassVar[Mapping[str, str]] = {}
    """The panel of `--help` that shows a command."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(self.homes)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        home = self.homes.get(cmd_name)
        if home is None:
            return None
        command = _imported(cmd_name, home)
        command.rich_help_panel = self.panels.get(cmd_name)
        return command

    @property  # type: ignore[override]
    def commands(self) -> dict[str, Any]:
        """All of them, imported."""
        return {name: self.get_command(None, name) for name in self.homes}

    @commands.setter
    def commands(self, given: Any) -> None:
        """There are no others."""


@cache
def _imported(name: str, home: str) -> Any:
    module, _, attribute = home.partition(":")
    found = getattr(import_module(module), attribute)
    if not isinstance(found, typer.Typer):
        single, found = found, typer.Typer(rich_markup_mode="rich", add_completion=False)
        found.command(name, cls=Command)(single)
    command = typer.main.get_command(found)
    command.name = name
    return command


def _bare_switches(params: list[Any]) -> list[Any]:
    for param in params:
        if isinstance(param, TyperOption) and param.is_flag and param.metavar is None:
            param.metavar = ""
    return params


def _answer(work: Callable[[], int], as_json: bool) -> int:
    try:
        return _tell(work, as_json)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _drop_output()
        return BROKEN_PIPE
    except SystemExit as end:
        if isinstance(end.__context__, BrokenPipeError):
            _drop_output()
            return BROKEN_PIPE
        return end.code if isinstance(end.code, int) else NO


def _tell(work: Callable[[], int], as_json: bool) -> int:
    try:
        code = work()
        answers().flush()
        return code
    except typer.Abort:
        return INTERRUPTED
    except BrokenPipeError:
        raise
    except typer.TyperException as error:
        wrong = _wrong_use(error)
    except Exception as error:
        known = Wrong.of(error)
        if known is None:
            return _broken(error)
        wrong = known
    wrong.show()
    try:
        if as_json:
            print_json(wrong.view())
        answers().flush()
    except BrokenPipeError:
        raise
    except OSError:
        # The answer cannot be written, which is what was just said.
        _drop_output()
    return WRONG


def _wrong_use(error: typer.TyperException) -> Wrong:
    """A mistake on the command line, as one sentence that says where help is."""
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "penstock"
    what = " ".join(error.format_message().split()).removesuffix(".")
    stop = " " if what.endswith("?") else ". "
    return Wrong.because(f"{what}{stop}See `{command} --help`.", "usage")


def _broken(error: Exception) -> int:
    """A mistake of Penstock itself: no traceback unless it is asked for."""
    if os.environ.get(TRACEBACK):
        traceback.print_exception(error)
    what = f"{type(error).__name__}: {error}"
    print(
        f"error: this is a bug in Penstock, please report it: {what} ({TRACEBACK}=1 shows where)",
        file=sys.stderr,
    )
    return BROKEN


def _drop_output() -> None:
    """Nobody reads on: what is still buffered must not complain at exit."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), answers().fileno())
    except (OSError, ValueError):
        return


def exit_process(code: int) -> None:
    """End the process. A task that still sits in its thread, no longer wanted, must not hold it."""
    for thread in threading.enumerate():
        if thread.name.startswith("penstock-task"):
            thread.join(0.2)
            if thread.is_alive():
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(code)
    sys.exit(code)
