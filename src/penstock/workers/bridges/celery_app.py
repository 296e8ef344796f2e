"""The tasks of a Celery app: found, offered to the palette, and called with the parameters of a step."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from penstock.flow.model.plan import Attempt
from penstock.workers.execute.fleet import CannotOpen
from penstock.workers.task import Fatal, Task, make_task

ANY = "celery"
"""The task that sends whatever Celery task its parameters name."""

PREFIX = f"{ANY}."
"""What stands before the name of a Celery task in a definition."""


class Call(Struct, frozen=True):
    """What Celery is asked to do."""

    name: str
    args: list[Any]
    kwargs: dict[str, Any]
    queue: str | None = None


def open_app(name: str) -> Any:
    """The Celery app that `package.module:attribute` names, with all its tasks. Raises CannotOpen."""
    try:
        importlib.import_module("celery")
    except ModuleNotFoundError:
        raise CannotOpen("Celery is not installed here: install penstock[celery]") from None
    module, _, attribute = name.partition(":")
    if not module or not all(part.isidentifier() for part in module.split(".")):
        raise CannotOpen(f"'{name}' names no Celery app: say module:app, such as shop.celery:app")
    app = getattr(_import(name, module), attribute or "app", None)
    return checked_app(name, app)


def checked_app(name: str, app: Any) -> Any:
    """The app, where tasks can be sent by it and their results read. Raises CannotOpen."""
    from celery import Celery
    from celery.backends.base import DisabledBackend

    if not isinstance(app, Celery):
        raise CannotOpen(f"'{name}' is no Celery app: name the module and the variable that holds it")
    app.loader.import_default_modules()
    app.finalize()
    if app.conf.task_always_eager:
        raise CannotOpen(f"the Celery app '{name}' has task_always_eager on: no worker would get its tasks")
    if isinstance(app.backend, DisabledBackend):
        raise CannotOpen(
            f"the Celery app '{name}' has no result backend: set result_backend, so that Penstock learns how "
            "tasks end"
        )
    return app


def celery_tasks(app: Any) -> dict[str, Task]:
    """Each task of the app as `celery.<its name>`, and `celery` for those that only its workers know."""
    found = {ANY: make_task(_any_task, ANY, title="Celery task")}
    for name, task in app.tasks.items():
        if not name.startswith("celery."):
            found[PREFIX + name] = _offered(PREFIX + name, task)
    return found


def call_of(app: Any, attempt: Attempt) -> Call:
    """The Celery task, and what it is called with. Raises Fatal where the parameters do not fit."""
    if attempt.task == ANY:
        return _named(attempt.params)
    name = attempt.task.removeprefix(PREFIX)
    task = app.tasks[name]
    signature = inspect.signature(task.run)
    args, kwargs = _split(signature, attempt.params)
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        raise Fatal(
            f"the parameters of task '{attempt.task}' do not fit: {error}; look at the step's `with`"
        ) from None
    return Call(name, args, kwargs)


def _any_task(
    task: str, args: list[Any] | None = None, kwargs: dict[str, Any] | None = None, queue: str | None = None
) -> Any:
    """Send a task to Celery by its name and wait for its result."""


def _offered(name: str, task: Any) -> Task:
    made = make_task(task.run, name)
    # A class-based task says what it does at its class.
    doc = made.offer.doc or inspect.getdoc(type(task)) or ""
    return replace(made, offer=replace(made.offer, doc=doc))


def _named(params: Mapping[str, Any]) -> Call:
    wrong = [name for name in params if name not in ("task", "args", "kwargs", "queue")]
    if wrong:
        raise Fatal(f"task 'celery' has no parameter `{wrong[0]}`; it takes task, args, kwargs, queue")
    name, queue = params.get("task"), params.get("queue")
    args, kwargs = params.get("args") or [], params.get("kwargs") or {}
    if not isinstance(name, str) or not name:
        raise Fatal("task 'celery' needs the name of a Celery task: give it as `task` in the step's `with`")
    if not isinstance(args, list) or not isinstance(kwargs, dict):
        raise Fatal("of task 'celery', `args` must be a list and `kwargs` a map: look at the step's `with`")
    if queue is not None and not isinstance(queue, str):
        raise Fatal("the `queue` of task 'celery' must be a text: look at the step's `with`")
    return Call(name, args, kwargs, queue)


def _split(signature: inspect.Signature, params: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """By name where that can be; what stands before a `*parameter` that is given goes by position."""
    kinds = {each.name: each.kind for each in signature.parameters.values()}
    starred = any(kinds.get(name) is inspect.Parameter.VAR_POSITIONAL for name in params)
    args: list[Any] = []
    kwargs = dict(params)
    for name, kind in kinds.items():
        if name not in kwargs:
            continue
        if kind is inspect.Parameter.VAR_POSITIONAL:
            value = kwargs.pop(name)
            args += value if isinstance(value, list) else [value]
        elif kind is inspect.Parameter.POSITIONAL_ONLY or (
            starred and kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
        ):
            args.append(kwargs.pop(name))
    return args, kwargs


def _import(name: str, module: str) -> Any:
    """The module, also from the current folder. Whatever it raises becomes a sentence."""
    here = str(Path.cwd())
    sys.path.insert(0, here)
    try:
        return importlib.import_module(module)
    except Exception as error:
        raise CannotOpen(
            f"the Celery app '{name}' cannot be imported: {type(error).__name__}: {error}"
        ) from error
    finally:
        if here in sys.path:
            sys.path.remove(here)
