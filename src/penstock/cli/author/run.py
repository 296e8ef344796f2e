"""`penstock run`: a workflow from beginning to rest, here, in memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from penstock.boxes.kinds import tasks_in
from penstock.cli.author.local_run import Played, play_fast, play_real, stub
from penstock.cli.author.run_report import schema_examples, show_run
from penstock.cli.io.command_group import INTERRUPTED, NO, YES
from penstock.cli.io.console import note, print_json
from penstock.cli.io.inputs import AsJson, File, NoTasks, Read, Say, Tasks, read, read_event, read_input
from penstock.cli.io.parameters import option
from penstock.cli.io.problems import Wrong
from penstock.cli.runs.progress import following
from penstock.cli.serve.settings import settings_of
from penstock.flow.compile.compile import Flow
from penstock.flow.model.run import RunId
from penstock.flow.views.run_view import history_view, run_view
from penstock.runtime.inmemory.engine import InMemoryEngine
from penstock.server.build import task_environment_of
from penstock.steps.kinds import OFFERS
from penstock.workers.task import Task, missing_tasks

Input = Annotated[
    str | None,
    option(
        "--input",
        "JSON|@FILE",
        "The run's input; @FILE reads it from a file, @- from stdin. "
        "By default the first of the `examples` of `params`.",
    ),
]
Events = Annotated[
    list[str] | None,
    option("--event", "NAME[=JSON]", "Fire an outside event at the start. May be given again."),
]
Fast = Annotated[
    bool,
    typer.Option(
        "--fast",
        help="On a virtual clock: waits and backoffs pass at once. Tasks run one after the other, without time-outs.",
    ),
]
Subject = Annotated[str | None, option("--subject", "TEXT", "What the run is about.")]
Stub = Annotated[bool, typer.Option("--stub", help="End tasks that nobody defines on `done`, with null.")]
History = Annotated[bool, typer.Option("--history", help="With --json: also all that happened.")]


def run(
    context: typer.Context,
    file: File,
    tasks: Tasks = None,
    input: Input = None,
    event: Events = None,
    fast: Fast = False,
    subject: Subject = None,
    stub: Stub = False,
    json: AsJson = False,
    history: History = False,
    no_tasks: NoTasks = False,
) -> None:
    """Run a workflow here, in memory, until it has ended, waits or is stalled.

    Exit code 0: it succeeded. 1: it did not. What tasks print goes to stderr.
    Ctrl-C cancels the run and lets its clean-up run; a second Ctrl-C quits.

    [bold]Examples[/bold]

      penstock run shop.yaml --input '{"order": 7}'

      penstock run video.yaml --tasks video.py --event 'encoded={"key": 1}'

      penstock run shop.yaml --stub --fast --json
    """
    if history and not json:
        raise Wrong.because("--history is a part of the JSON: give --json as well.")
    workflow = read(file, tasks, no_tasks)
    played = play(workflow, input, event or [], fast=fast, subject=subject, stubbed=stub, quiet=json)
    if json:
        view = run_view(played.run.flow, played.run.snapshot)
        print_json({**view, "history": history_view(played.run.history)} if history else view)
    else:
        show_run(played.run, context.obj or ["run", file], fast)
    if played.interrupted:
        raise typer.Exit(INTERRUPTED)
    raise typer.Exit(YES if played.run.snapshot.status == "succeeded" else NO)


def play(
    workflow: Read,
    input: str | None,
    events: list[str],
    *,
    fast: bool,
    subject: str | None = None,
    stubbed: bool = False,
    quiet: bool = False,
    say: Say | None = None,
) -> Played:
    """Run a workflow to rest; `say` hears what is told beside it, also by tasks. Raises Wrong and PenstockError."""
    flow = workflow.loaded.flow
    offered = _tasks(workflow, stubbed, say or note)
    given = _input(workflow, input, say or note)
    outside = tuple(read_event(text) for text in events)

    def begin(host: InMemoryEngine) -> RunId:
        return host.start(flow, input=given, subject=subject, then=outside)

    with following(quiet, say) as show:
        if fast:
            return play_fast(offered, begin, show.follow, show.say)
        return play_real(offered, begin, show.follow, show.say)


def _tasks(workflow: Read, stubbed: bool, say: Say) -> Mapping[str, Task]:
    flow = workflow.loaded.flow
    given = workflow.tasks if stubbed else {**tasks_in(task_environment_of(settings_of())), **workflow.tasks}
    missing = missing_tasks(flow, given)
    if missing and not stubbed:
        raise Wrong.because(_no_tasks(flow, missing), "no_task", workflow.name)
    if missing:
        say(f"stubs: {', '.join(missing)}")
    return {**given, **{name: stub(flow, name) for name in missing}}


def _no_tasks(flow: Flow, missing: list[str]) -> str:
    built_in = [name for name in missing if name in OFFERS]
    if built_in:  # nobody can name a file for those
        up = "penstock up --shell DIR" if "shell" in built_in else "penstock up"
        return (
            f"{_listed(flow, built_in)} cannot be done here, where no server runs: publish the workflow to one "
            f"(`{up}`), or give --stub to end such steps at once."
        )
    it = "it" if len(missing) == 1 else "them"
    return (
        f"no Python task is defined for {_listed(flow, missing)}: name the module or file that defines {it} with "
        f"--tasks, or give --stub to end {it} on `done` at once."
    )


def _listed(flow: Flow, tasks: list[str]) -> str:
    return ", ".join(f"'{name}' ({_steps_with(flow, name)})" for name in tasks)


def _steps_with(flow: Flow, task: str) -> str:
    steps = [name for name, step in flow.steps.items() if step.task == task]
    return f"step {steps[0]}" if len(steps) == 1 else f"steps {', '.join(steps)}"


def _input(workflow: Read, text: str | None, say: Say) -> Any:
    if text is not None:
        return read_input(text)
    examples = schema_examples(workflow.loaded.definition.params)
    if not examples:
        return None
    say("input: the first of the examples of `params`")
    return examples[0]
