"""Which runs: the options of `penstock runs`, and `--filter` of the commands that act on many."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, get_args

import typer

from penstock.cli.io.problems import Wrong
from penstock.cli.io.times import read_moment
from penstock.flow.model.run import Status

SORTS = ("newest", "oldest", "ended")


def _text(flag: str, metavar: str, help: str) -> Any:
    return typer.Option(flag, metavar=metavar, help=help)


Version = Annotated[int | None, typer.Option("--version", metavar="N", min=1, help="Only of this version.")]
Statuses = Annotated[list[str] | None, _text("--status", "STATUS", "Only these. May be given again.")]
Subject = Annotated[str | None, _text("--subject", "TEXT", "Only about this.")]
Parent = Annotated[str | None, _text("--parent", "RUN", "Only those that this run started.")]
Label = Annotated[str | None, _text("--label", "NAME=VALUE", "Only with this label.")]
Key = Annotated[str | None, _text("--key", "NAME=VALUE", "Only with this correlation key.")]
AtStep = Annotated[str | None, _text("--step", "STEP", "Only where this step is running or has failed.")]
WaitingFor = Annotated[str | None, _text("--waiting-for", "EVENT", "Only those that wait for this event.")]
WaitingSince = Annotated[
    str | None, _text("--waiting-since", "TIME", "With --waiting-for: since then at least; a time, or 2h.")
]
Since = Annotated[
    str | None, _text("--since", "TIME", "Started at or after: a time, or 2h for two hours ago.")
]
Until = Annotated[str | None, _text("--until", "TIME", "Started before: a time, or 2h for two hours ago.")]
Text = Annotated[str | None, _text("--q", "TEXT", "Only whose subject, id or key begins with this.")]
Sort = Annotated[str | None, _text("--sort", "ORDER", "newest, oldest or ended.")]


def read_filter(**given: Any) -> dict[str, Any]:
    """The filters that are given, as the engine takes them. Raises Wrong."""
    found = {name: value for name, value in given.items() if value not in (None, (), [])}
    if "statuses" in found:
        found["statuses"] = tuple(_one_of(each, get_args(Status), "--status") for each in found["statuses"])
    if "sort" in found:
        _one_of(found["sort"], SORTS, "--sort")
    for name in ("label", "key"):
        if name in found:
            found[name] = read_pair(found[name], f"--{name}")
    for name in ("since", "until", "waiting_since"):
        if name in found:
            found[name] = read_moment(found[name], f"--{name.replace('_', '-')}")
    return found


def _one_of(given: str, known: Sequence[str], option: str) -> str:
    if given not in known:
        raise Wrong.because(f"{option} '{given}' is not known: say {', '.join(known)}.")
    return given


def read_pair(text: str, option: str) -> tuple[str, str]:
    """`NAME=VALUE`. Raises Wrong."""
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise Wrong.because(f"{option} '{text}' is no pair: write {option} NAME=VALUE.")
    return name, value
