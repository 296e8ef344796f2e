"""`penstock emit`, `cancel`, `retry`, `rerun`, `skip`, `pause` and `resume`: acting on one run, or on many."""

from __future__ import annotations

import re
from typing import Annotated, Literal

import typer

from penstock.cli.io.completion import run_ids
from penstock.cli.io.console import out, print_json, print_result
from penstock.cli.io.inputs import AsJson, read_input, read_json
from penstock.cli.io.parameters import argument, option
from penstock.cli.io.problems import Wrong
from penstock.cli.io.target import Penstock, Target, acting
from penstock.cli.runs.bulk import Chosen, choosing
from penstock.cli.runs.filters import read_pair
from penstock.cli.runs.runs import Run
from penstock.runtime.commands.verbs import LIVE

_RUN = re.compile(r"[0-9a-f]{20}")

Words = Annotated[
    list[str], argument("[RUN] EVENT [JSON]", "The run, the event and its data.", autocompletion=run_ids)
]
ByKey = Annotated[
    str | None, option("--key", "NAME=VALUE", "Find the run by a correlation key, instead of its id.")
]
EventId = Annotated[str | None, option("--id", "TEXT", "An id: the event counts once.")]
OneRun = Annotated[str | None, argument("[RUN]", "The id of a run.", autocompletion=run_ids)]
Held = Annotated[
    str | None,
    argument("[RUN|WORKFLOW]", "The id of a run, or the name of a workflow.", autocompletion=run_ids),
]
All = Annotated[bool, typer.Option("--all", help="The whole installation: every workflow.")]
Force = Annotated[bool, typer.Option("--force", help="Do not run the clean-up steps.")]
Reason = Annotated[str | None, option("--reason", "TEXT", "Why.")]
Step = Annotated[str | None, argument("[STEP]", "Only this failed step; else all.")]
Version = Annotated[int | None, option("--version", "N", "Another version than then.", min=1)]
Input = Annotated[
    str | None, option("--input", "JSON|@FILE", "Another input than then; @FILE reads it from a file.")
]

SkippedStep = Annotated[str, argument("STEP", "The step.")]
Port = Annotated[str, option("--port", "PORT", "The port that it ends on.")]
Output = Annotated[str | None, option("--output", "JSON", "Its output.")]

From = Annotated[
    str | None,
    option("--from", "STEP", "Begin where the old run was before this step began for the last time."),
]


@acting
def emit(at: Target, words: Words, key: ByKey = None, id: EventId = None, json: AsJson = False) -> None:
    """Fire an outside event into a run; one that comes before its key is kept for it.

    [bold]Examples[/bold]

      penstock emit 1a1e21b4904dfa6a32b7 approved '{"by": "ann"}'

      penstock emit --key job=123 encoded --id message-7
    """
    run, rest = (None, words) if key is not None else (words[0], words[1:])
    if not 1 <= len(rest) <= 2:
        raise Wrong.because(
            "say which event: penstock emit RUN EVENT [JSON], or --key NAME=VALUE EVENT [JSON]."
        )
    data = read_json(rest[1], "the data") if len(rest) == 2 else None
    by = None if key is None else dict([read_pair(key, "--key")])
    answer = at.do(lambda engine: engine.emit(rest[0], data, run=run, key=by, id=id))
    if json:
        print_json({"answer": answer})
    elif by is not None and answer == "accepted" and not at.do(lambda engine: _found(engine, by)):
        out().print("accepted: no run has the key yet; the event is kept for it, for seven days")
    else:
        out().print(answer)


async def _found(engine: Penstock, key: dict[str, str]) -> bool:
    """Whether a live run has the key."""
    [pair] = key.items()
    return bool(await engine.runs(key=pair, statuses=LIVE, limit=1))


@choosing("run", OneRun)
def cancel(on: Chosen, force: Force = False, reason: Reason = None) -> None:
    """Cancel a run, or with --filter many; their clean-up steps still run.

    [bold]Examples[/bold]

      penstock cancel 1a1e21b4904dfa6a32b7 --reason "ordered twice"

      penstock cancel --filter workflow=shop --filter status=waiting
    """
    on.act("cancel", force=force, reason=reason)


@choosing("run", OneRun)
def retry(on: Chosen, step: Step = None) -> None:
    """Put back what the failed steps of a failed run consumed, and run on; with --filter for many runs.

    [bold]Examples[/bold]

      penstock retry 1a1e21b4904dfa6a32b7

      penstock retry --filter workflow=shop --filter status=failed --filter since=2h
    """
    on.act("retry", step=step)


@choosing("run", OneRun)
def rerun(on: Chosen, version: Version = None, input: Input = None, start_at: From = None) -> None:
    """Start a new run of the same workflow with the same input, or another; with --filter for many runs.

    [bold]Examples[/bold]

      penstock rerun 1a1e21b4904dfa6a32b7 --input '{"order": 8}'

      penstock rerun 1a1e21b4904dfa6a32b7 --from ship
    """
    given = None if input is None or on.filter else read_input(input)
    on.act("rerun", version=version, input=given, start_at=start_at)


@acting
def skip(
    at: Target,
    run: Run,
    step: SkippedStep,
    port: Port = "done",
    output: Output = None,
    reason: Reason = None,
    json: AsJson = False,
) -> None:
    """Let a step of a run end without its task, with an output that you give: one that failed, waits or is running.

    [bold]Examples[/bold]

      penstock skip 1a1e21b4904dfa6a32b7 charge --output '{"paid": true}' --reason "paid in cash"
    """
    given = None if output is None else read_json(output, "--output")
    Chosen(at, run, json).act("skip", step=step, port=port, output=given, reason=reason)


@choosing("what", Held)
def pause(on: Chosen, all: All = False) -> None:
    """Dispatch nothing new of a run, a workflow, or with --all of any, until it is resumed.

    [bold]Examples[/bold]

      penstock pause 1a1e21b4904dfa6a32b7

      penstock pause shop

      penstock pause --all
    """
    _hold(on, "pause", all)


@choosing("what", Held)
def resume(on: Chosen, all: All = False) -> None:
    """Resume a paused run or workflow, or with --all the installation.

    [bold]Examples[/bold]

      penstock resume 1a1e21b4904dfa6a32b7

      penstock resume shop
    """
    _hold(on, "resume", all)


def _hold(on: Chosen, action: Literal["pause", "resume"], all: bool) -> None:
    """Hold or let go many runs, one run, a workflow or the installation."""
    what = on.run
    if on.filter or (what is not None and _RUN.fullmatch(what) and not all):
        on.act(action)
        return
    if (what is None) != all:
        raise Wrong.because("name a run or a workflow, or say --all for the whole installation.")
    if action == "pause":
        on.at.do(lambda engine: engine.pause_workflow(what))
    else:
        on.at.do(lambda engine: engine.resume_workflow(what))
    done = f"{action}d"
    print_result({"workflow": what, "state": done}, f"{what or 'the installation'} is {done}", on.json)
