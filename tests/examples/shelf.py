"""The examples as their tests use them: a definition, its stub tasks, and the input that it proposes."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from penstock.engine.loading import load
from penstock.testing import Play, World, play
from penstock.workers.task import Task, tasks_of

FOLDER = Path(__file__).parents[2] / "examples"
NAMES = sorted(path.stem for path in FOLDER.glob("*.yaml"))
BROKEN = FOLDER / "broken" / "mediathread.yaml"


def path_of(name: str) -> Path:
    return FOLDER / f"{name}.yaml"


def functions(name: str) -> Any:
    """The module beside the example; it imports others of its folder by their bare names."""
    sys.path.insert(0, str(FOLDER))
    try:
        return import_module(name)
    finally:
        sys.path.remove(str(FOLDER))


def offered(name: str) -> Any:
    """The stub tasks as `Engine` and `play` take them; none where every step is a built-in one."""
    return functions(name) if (FOLDER / f"{name}.py").exists() else {}


def tasks(name: str) -> dict[str, Task]:
    """The stub tasks as `load` takes them."""
    return tasks_of(offered(name))


def proposed(name: str) -> Any:
    """The input that `penstock run` uses where none is given."""
    return load(path_of(name)).definition.params["examples"][0]


def begin(world: World, name: str, input: Any = None, **how: Any) -> Play:
    """A run in a world; nothing has moved yet."""
    given = proposed(name) if input is None else input
    return world.start(path_of(name), tasks=offered(name), input=given, others="fail", **how)


def played(name: str, input: Any = None, **how: Any) -> Play:
    """A run, played until it is at rest."""
    given = proposed(name) if input is None else input
    return play(path_of(name), tasks=offered(name), input=given, others="fail", **how)


def states(run: Play) -> dict[str, str]:
    return {name: state.status for name, state in run.steps.items()}


def firings(run: Play) -> dict[str, int]:
    """How often each step fired that fired at all."""
    return {name: state.firings for name, state in run.steps.items() if state.firings}
