"""A run while it goes on: a live table on a terminal, plain lines elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from typing import Any

from msgspec import Struct
from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from penstock.cli.author.local_run import Follower
from penstock.cli.io.console import err, printable
from penstock.flow.model.plan import Entry
from penstock.flow.model.run import StepState
from penstock.runtime.inmemory.engine import InMemoryRun

LOOKS = {
    "blocked": ("·", "faint"),
    "ready": ("○", "yellow"),
    "running": ("●", "bold cyan"),
    "complete": ("✓", "green"),
    "failed": ("✗", "red"),
    "canceled": ("−", "yellow"),
    "disabled": ("−", "faint"),
}
"""A mark and a colour for each status of a step."""


class Showing(Struct, frozen=True):
    """How a run is shown while it goes on, and how something is said beside it."""

    follow: Follower
    say: Callable[[str], None]


@contextmanager
def following(quiet: bool, say: Callable[[str], None] | None = None) -> Iterator[Showing]:
    """Something that shows a run as it changes; what is said beside it goes to stderr, unless `say` hears it."""
    console = err()
    if say is None:
        say = partial(console.print, style="faint")
    if quiet:
        yield Showing(lambda run: None, say)
    elif console.is_terminal and not console.is_dumb_terminal:
        with Live(console=console, transient=True, auto_refresh=False, vertical_overflow="crop") as live:
            yield Showing(lambda run: live.update(_table(run), refresh=True), say)
    else:
        yield Showing(_lines(console), say)


def _lines(console: Console) -> Follower:
    """Prints each new entry of the history that says something."""
    seen = 0

    def follow(run: InMemoryRun) -> None:
        nonlocal seen
        fresh, seen = run.history[seen:], len(run.history)
        began = run.snapshot.started_at
        for entry in fresh:
            words = entry_words(entry)
            if words and began:
                console.print(f"{seconds(entry.at - began):>8}  {printable(words)}")

    return follow


def entry_words(entry: Entry) -> str | None:
    """One line for an entry of the history; None where it says nothing new."""
    data = entry.data if isinstance(entry.data, dict) else {}
    if entry.kind == "event" and entry.step is None:
        return f"event {entry.event}"
    if entry.kind == "fired":
        return f"{entry.step} begins"
    if entry.kind == "ended":
        return f"{entry.step} ends" if entry.port is None else f"{entry.step} ends on {entry.port}"
    if entry.kind == "withdrawn":
        return _withdrawn_words(entry, data)
    if entry.kind == "attempt" and "error" in data:
        again = ", tries again" if data.get("retry_at") else ""
        return f"{entry.step} attempt {entry.attempt} failed{again}: {data['error']['message']}"
    return None


def _withdrawn_words(entry: Entry, data: Mapping[str, Any]) -> str:
    """A firing, an event that came, or all events that waited at a step."""
    if entry.event is not None:
        by = f" by {entry.step}" if entry.step else ""
        return f"event {entry.event} is not acted on{by}: {data.get('reason')}"
    if entry.firing is None:
        return f"what waited at {entry.step} is withdrawn"
    return f"{entry.step} is withdrawn"


def _table(run: InMemoryRun) -> Table:
    table = Table.grid(padding=(0, 2))
    for name in run.flow.steps:
        state = run.snapshot.steps.get(name) or StepState()
        mark, style = LOOKS[state.status]
        words = state.reason or state.status if state.status in ("ready", "running") else state.port or ""
        if state.elements and state.status == "running":
            words = f"{state.elements[1]} of {state.elements[0]}"
        table.add_row(Text(mark, style), Text(printable(name), style), Text(words, "faint"))
    return table


def seconds(duration: timedelta) -> str:
    """A duration for people: `12ms`, `1.5s`, `2m 05s`, `3h 20m`, `2d 4h`."""
    total = duration.total_seconds()
    if total < 0.9995:
        return f"{round(total * 1000)}ms"
    if total < 59.95:
        return f"{total:.1f}s"
    minutes, rest = divmod(round(total), 60)
    if minutes < 60:
        return f"{minutes}m {rest:02}s"
    hours, minutes = divmod(minutes, 60)
    if hours < 24:
        return f"{hours}h {minutes:02}m"
    return f"{hours // 24}d {hours % 24}h"
