"""Whole runs: the same steps and functions for every contender, and what each must come to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from msgspec import Struct

from penstock.engine.authoring.loader import load
from penstock.kernel.net import Net

Keeps = Literal["output", "data", "tags"]
Function = Callable[[], dict[str, Any]]


class Call(Struct, frozen=True):
    """One step of a run: its function, where its answer goes, and the port on which it ends."""

    step: str
    function: Function
    keeps: Keeps = "output"
    port: str = "done"


class Script(Struct, frozen=True):
    """A workflow, and the one way through it that is measured."""

    name: str
    steps: dict[str, Any]
    calls: tuple[Call, ...]

    @property
    def definition(self) -> dict[str, Any]:
        return {"penstock": 1, "name": self.name, "steps": self.steps}

    def net(self) -> Net:
        """The net, for contenders that know nets only."""
        return load(self.definition).flow.net


class State:
    """What a run without an engine keeps: the least that makes it the same run."""

    __slots__ = ("data", "outputs", "tags")

    def __init__(self) -> None:
        self.data: dict[str, Any] = {}
        self.tags: dict[str, Any] = {}
        self.outputs: dict[str, Any] = {}

    def keep(self, call: Call) -> None:
        answer = call.function()
        self.outputs[call.step] = answer
        if call.keeps == "data":
            self.data.update(answer)
        elif call.keeps == "tags":
            self.tags.update(answer)

    def answer(self) -> dict[str, Any]:
        return {"data": self.data, "tags": self.tags}


def fetch() -> dict[str, Any]:
    return {"key": "films/1.mov"}


def measure() -> dict[str, Any]:
    return {"size": 3}


def label() -> dict[str, Any]:
    return {"kind": "video"}


def total() -> dict[str, Any]:
    return {"total": 6}


def mark() -> dict[str, Any]:
    return {"checked": "yes"}


def choose() -> dict[str, Any]:
    return {}


def after(task: str, *events: str, **more: Any) -> dict[str, Any]:
    """A step as it is written in a definition."""
    return {"task": task, "after": list(events), **more}


SMALL = Script(
    "small",
    {
        "fetch": {"task": "fetch"},
        "measure": after("measure", "fetch"),
        "label": after("label", "measure"),
    },
    (Call("fetch", fetch), Call("measure", measure, "data"), Call("label", label, "tags")),
)

MIXED = Script(
    "mixed",
    {
        "measure": {"task": "measure"},
        "large": after("decide", "measure", **{"with": {"if": "data.size > 1"}}),
        "refuse": after("fail", "large.else", **{"with": {"message": "too small"}}),
        "thumbnail": after("fetch", "large.then"),
        "transcode": after("measure", "large.then"),
        "describe": after("label", "large.then"),
        "gather": after("fetch", "thumbnail", "transcode", "describe"),
        "total": after("set", "gather", **{"with": {"total": "${ data.size * 2 }"}}),
        "mark": after("tag", "total", **{"with": {"set": {"checked": "yes"}}}),
        "store": after("fetch", "mark"),
        "notify": after("fetch", "store", emits="OK"),
    },
    (
        Call("measure", measure, "data"),
        Call("large", choose, port="then"),
        Call("thumbnail", fetch),
        Call("transcode", measure, "data"),
        Call("describe", label, "tags"),
        Call("gather", fetch),
        Call("total", total, "data"),
        Call("mark", mark, "tags"),
        Call("store", fetch),
        Call("notify", fetch),
    ),
)

SCRIPTS = (SMALL, MIXED)


def run_name(script: Script) -> str:
    return f"run {script.name}"
