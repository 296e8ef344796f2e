"""Where the commands write: answers on stdout, everything else on stderr; colours only on a terminal."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn, TextIO

from rich.console import Console
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


_replaced: list[TextIO] = []
"""What stdout was when the command began."""


@contextmanager
def answering() -> Iterator[None]:
    """Answers go to what stdout is now, whatever becomes of it while the command works; then it is stdout again."""
    _replaced.append(sys.stdout)
    try:
        yield
    finally:
        sys.stdout = _replaced.pop()


def answers() -> TextIO:
    """The stream of answers."""
    return _replaced[-1] if _replaced else sys.stdout


def divert_prints() -> None:
    """Let strangers print to stderr from now on, also from threads that outlive their task."""
    if _replaced:
        sys.stdout = sys.stderr


class _Pipe(Console):
    """A console that leaves a broken pipe to the caller."""

    def on_broken_pipe(self) -> NoReturn:
        raise BrokenPipeError


def _console(stream: TextIO) -> Console:
    """On a terminal lines are wrapped between words; elsewhere they are as long as they are."""
    pipe = not stream.isatty()
    width = PIPE_WIDTH if pipe else None
    return _Pipe(
        file=stream, theme=THEME, width=width, highlight=False, emoji=False, markup=False, soft_wrap=pipe
    )


def out() -> Console:
    """The console of answers."""
    return _console(answers())


def err() -> Console:
    """The console of what is said beside the answer."""
    return _console(sys.stderr)


def note(text: str) -> None:
    """Say something beside the answer."""
    err().print(text, style="faint")


@contextmanager
def working(words: str) -> Iterator[None]:
    """Long work: a sign of life on a terminal, nothing elsewhere."""
    console = err()
    if console.is_terminal and not console.is_dumb_terminal:
        with console.status(words):
            yield
    else:
        yield


def print_json(value: Any) -> None:
    """One JSON document on stdout; pure ASCII where the stream is not UTF-8."""
    stream = answers()
    ascii_only = (stream.encoding or "").lower().replace("-", "") != "utf8"
    print(json.dumps(value, indent=2, ensure_ascii=ascii_only), file=stream)


def print_result(value: Any, words: str, as_json: bool) -> None:
    """What a command has done, for programs or for people."""
    if as_json:
        print_json(value)
    else:
        out().print(words)


def printable(text: str) -> str:
    """Text of strangers without what could steer a terminal."""
    return "".join(mark if mark.isprintable() else "\N{REPLACEMENT CHARACTER}" for mark in text)


def plural(count: int, word: str) -> str:
    """`1 error`, `2 errors`."""
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"
