"""The group of all commands: whatever goes wrong ends in a sentence and an exit code, never in a traceback."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any

import typer
from typer.core import TyperGroup

from penstock.cli.console import print_json
from penstock.cli.problems import Wrong
from penstock.flow.problems import DefinitionError
from penstock.runtime.errors import PenstockError

YES, NO, WRONG, INTERRUPTED, BROKEN_PIPE = 0, 1, 2, 130, 141


class Commands(TyperGroup):
    """Runs a command and turns its end into an exit code."""

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

        code = _answer(work, "--json" in given)
        if standalone_mode:
            sys.exit(code)
        return code


def _answer(work: Callable[[], int], as_json: bool) -> int:
    try:
        code = _tell(work, as_json)
        sys.stdout.flush()
        return code
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
        return work()
    except Wrong as error:
        wrong = error
    except DefinitionError as error:
        wrong = Wrong(error.problems, error.file)
    except PenstockError as error:
        wrong = Wrong.because(f"{error}.", error.code)
    except typer.TyperException as error:
        wrong = _wrong_use(error)
    except typer.Abort:
        return INTERRUPTED
    except RecursionError:
        wrong = Wrong.because("The input is nested too deeply to be worked on: make it flatter.", "too_deep")
    wrong.show()
    if as_json:
        print_json(wrong.view())
    return WRONG


def _wrong_use(error: typer.TyperException) -> Wrong:
    """A mistake on the command line, as one sentence that says where help is."""
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "penstock"
    what = " ".join(error.format_message().split()).rstrip(".")
    return Wrong.because(f"{what}. See `{command} --help`.", "usage")


def _drop_output() -> None:
    """Nobody reads on: what is still buffered must not complain at exit."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        return


def leave(code: int) -> None:
    """End the process. A task that still sits in its thread, no longer wanted, must not hold it."""
    for thread in threading.enumerate():
        if thread.name.startswith("penstock-task"):
            thread.join(0.2)
            if thread.is_alive():
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(code)
    sys.exit(code)
