"""The options of an engine, validated when it is created rather than when they first matter."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from datetime import timedelta
from types import ModuleType
from typing import Any

from penstock.runtime.commands.validation import validate_integers
from penstock.runtime.errors import Invalid
from penstock.runtime.node.retention import DEFAULT_RETENTION
from penstock.store.errors import BadAddress
from penstock.store.open import is_shared
from penstock.workers.task import Task, tasks_of
from penstock.workers.worker.task_loader import TasksUnreadable


def validate_options(url: Any, concurrency: Any, grace: Any, retention: Any) -> None:
    """Raises BadAddress, Invalid."""
    if not isinstance(url, str):
        raise BadAddress(repr(url), "is no text")
    validate_integers(1, concurrency=concurrency)
    number = isinstance(grace, int | float) and math.isfinite(grace) and 0 <= grace <= timedelta.max.days
    if grace is not None and not number:
        raise Invalid(f"`grace` must be a number of seconds, 0 or more, not {grace!r}")
    if retention is not None:
        _validate_retention(retention)


def _validate_retention(retention: Any) -> None:
    if not isinstance(retention, Mapping):
        raise Invalid(f"`retention` must be a map from statuses to timedeltas, not {retention!r}")
    for status, kept in retention.items():
        if status not in DEFAULT_RETENTION:
            raise Invalid(
                f"`retention`: {status!r} is no status of an ended run: say {', '.join(DEFAULT_RETENTION)}"
            )
        if not isinstance(kept, timedelta) or kept < timedelta(0):
            raise Invalid(f"`retention`: that of '{status}' must be a timedelta of 0 or more, not {kept!r}")


def boxes_for(url: str, stores: Mapping[str, str] | None) -> tuple[str, ...] | None:
    """The built-in tasks of an engine that was not told what it may reach; None: all.

    On a database that others share it must not take from them what only they can do, and fail it.
    """
    if not is_shared(url):
        return None
    return ("update",) if stores else ()


def tasks_given(source: Any) -> dict[str, Task]:
    """The tasks of functions, modules, maps from name to function, or several of these. Raises TasksUnreadable."""
    if isinstance(source, Mapping):
        for name, function in source.items():
            if not isinstance(name, str) or not (callable(function) or isinstance(function, Task)):
                raise TasksUnreadable(f"`tasks` must be a map from names to functions; {name!r} is not so")
    elif isinstance(source, str) or not (callable(source) or isinstance(source, ModuleType | Iterable)):
        raise TasksUnreadable(
            f"{source!r} is no task: give functions, modules that define some, or a map from name to function"
        )
    elif not callable(source) and not isinstance(source, ModuleType):
        return {name: task for each in source for name, task in tasks_given(each).items()}
    return tasks_of(source)
