"""A run that came to rest, for people: how it ended, its steps, and what to do next."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any

from rich.console import Console
from rich.text import Text

from penstock.cli.io.console import out, printable
from penstock.cli.io.tables import print_table
from penstock.cli.runs.progress import LOOKS, seconds
from penstock.flow.decisions.quiescence import starving, waiting_for
from penstock.flow.model.definition import External
from penstock.flow.model.plan import Entry
from penstock.flow.model.run import Failure, Snapshot, StepState
from penstock.runtime.inmemory.engine import InMemoryRun
from penstock.testing.summary import NEVER_OK

STYLES = {"succeeded": "good", "waiting": "warning", "canceled": "warning"}
MAX_VALUE = 2_000
_FRAME = re.compile(r'File "(.+?)", line (\d+), in (.+)')


def show_run(run: InMemoryRun, args: Sequence[str], virtual: bool) -> None:
    """Print the run; `args` are those of the command line that made it."""
    console, snapshot = out(), run.snapshot
    _show_head(console, snapshot, virtual)
    _show_steps(console, run)
    for line in failures(snapshot):
        console.print(Text.assemble(("error", "error"), ": ", printable(line)))
    if snapshot.status == "waiting":
        _show_waiting(console, run, args)
    if snapshot.status == "stalled":
        _show_starving(console, run)
    for name, value in (("result", snapshot.result), ("data", snapshot.data)):
        if value not in (None, {}) and not (name == "data" and value == snapshot.result):
            console.print(Text.assemble((f"{name}: ", "bold"), short(value)), soft_wrap=True)


def _show_head(console: Console, snapshot: Snapshot, virtual: bool) -> None:
    style = STYLES.get(snapshot.status, "error")
    words = Text.assemble(f"{snapshot.run.workflow} ", (snapshot.status.replace("_", " "), style))
    if snapshot.started_at and snapshot.ended_at:
        time = "of virtual time " if virtual else ""
        words.append(f" in {seconds(snapshot.ended_at - snapshot.started_at)} {time}".rstrip())
    words.append(f" · run {snapshot.run.id}", "faint")
    console.print(words)


def _show_steps(console: Console, run: InMemoryRun) -> None:
    spent = times(run.history)
    rows = []
    for name in run.flow.steps:
        state = run.snapshot.steps.get(name) or StepState()
        mark, style = LOOKS[state.status]
        took = seconds(spent[name]) if name in spent else ""
        counts = (str(state.firings or ""), str(state.attempts or ""))
        rows.append((printable(name), Text(f"{mark} {state.status}", style), *counts, state.port or "", took))
    titles = ("step", "status", "firings:", "attempts:", "port", "time:")
    print_table(console, titles, rows, ("attempts:", "firings:"))


def times(history: Sequence[Entry]) -> dict[str, timedelta]:
    """How long the firings of each step took, in all."""
    began = {entry.seq: entry.at for entry in history if entry.kind == "fired"}
    spent: dict[str, timedelta] = {}
    for entry in history:
        if entry.kind in ("ended", "withdrawn") and entry.step and entry.firing in began:
            spent[entry.step] = spent.get(entry.step, timedelta()) + (entry.at - began[entry.firing])
    return spent


def failures(snapshot: Snapshot) -> Iterator[str]:
    """What failed, where, and why, one line each."""
    shown = False
    for name, state in sorted(snapshot.steps.items(), key=lambda item: item[1].latest):
        if state.error is not None:
            shown = shown or state.error == snapshot.error
            yield f"step '{name}' failed ({state.error.kind}): {state.error.message}{_frame(state.error)}"
    if snapshot.error is not None and not shown:
        yield f"the run failed ({snapshot.error.kind}): {snapshot.error.message}"


def _frame(failure: Failure) -> str:
    """The last line of the task's own code."""
    trace = failure.detail.get("traceback", "") if isinstance(failure.detail, dict) else ""
    frames = _FRAME.findall(trace)
    return f" (at {frames[-1][0]}:{frames[-1][1]}, in {frames[-1][2]})" if frames else ""


def _show_waiting(console: Console, run: InMemoryRun, args: Sequence[str]) -> None:
    events = waiting_for(run.flow, run.snapshot)
    listed = ", ".join(events)
    one, it = ("this event", "it") if len(events) == 1 else ("these events", "them")
    console.print(f"It waits for {one} from outside: {printable(listed)}. To pass {it}:")
    declared = {event.name: event for event in run.flow.definition.external or ()}
    options = [part for name in events for part in ("--event", event_option(declared[name]))]
    console.print(f"  {shlex.join(['penstock', *args, *options])}", style="bold", soft_wrap=True)


def schema_examples(schema: Any) -> list[Any]:
    """The examples that a schema has, if it has any."""
    examples = schema.get("examples") if isinstance(schema, dict) else None
    return examples if isinstance(examples, list) else []


def event_option(event: External) -> str:
    """What `--event` takes for it: with the first example of its schema where it has one."""
    examples = schema_examples(event.schema)
    return f"{event.name}={json.dumps(examples[0], ensure_ascii=False)}" if examples else event.name


def _show_starving(console: Console, run: InMemoryRun) -> None:
    console.print("Nothing can continue, and no event from outside would help:")
    reasons = [
        f"step '{each.step}' starves for {', '.join(each.missing)}"
        for each in starving(run.flow, run.snapshot)
    ]
    reasons += [
        f"step '{aside.step}' set event {aside.token.name} aside: {aside.reason}"
        for aside in run.snapshot.aside
    ]
    for reason in reasons or [NEVER_OK]:
        console.print(printable(f"  {reason}"))
    console.print("`penstock check` finds such ends before they happen.", style="faint")


def short(value: Any) -> str:
    """A value as JSON, cut where it is very long."""
    return cut(json.dumps(value, ensure_ascii=False))


def cut(text: str) -> str:
    """A text, cut where it is very long."""
    return text if len(text) <= MAX_VALUE else f"{text[:MAX_VALUE]} … (--json shows all of it)"
