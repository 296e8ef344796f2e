"""Which runs: the options of `penstock runs`, and `--filter` of the commands that act on many."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, get_args

from penstock.cli.io.parameters import option
from penstock.cli.io.problems import Wrong
from penstock.cli.io.times import read_moment
from penstock.flow.model.run import Status

SORTS = ("newest", "oldest", "ended")


Version = Annotated[int | None, option("--version", "N", "Only of this version.", min=1)]
Statuses = Annotated[list[str] | None, option("--status", "STATUS", "Only these. May be given again.")]
Subject = Annotated[str | None, option("--subject", "TEXT", "Only about this.")]
Parent = Annotated[str | None, option("--parent", "RUN", "Only those that this run started.")]
Label = Annotated[str | None, option("--label", "NAME=VALUE", "Only with this label.")]
Key = Annotated[str | None, option("--key", "NAME=VALUE", "Only with this correlation key.")]
AtStep = Annotated[str | None, option("--step", "STEP", "Only where this step is running or has failed.")]
WaitingFor = Annotated[str | None, option("--waiting-for", "EVENT", "Only those that wait for this event.")]
WaitingSince = Annotated[
    str | None, option("--waiting-since", "TIME", "With --waiting-for: since then at least; a time, or 2h.")
]
Since = Annotated[
    str | None, option("--since", "TIME", "Started at or after: a time, or 2h for two hours ago.")
]
Until = Annotated[str | None, option("--until", "TIME", "Started before: a time, or 2h for two hours ago.")]
Text = Annotated[str | None, option("--q", "TEXT", "Only whose subject, id or key begins with this.")]
Sort = Annotated[str | None, option("--sort", "ORDER", "newest, oldest or ended.")]


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
