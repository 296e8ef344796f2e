"""Which runs: the options of `penstock runs`, and `--filter` of the commands that act on many."""

from __future__ import annotations

from typing import Annotated, Any

from penstock.cli.io.completion import workflow_names
from penstock.cli.io.inputs import one_of
from penstock.cli.io.parameters import Function, expanded, option
from penstock.cli.io.problems import Wrong
from penstock.cli.io.times import read_moment
from penstock.flow.model.run import STATUSES

SORTS = ("newest", "oldest", "ended")


def _text(flag: str, metavar: str, help: str) -> Any:
    return Annotated[str | None, option(flag, metavar, help)]


OfWorkflow = Annotated[
    str | None, option("--workflow", "NAME", "Only of this one.", autocompletion=workflow_names)
]
Since = Annotated[
    str | None, option("--since", "TIME", "Started at or after: a time, or 2h for two hours ago.")
]
FILTERS = {
    "workflow": OfWorkflow,
    "version": Annotated[int | None, option("--version", "N", "Only of this version.", min=1)],
    "status": Annotated[list[str] | None, option("--status", "STATUS", "Only these. May be given again.")],
    "subject": _text("--subject", "TEXT", "Only about this."),
    "parent": _text("--parent", "RUN", "Only those that this run started."),
    "label": _text("--label", "NAME=VALUE", "Only with this label."),
    "key": _text("--key", "NAME=VALUE", "Only with this correlation key."),
    "step": _text("--step", "STEP", "Only where this step is running or has failed."),
    "waiting_for": _text("--waiting-for", "EVENT", "Only those that wait for this event."),
    "waiting_since": _text(
        "--waiting-since", "TIME", "With --waiting-for: since then at least; a time, or 2h."
    ),
    "since": Since,
    "until": _text("--until", "TIME", "Started before: a time, or 2h for two hours ago."),
    "q": _text("--q", "TEXT", "Only whose subject, id or key begins with this."),
}


def filtering(command: Function) -> Function:
    """The command takes the filters, and gets those that are given as `wanted`."""
    sort = {"sort": _text("--sort", "ORDER", "newest, oldest or ended.")}
    return expanded(
        command, "wanted", FILTERS | sort, read_filter, lambda own, added: [own[0], *added, *own[1:]]
    )


def read_filter(**given: Any) -> dict[str, Any]:
    """The filters that are given, as the engine takes them. Raises Wrong."""
    found = {name: value for name, value in given.items() if value not in (None, (), [])}
    if "status" in found:
        known = STATUSES
        found["statuses"] = tuple(one_of(each, known, "--status") for each in found.pop("status"))
    if "sort" in found:
        one_of(found["sort"], SORTS, "--sort")
    for name in ("label", "key"):
        if name in found:
            found[name] = read_pair(found[name], f"--{name}")
    for name in ("since", "until", "waiting_since"):
        if name in found:
            found[name] = read_moment(found[name], f"--{name.replace('_', '-')}")
    return found


def read_pair(text: str, option: str) -> tuple[str, str]:
    """`NAME=VALUE`. Raises Wrong."""
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise Wrong.because(f"{option} '{text}' is no pair: write {option} NAME=VALUE.")
    return name, value
