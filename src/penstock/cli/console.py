"""Where the commands write: answers on stdout, everything else on stderr; colours only on a terminal."""

from __future__ import annotations

import json
import sys
from typing import Any, NoReturn, TextIO

from rich.console import Console
from rich.table import Table
from rich.theme import Theme

THEME = Theme(
    {
        "error": "bold red",
        "warning": "bold yellow",
        "info": "bold blue",
        "good": "bold green",
        "place": "blue",
        "faint": "dim",
    }
)
PIPE_WIDTH = 200
"""Columns where there is no terminal: nobody is helped by tables that are cut for one."""


class _Pipe(Console):
    """A console that leaves a broken pipe to the caller."""

    def on_broken_pipe(self) -> NoReturn:
        raise BrokenPipeError


def _console(stream: TextIO) -> Console:
    width = None if stream.isatty() else PIPE_WIDTH
    return _Pipe(
        file=stream, theme=THEME, width=width, highlight=False, emoji=False, markup=False, soft_wrap=False
    )


def out() -> Console:
    """The console of answers."""
    return _console(sys.stdout)


def err() -> Console:
    """The console of what is said beside the answer."""
    return _console(sys.stderr)


def note(text: str) -> None:
    """Say something beside the answer."""
    err().print(text, style="faint", soft_wrap=True)


def print_json(value: Any) -> None:
    """One JSON document on stdout; pure ASCII where the stream is not UTF-8."""
    ascii_only = (sys.stdout.encoding or "").lower().replace("-", "") != "utf8"
    print(json.dumps(value, indent=2, ensure_ascii=ascii_only))


def printable(text: str) -> str:
    """Text of strangers without what could steer a terminal."""
    return "".join(mark if mark.isprintable() else "\N{REPLACEMENT CHARACTER}" for mark in text)


def plural(count: int, word: str) -> str:
    """`1 error`, `2 errors`."""
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"


def table_of(*titles: str) -> Table:
    """A table without lines; a title that ends in `:` stands above numbers."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="faint")
    for title in titles:
        number = title.endswith(":")
        table.add_column(title.rstrip(":"), justify="right" if number else "left", overflow="fold")
    return table


def print_table(console: Console, table: Table) -> None:
    """Print a table; where there is no terminal, without the blanks that fill its last column."""
    if console.is_terminal:
        console.print(table)
        return
    with console.capture() as captured:
        console.print(table)
    lines = (line.rstrip() for line in captured.get().splitlines())
    console.print("\n".join(lines), soft_wrap=True)
