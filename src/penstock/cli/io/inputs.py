"""What commands read: definitions from files and stdin, JSON from the command line, tasks."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from penstock.cli.io.console import divert_prints, note
from penstock.cli.io.parameters import argument, option
from penstock.cli.io.problems import Wrong
from penstock.engine.authoring.loader import Loaded, load, read_text
from penstock.flow.format.nodes import Findings, check_text, plain, read_json_text
from penstock.flow.model.problems import DefinitionError
from penstock.flow.model.run_input import Outside
from penstock.flow.values.duration import parse_duration
from penstock.workers.task import Task
from penstock.workers.worker.task_loader import beside, load_tasks

STDIN = "-"
STDIN_NAME = "<stdin>"

File = Annotated[str, argument("FILE", "A workflow in YAML or JSON; `-` reads stdin.")]
Files = Annotated[list[str], argument("FILE...", "Workflows in YAML or JSON; `-` reads stdin.")]
Tasks = Annotated[
    list[str] | None,
    option(
        "--tasks",
        "MODULE|FILE",
        "Python tasks: a module, or a .py file. May be given again. "
        "Without it the .py file of the same name next to FILE is used.",
    ),
]
NoTasks = Annotated[
    bool, typer.Option("--no-tasks", help="Import no Python at all, not even the file next to FILE.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


class Read(msgspec.Struct, frozen=True):
    """A definition that was read: its name for messages, its text, what it became, its tasks."""

    name: str
    text: str
    loaded: Loaded
    tasks: dict[str, Task]


Say = Callable[[str], None]


def read(file: str, tasks: Sequence[str] | None, no_tasks: bool = False, say: Say = note) -> Read:
    """Read and compile a definition with its tasks. Raises Wrong."""
    name = STDIN_NAME if file == STDIN else file
    text = None
    try:
        text = text_in(file)
        if not text.strip():
            raise Wrong.because("the file is empty: write a workflow into it", "unreadable", name)
        offered = _tasks_for(file, tasks, no_tasks, say)
        loaded = load(text if "\n" in text else f"{text}\n", offered)
    except DefinitionError as error:
        raise Wrong.reading(error, name, text) from None
    return Read(name, text, loaded, offered)


def text_in(file: str) -> str:
    """The text of a file, or of stdin. Raises DefinitionError, Wrong."""
    if file != STDIN:
        return read_text(Path(file))
    if sys.stdin is None:
        raise Wrong.because("stdin is closed: pipe text into it, or name a file", "unreadable", STDIN_NAME)
    try:
        return sys.stdin.buffer.read().decode()
    except UnicodeDecodeError:
        raise Wrong.because("stdin is not text in UTF-8", "unreadable", STDIN_NAME) from None


def _tasks_for(file: str, tasks: Sequence[str] | None, no_tasks: bool, say: Say) -> dict[str, Task]:
    if no_tasks:
        if tasks:
            raise Wrong.because("--tasks and --no-tasks contradict each other: give one of them.")
        return {}
    if tasks:
        return import_tasks(tasks)
    path = None if file == STDIN else beside(Path(file))
    if path is None:
        return {}
    found = import_tasks([str(path)])
    say(f"tasks: {path}")
    return found


def import_tasks(sources: Sequence[str]) -> dict[str, Task]:
    """The tasks of modules and files, whose code prints to stderr from then on. Raises TasksUnreadable."""
    divert_prints()
    return load_tasks(sources)


def read_json(text: str, what: str) -> Any:
    """Strict JSON. Raises Wrong that says where in `what` it is wrong."""
    findings = Findings(what)
    try:
        value = plain(read_json_text(check_text(text, findings), findings))
        if findings.problems:
            raise findings.error()
        return value
    except DefinitionError as error:
        raise Wrong.reading(error, what, text) from None


def read_input(text: str) -> Any:
    """`--input`: JSON, or `@file` with JSON in it; `@-` is stdin."""
    if not text.startswith("@"):
        return read_json(text, "--input")
    file = text[1:]
    try:
        return read_json(text_in(file), STDIN_NAME if file == STDIN else file)
    except DefinitionError as error:
        raise Wrong.reading(error, file) from None


def read_event(text: str) -> Outside:
    """`--event NAME` or `--event NAME=JSON`."""
    name, equals, data = text.partition("=")
    if not name.strip():
        raise Wrong.because(f"--event {text!r} names no event: write --event NAME or --event NAME=JSON.")
    return Outside(event=name.strip(), data=read_json(data, f"--event {name}") if equals else None)


def one_of(given: str, known: Sequence[str], option: str) -> str:
    """One of the words that an option takes. Raises Wrong."""
    if given not in known:
        raise Wrong.because(f"{option} '{given}' is not known: say {', '.join(known)}.")
    return given


def read_duration(text: str, option: str) -> timedelta:
    """A duration such as `2s`, or seconds."""
    try:
        return parse_duration(float(text) if text.replace(".", "", 1).isdigit() else text)
    except ValueError as error:
        raise Wrong.because(f"{option} '{text}' {error}.") from None
