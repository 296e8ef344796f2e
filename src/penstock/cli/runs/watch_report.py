"""A run that goes on elsewhere, as a picture: its steps with state, attempts and time, and what happened last."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from penstock.cli.author.run_report import STYLES
from penstock.cli.io.console import err, out, printable
from penstock.cli.runs.progress import LOOKS, entry_words, seconds
from penstock.flow.model.plan import Entry

LAST = 8
"""How many of the latest happenings are shown."""


class Picture:
    """What is known of a run: its view, and what its history says of times."""

    def __init__(self, view: dict[str, Any]) -> None:
        self.view = view
        self.last: deque[str] = deque(maxlen=LAST)
        self.lines: list[str] = []  # that nobody has printed yet
        self._firings: dict[int, tuple[str, datetime]] = {}
        self._spent: dict[str, timedelta] = {}
        self._began = datetime.fromisoformat(view["started_at"])

    def add(self, fresh: Sequence[dict[str, Any]]) -> None:
        """Take in what has happened."""
        for each in fresh:
            entry = msgspec.convert(each, Entry)
            self._time(entry)
            if words := entry_words(entry):
                line = f"{seconds(entry.at - self._began):>8}  {printable(words)}"
                self.last.append(line)
                self.lines.append(line)

    def _time(self, entry: Entry) -> None:
        if entry.kind == "fired" and entry.step:
            self._firings[entry.seq] = (entry.step, entry.at)
        elif entry.kind in ("ended", "withdrawn") and entry.firing in self._firings:
            step, at = self._firings.pop(entry.firing)
            self._spent[step] = self._spent.get(step, timedelta()) + (entry.at - at)

    def spent(self, step: str, now: datetime) -> timedelta | None:
        """How long the firings of a step took, those under way up to now."""
        open_ones = [now - at for name, at in self._firings.values() if name == step]
        if not open_ones and step not in self._spent:
            return None
        total = sum(open_ones, self._spent.get(step, timedelta()))
        return max(total, timedelta())

    def drawn(self, now: datetime) -> Group:
        """The whole picture."""
        view = self.view
        until = datetime.fromisoformat(view["ended_at"]) if view["ended_at"] else now
        head = Text.assemble(
            f"{printable(view['workflow'])} ",
            (view["status"].replace("_", " "), STYLES.get(view["status"], "bold")),
            f" {seconds(max(timedelta(), until - self._began))}",
            (f" · run {view['id']}", "faint"),
        )
        parts: list[Any] = [head, self._steps(now)]
        if view["waiting_for"]:
            parts.append(Text(f"waits for: {printable(', '.join(view['waiting_for']))}", "warning"))
        parts += [Text(line, "faint") for line in self.last]
        return Group(*parts)

    def _steps(self, now: datetime) -> Table:
        table = Table.grid(padding=(0, 2))
        for name, step in self.view["steps"].items():
            mark, style = LOOKS[step["status"]]
            took = self.spent(name, now)
            tries = f"attempt {step['attempts']}" if step["attempts"] > 1 else ""
            table.add_row(
                Text(f"{mark} {printable(name)}", style),
                Text(step["status"], style),
                Text(_words(step), "faint"),
                Text(tries, "faint"),
                Text("" if took is None else seconds(took), "faint"),
            )
        return table


def _words(step: dict[str, Any]) -> str:
    """What there is to say beside the status."""
    elements = step["elements"]
    if elements and step["status"] == "running":
        return f"{elements['done']} of {elements['total']}"
    if step["error"]:
        return printable(str(step["error"]["message"]).splitlines()[0][:80])
    return str(step["reason"] or "") if step["status"] in ("ready", "running") else str(step["port"] or "")


Draw = Callable[[Picture], None]


@contextmanager
def drawing(quiet: bool, stay: bool) -> Iterator[Draw]:
    """Something that shows a picture: drawn anew on a terminal, elsewhere line by line, or not at all."""
    console = out() if stay else err()
    if quiet:
        yield lambda picture: None
    elif console.is_terminal and not console.is_dumb_terminal:
        with Live(console=console, transient=not stay, auto_refresh=False, vertical_overflow="crop") as live:
            yield lambda picture: live.update(picture.drawn(datetime.now(UTC)), refresh=True)
    else:
        yield lambda picture: _print_lines(console, picture)


def _print_lines(console: Console, picture: Picture) -> None:
    lines, picture.lines = picture.lines, []
    for line in lines:
        console.print(line)
    console.file.flush()  # who reads a pipe sees each line as it comes
