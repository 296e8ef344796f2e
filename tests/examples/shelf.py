"""The examples as their tests use them: a definition, its stub tasks, and the input that it proposes."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from penstock.cli.author.example_files import workflows_in
from penstock.engine.authoring.loader import load
from penstock.testing import Play, World, play, returns
from penstock.workers.task import Task, tasks_of

FOLDER = Path(__file__).parents[2] / "examples"
FILES = {path.stem: path for path in workflows_in(FOLDER)}
NAMES = sorted(FILES)
BROKEN = FOLDER / "broken" / "mediathread.yaml"


BEYOND: dict[str, dict[str, Any]] = {
    "viblio": {"FaceRecognize": returns({"run": "1", "result": {"people": 2, "names": ["Ada"]}})},
    "viblio_faces": {
        "NameFaces": returns({"decision": "approved", "fields": {"names": ["Ada"]}}, port="approved")
    },
    "notification": {"tell": returns({"told": "pictures/holiday/alps.jpg is new"})},
}
"""What people, functions and other workflows answer in an example, unless a test says otherwise."""


def path_of(name: str) -> Path:
    return FILES[name]


def functions(name: str, module: str | None = None) -> Any:
    """The module of an example, or another one beside it; it imports others of its folder by their bare names."""
    folder = str(path_of(name).parent)
    sys.path.insert(0, folder)
    try:
        return import_module(module or name)
    finally:
        sys.path.remove(folder)


def offered(name: str) -> Any:
    """The stub tasks as `Engine` and `play` take them; none where every step is a built-in one."""
    return functions(name) if path_of(name).with_suffix(".py").exists() else {}


def tasks(name: str) -> dict[str, Task]:
    """The stub tasks as `load` takes them."""
    return tasks_of(offered(name))


def proposed(name: str) -> Any:
    """The input that `penstock run` uses where none is given; None where it takes none."""
    params = load(path_of(name)).definition.params
    return None if params is None else params["examples"][0]


def begin(
    world: World, name: str, input: Any = None, stubs: Mapping[str, Any] | None = None, **how: Any
) -> Play:
    """A run in a world; nothing has moved yet."""
    given = proposed(name) if input is None else input
    cast = {**BEYOND.get(name, {}), **(stubs or {})}
    return world.start(path_of(name), tasks=offered(name), input=given, stubs=cast, others="fail", **how)


def played(name: str, input: Any = None, stubs: Mapping[str, Any] | None = None, **how: Any) -> Play:
    """A run, played until it is at rest."""
    given = proposed(name) if input is None else input
    cast = {**BEYOND.get(name, {}), **(stubs or {})}
    return play(path_of(name), tasks=offered(name), input=given, stubs=cast, others="fail", **how)


def states(run: Play) -> dict[str, str]:
    return {name: state.status for name, state in run.steps.items()}


def firings(run: Play) -> dict[str, int]:
    """How often each step fired that fired at all."""
    return {name: state.firings for name, state in run.steps.items() if state.firings}
