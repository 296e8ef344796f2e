"""`penstock simulate`: many random runs with stub tasks, and what came of them."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

from rich.console import Console
from rich.text import Text

from penstock.cli.io.console import out, plural, print_json, printable, working
from penstock.cli.io.inputs import AsJson, File, NoTasks, Tasks, read
from penstock.cli.io.parameters import option
from penstock.cli.io.problems import Wrong
from penstock.cli.io.tables import print_table
from penstock.cli.runs.progress import seconds
from penstock.testing.simulation import Chances
from penstock.testing.simulation import simulate as play_many
from penstock.testing.summary import CriticalPath, Durations, Summary

BAR = 24
"""Columns of the longest bar."""
MAX_RUNS = 1_000_000
STYLES = {"succeeded": "good", "failed": "error", "stalled": "error", "cut off": "error"}

Runs = Annotated[int, option("--runs", "N", "How many runs to play.")]
Seed = Annotated[int, option("--seed", "N", "The same seed gives the same runs.")]
FailRate = Annotated[float, option("--fail-rate", "SHARE", "How many firings fail, from 0 to 1.")]


def simulate(
    file: File,
    runs: Runs = 1000,
    seed: Seed = 1,
    fail_rate: FailRate = 0.05,
    tasks: Tasks = None,
    no_tasks: NoTasks = False,
    json: AsJson = False,
) -> None:
    """Play many random runs with stub tasks: how they end, and what takes the time.

    No task is called: each firing takes a random time and ends on a random port. An outside event comes in
    nine runs of ten. Exit code 0, whatever the runs came to.

    [bold]Examples[/bold]

      penstock simulate shop.yaml

      penstock simulate shop.yaml --runs 10000 --seed 7 --fail-rate 0.2 --json
    """
    if not 1 <= runs <= MAX_RUNS:
        raise Wrong.because(f"--runs {runs} is out of range: say 1 to {MAX_RUNS:,}.")
    if not 0 <= fail_rate <= 1:
        raise Wrong.because(f"--fail-rate {fail_rate:g} is no share: say a number from 0 to 1, such as 0.05.")
    workflow = read(file, tasks, no_tasks)
    with working(f"playing {plural(runs, 'run')} …"):
        summary = play_many(workflow.loaded.flow, runs, seed, chances=Chances(failure=fail_rate))
    if json:
        print_json({"file": workflow.name, **summary.as_dict()})
    else:
        _show(out(), summary)


def _show(console: Console, summary: Summary) -> None:
    head = f"{summary.workflow}: {plural(summary.runs, 'random run')}, seed {summary.seed}"
    console.print(head, style="bold")
    console.print()
    _show_ends(console, summary)
    for stall in summary.stalls:
        why = f" {plural(stall.runs, 'run')}: {printable(stall.words())}"
        console.print(Text.assemble(("stalled", "error"), why))
    console.print()
    _show_steps(console, summary)
    if summary.seconds is not None:
        _show_times(console, summary.seconds)
    if summary.critical_path is not None:
        _show_critical_path(console, summary.critical_path)


def _show_ends(console: Console, summary: Summary) -> None:
    rows = []
    for end, share in summary.ends.items():
        style = STYLES.get(end, "warning")
        bar = Text("█" * max(1, round(share.share * BAR)), style)
        rows.append((Text(end.replace("_", " "), style), f"{share.runs:,}", f"{share.share:.1%}", bar))
    print_table(console, ("end", "runs:", "share:", ""), rows, ("",))


def _show_steps(console: Console, summary: Summary) -> None:
    rows = []
    for name, count in summary.steps.items():
        ports = ", ".join(f"{port} {number:,}" for port, number in count.ports.items())
        critical = f"{count.critical:.0%}" if count.critical else ""
        rows.append(
            (printable(name), f"{count.mean:.2f}", str(count.least), str(count.most), critical, ports)
        )
    titles = ("step", "firings a run:", "least:", "most:", "critical:", "ports")
    print_table(console, titles, rows, ("least:", "most:", "ports"))
    console.print()


def _show_times(console: Console, times: Durations) -> None:
    parts = [
        ("least", times.least),
        ("half", times.p50),
        ("90%", times.p90),
        ("99%", times.p99),
        ("most", times.most),
    ]
    shown = " · ".join(f"{name} {seconds(timedelta(seconds=value))}" for name, value in parts)
    console.print(Text.assemble(("time: ", "bold"), shown))


def _show_critical_path(console: Console, path: CriticalPath) -> None:
    steps = " → ".join(f"{each.step} {each.share:.0%}" for each in path.steps)
    outside = f"; waiting for outside {path.outside:.0%}" if path.outside >= 0.005 else ""
    words = f"{printable(steps)}{outside} (in {path.share:.0%} of the runs that ended)"
    console.print(Text.assemble(("critical path: ", "bold"), words))
