"""Wrong input: one plain sentence with place and remedy, and with `--json` the same as a document."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from penstock.cli.io.console import err, printable
from penstock.flow.errors import PenstockError
from penstock.flow.model.problems import DefinitionError, Problem
from penstock.server.settings import BadSettings


class Wrong(Exception):
    """The command cannot do what was asked: `problems` say why. Exit code 2."""

    def __init__(self, problems: Sequence[Problem], file: str | None = None, text: str | None = None) -> None:
        super().__init__(problems[0].message)
        self.file, self.problems, self.text = file, tuple(problems), text

    @classmethod
    def because(cls, message: str, code: str = "usage", file: str | None = None) -> Wrong:
        return cls([Problem(code, "", message)], file)

    @classmethod
    def reading(cls, error: DefinitionError, file: str, text: str | None = None) -> Wrong:
        return cls(error.problems, file, text)

    @classmethod
    def of(cls, error: Exception, file: str | None = None) -> Wrong | None:
        """What the user can do something about; None is a bug."""
        if isinstance(error, Wrong):
            return error
        if isinstance(error, DefinitionError):
            return cls(error.problems, error.file or file)
        if isinstance(error, BadSettings):
            return cls(error.problems)
        if isinstance(error, PenstockError):
            return cls.because(_ended(str(error)), error.code)
        if isinstance(error, OSError):
            return cls.because(f"{error.filename or 'the system'}: {error.strerror or error}.", "system")
        if isinstance(error, RecursionError):
            return cls.because("The input is nested too deeply to be worked on: make it flatter.", "too_deep")
        return None

    def view(self) -> dict[str, Any]:
        """The document that `--json` prints."""
        return {"file": self.file, "problems": [msgspec.to_builtins(each) for each in self.problems]}

    def show(self) -> None:
        """The sentences, each with its source line where it has one."""
        console = err()
        for problem in self.problems:
            place = problem.at(self.file) if self.file else problem.message
            console.print(Text.assemble(("error", "error"), ": ", printable(place)))
            show_line(console, self.text, problem.line, problem.column, "error")


def _ended(sentence: str) -> str:
    """With one mark at its end."""
    return sentence if sentence.endswith((".", "?", "!")) else f"{sentence}."


def show_line(
    console: Console, text: str | None, line: int | None, column: int | None, style: str, name: str = ""
) -> None:
    """The source line with a mark below the place or the name; nothing where it is not known."""
    lines = text.splitlines() if text else []
    if line is None or not 1 <= line <= len(lines):
        return
    source = lines[line - 1]
    start = _start(source, name) if column is None else min(column - 1, len(source))
    long = len(name) if name and source.startswith(name, start) else _word(source[start:])
    room = max(20, console.width - len(str(line)) - 5)
    shift = 0 if cell_len(source[:start]) < room - 10 else max(0, start - 10)
    shown = printable(source.replace("\t", " "))[shift:]
    before, marked = shown[: start - shift], shown[start - shift : start - shift + max(1, long)]
    margin, mark = " " * len(str(line)), " " * cell_len(before) + "^" * max(1, cell_len(marked))
    for head, body, look in ((margin, "", ""), (str(line), shown, ""), (margin, mark, style)):
        console.print(
            Text.assemble((f"{head} | ", "place"), (body, look)),
            soft_wrap=False,
            no_wrap=True,
            overflow="crop",
        )


def _start(source: str, name: str) -> int:
    """Where a name stands in a line, else where the line begins."""
    found = find_name(source, name)
    return len(source) - len(source.lstrip()) if found is None else found


def find_name(source: str, name: str) -> int | None:
    """Where a whole name stands in a line: `a` is not in `task`."""
    found = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", source) if name else None
    return found.start() if found else None


def _word(rest: str) -> int:
    """How many characters the mark covers: one name."""
    end = 0
    while end < len(rest) and (rest[end].isalnum() or rest[end] in "_-./"):
        end += 1
    return end
