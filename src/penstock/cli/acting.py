"""`penstock emit`, `cancel`, `retry`, `rerun`, `pause` and `resume`: acting on one run, or on many."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Annotated, Any

import typer

from penstock.cli.at import At, Penstock, acting
from penstock.cli.bulk import Filters, Yes, act_on_many
from penstock.cli.completing import run_ids
from penstock.cli.console import out, print_json
from penstock.cli.filters import read_pair
from penstock.cli.inputs import AsJson, read_input, read_json
from penstock.cli.problems import Wrong
from penstock.cli.runs import show_view

_RUN = re.compile(r"[0-9a-f]{20}")

Words = Annotated[
    list[str],
    typer.Argument(
        metavar="[RUN] EVENT [JSON]", help="The run, the event and its data.", autocompletion=run_ids
    ),
]
ByKey = Annotated[
    str | None,
    typer.Option(
        "--key", metavar="NAME=VALUE", help="Find the run by a correlation key, instead of its id.",
        show_default=False,
    ),
]  # fmt: skip
EventId = Annotated[
    str | None,
    typer.Option("--id", metavar="TEXT", help="An id: the event counts once.", show_default=False),
]
OneRun = Annotated[
    str | None,
    typer.Argument(metavar="[RUN]", help="The id of a run.", autocompletion=run_ids, show_default=False),
]
Held = Annotated[
    str | None,
    typer.Argument(
        metavar="[RUN|WORKFLOW]", help="The id of a run, or the name of a workflow.", autocompletion=run_ids,
        show_default=False,
    ),
]  # fmt: skip
All = Annotated[bool, typer.Option("--all", help="The whole installation: every workflow.")]
Force = Annotated[bool, typer.Option("--force", help="Do not run the clean-up steps.")]
Reason = Annotated[str | None, typer.Option("--reason", metavar="TEXT", help="Why.", show_default=False)]
Step = Annotated[
    str | None,
    typer.Argument(metavar="[STEP]", help="Only this failed step; else all.", show_default=False),
]
Version = Annotated[
    int | None,
    typer.Option("--version", metavar="N", min=1, help="Another version than then.", show_default=False),
]
Input = Annotated[
    str | None,
    typer.Option(
        "--input", metavar="JSON|@FILE", help="Another input than then; @FILE reads it from a file.",
        show_default=False,
    ),
]  # fmt: skip

Doing = Callable[[Penstock, str], Awaitable[dict[str, Any]]]


@acting
def emit(at: At, words: Words, key: ByKey = None, id: EventId = None, json: AsJson = False) -> None:
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
    else:
        out().print(answer)


@acting
def cancel(
    at: At,
    run: OneRun = None,
    force: Force = False,
    reason: Reason = None,
    filter: Filters = None,
    yes: Yes = False,
    json: AsJson = False,
) -> None:
    """Cancel a run, or with --filter many; their clean-up steps still run.

    [bold]Examples[/bold]

      penstock cancel 1a1e21b4904dfa6a32b7 --reason "ordered twice"

      penstock cancel --filter workflow=shop --filter status=waiting
    """
    if filter:
        act_on_many(at, "cancel", run, filter, yes, json)
        return
    _act(at, run, json, lambda engine, one: engine.cancel(one, force=force, reason=reason))


@acting
def retry(
    at: At,
    run: OneRun = None,
    step: Step = None,
    filter: Filters = None,
    yes: Yes = False,
    json: AsJson = False,
) -> None:
    """Put back what the failed steps of a failed run consumed, and run on; with --filter for many runs.

    [bold]Examples[/bold]

      penstock retry 1a1e21b4904dfa6a32b7

      penstock retry --filter workflow=shop --filter status=failed --filter since=2h
    """
    if filter:
        act_on_many(at, "retry", run, filter, yes, json)
        return
    _act(at, run, json, lambda engine, one: engine.retry(one, step))


@acting
def rerun(
    at: At,
    run: OneRun = None,
    version: Version = None,
    input: Input = None,
    filter: Filters = None,
    yes: Yes = False,
    json: AsJson = False,
) -> None:
    """Start a new run of the same workflow with the same input, or another; with --filter for many runs.

    [bold]Examples[/bold]

      penstock rerun 1a1e21b4904dfa6a32b7 --input '{"order": 8}'
    """
    if filter:
        act_on_many(at, "rerun", run, filter, yes, json)
        return
    given = None if input is None else read_input(input)

    async def again(engine: Penstock, one: str) -> dict[str, Any]:
        return await engine.show(await engine.rerun(one, version=version, input=given))

    _act(at, run, json, again)


@acting
def pause(
    at: At,
    what: Held = None,
    all: All = False,
    filter: Filters = None,
    yes: Yes = False,
    json: AsJson = False,
) -> None:
    """Dispatch nothing new of a run, a workflow, or with --all of any, until it is resumed.

    [bold]Examples[/bold]

      penstock pause 1a1e21b4904dfa6a32b7

      penstock pause shop

      penstock pause --all
    """
    if filter:
        act_on_many(at, "pause", what, filter, yes, json)
    elif what is not None and _RUN.fullmatch(what) and not all:
        _act(at, what, json, lambda engine, one: engine.pause(one))
    else:
        name = _workflow(what, all)
        at.do(lambda engine: engine.pause_workflow(name))
        _say_state(name, "paused", json)


@acting
def resume(
    at: At,
    what: Held = None,
    all: All = False,
    filter: Filters = None,
    yes: Yes = False,
    json: AsJson = False,
) -> None:
    """Go on where a pause held a run, a workflow, or with --all the installation.

    [bold]Examples[/bold]

      penstock resume 1a1e21b4904dfa6a32b7

      penstock resume shop
    """
    if filter:
        act_on_many(at, "resume", what, filter, yes, json)
    elif what is not None and _RUN.fullmatch(what) and not all:
        _act(at, what, json, lambda engine, one: engine.resume(one))
    else:
        name = _workflow(what, all)
        at.do(lambda engine: engine.resume_workflow(name))
        _say_state(name, "resumed", json)


def _workflow(what: str | None, all: bool) -> str | None:
    """The workflow that is meant; None is the installation. Raises Wrong."""
    if (what is None) != all:
        raise Wrong.because("name a run or a workflow, or say --all for the whole installation.")
    return what


def _say_state(name: str | None, state: str, json: bool) -> None:
    if json:
        print_json({"workflow": name, "state": state})
    else:
        out().print(f"{name or 'the installation'} is {state}", highlight=False)


def _act(at: At, run: str | None, json: bool, do: Doing) -> None:
    """Do something with a run and show what it is then."""
    if run is None:
        raise Wrong.because("name a run, or many with --filter NAME=VALUE.")
    view = at.do(lambda engine: do(engine, run))
    if json:
        print_json(view)
    else:
        show_view(view)
