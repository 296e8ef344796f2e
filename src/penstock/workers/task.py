"""`@task`: a Python function becomes a task; its palette entry comes from its signature."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import ModuleType, UnionType
from typing import TYPE_CHECKING, Any, Generic, Union, get_args, get_origin, get_type_hints, overload

import msgspec

from penstock.flow.compile.compile import LONE, SERVED, Flow, TaskBox
from penstock.flow.model.names import shown, wrong_name
from penstock.flow.model.offer import Offer
from penstock.flow.values.schema_validation import validator_of
from penstock.workers.context import Context
from penstock.workers.resources import Resources, resources_of
from penstock.workers.schemas import Schema, schema_given, schema_taken

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    T = TypeVar("T", default=Any)
else:
    from typing import TypeVar

    T = TypeVar("T")

Function = Callable[..., Any]
F = TypeVar("F", bound=Function)


class Fatal(Exception):
    """Raise it in a task to fail without another try."""


class Out(msgspec.Struct, Generic[T], frozen=True):
    """What a task may return instead of its bare output; `-> Out[Model]` says what `output` is.

    `tags` are set on the tags that flow on, a value None removes one; `set` is merged into the run's data;
    `correlate` gives the run keys by which outside events find it.
    """

    output: T = None  # type: ignore[assignment]
    port: str = "done"
    tags: Mapping[str, Any] | None = None
    set: Mapping[str, Any] | None = None
    correlate: Mapping[str, str] | None = None


class Promised(msgspec.Struct, frozen=True):
    """What a task promises to give: each a JSON Schema, or a type."""

    output: Any = None
    outputs: Mapping[str, Any] = {}
    sets: Any = None


class Task(msgspec.Struct, frozen=True):
    """A function with what is known of it."""

    function: Function
    offer: Offer
    takes_context: bool
    is_async: bool
    arguments: type[msgspec.Struct] | None  # converts and checks the parameters; None: as they are
    open: bool  # has **parameters
    resources: Resources = Resources()  # what it needs, where the fleet hands out by that

    @property
    def name(self) -> str:
        return self.offer.name

    @property
    def place(self) -> tuple[str, int] | None:
        """File and line of its function; None where it has none, as what is written in C."""
        code = getattr(inspect.unwrap(self.function), "__code__", None)
        return None if code is None else (code.co_filename, code.co_firstlineno)


OUTSIDE = LONE | SERVED
"""Built-in tasks that somebody must do: the engine, the server's own worker, or a stand-in."""

REGISTRY: dict[str, Task] = {}
"""Every task defined in this process: what an `Engine` offers when it is not given tasks of its own."""

_watchers: list[list[Task]] = []


@contextmanager
def tasks_made() -> Iterator[list[Task]]:
    """Every task that is defined meanwhile, in order, also one that a later one of its name hides."""
    made: list[Task] = []
    _watchers.append(made)
    try:
        yield made
    finally:
        _watchers.remove(made)


@overload
def task(name: F, /) -> F: ...


@overload
def task(
    name: str | None = None,
    *,
    ports: Sequence[str] = ("done", "failed"),
    task_list: str | None = None,
    title: str | None = None,
    resources: Mapping[str, Any] | None = None,
    output: Any = None,
    outputs: Mapping[str, Any] | None = None,
    sets: Any = None,
) -> Callable[[F], F]: ...


def task(
    name: Any = None,
    *,
    ports: Sequence[str] = ("done", "failed"),
    task_list: str | None = None,
    title: str | None = None,
    resources: Mapping[str, Any] | None = None,
    output: Any = None,
    outputs: Mapping[str, Any] | None = None,
    sets: Any = None,
) -> Any:
    """Make a function a task. The function itself stays as it is and can be called as before.

    `resources` are what it needs where tasks are placed by that, as on Ray: `{"cpus": 2, "memory": "1GiB"}`.
    `output` is what it gives on `done`, a JSON Schema or a type; where it is missing, the return type says it.
    `outputs` says the same for its other ports, `sets` for what `Out(set=…)` sets on the run's data. What does not
    fit fails the attempt.
    """
    if callable(name):
        return task()(name)

    def mark(function: F) -> F:
        promised = Promised(output, outputs or {}, sets)
        made = make_task(function, name or function.__name__, ports, task_list, title, resources, promised)
        function.__penstock_task__ = made  # type: ignore[attr-defined]
        REGISTRY[made.name] = made
        for watcher in _watchers:
            watcher.append(made)
        return function

    return mark


def make_task(
    function: Function,
    name: str,
    ports: Sequence[str] = ("done", "failed"),
    task_list: str | None = None,
    title: str | None = None,
    resources: Mapping[str, Any] | None = None,
    promised: Promised | None = None,
) -> Task:
    """The task of a function. Raises ValueError where a port cannot be named so, or a resource is none."""
    _check_ports(name, ports)
    own = promised or Promised()
    parameters = list(inspect.signature(function).parameters.values())
    takes_context = bool(parameters) and (
        parameters[0].name == "ctx" or _hints(function).get(parameters[0].name) is Context
    )
    if takes_context:
        parameters = parameters[1:]
    arguments = _arguments(function, parameters)
    doc = inspect.getdoc(function) or ""
    offer = Offer(
        name=name,
        ports=tuple(dict.fromkeys((*ports, "failed"))),
        title=title or name.rpartition(".")[2].replace("_", " ").capitalize(),
        doc=doc,
        parameters=_schema(arguments, parameters),
        task_list=task_list,
        output=_returned(function) if own.output is None else _schema_of(name, "output", own.output),
        outputs=_output_schemas(name, ports, own.outputs),
        sets=None if own.sets is None else _schema_of(name, "sets", own.sets),
    )
    variadic = any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters)
    is_async, needs = inspect.iscoroutinefunction(function), resources_of(name, resources or {})
    return Task(function, offer, takes_context, is_async, arguments, variadic, needs)


def _output_schemas(task: str, ports: Sequence[str], outputs: Mapping[str, Any]) -> dict[str, Schema]:
    for port in outputs:
        if port in ("done", "failed") or port not in ports:
            why = "use `output`" if port == "done" else f"it ends well on {', '.join(ports)}"
            raise ValueError(f"`outputs` of task '{task}' cannot name port {shown(str(port))}: {why}")
    return {port: _schema_of(task, f"outputs[{port!r}]", given) for port, given in outputs.items()}


def _schema_of(task: str, name: str, given: Any) -> Schema:
    try:
        schema: Schema = given if isinstance(given, dict) else schema_given(given)
        validator_of(schema)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"`{name}` of task '{task}' is no JSON Schema and no type of JSON: {error}"
        ) from None
    return schema


def _returned(function: Function) -> Schema | None:
    """The schema of what a function gives on `done` by its return type; None where that tells nothing."""
    try:
        schema = schema_given(_bare(_hints(function).get("return", Any)))
        validator_of(schema)
    except (TypeError, ValueError):
        return None
    return schema or None


def _bare(hint: Any) -> Any:
    """A return type with the output in place of `Out`."""
    if get_origin(hint) in (Union, UnionType):
        arms = tuple(map(_bare, get_args(hint)))
        return Any if Any in arms else Union[arms]  # noqa: UP007 - made of a tuple
    if hint is Out:
        return Any
    return get_args(hint)[0] if get_origin(hint) is Out else hint


def _check_ports(task: str, ports: Sequence[Any]) -> None:
    if isinstance(ports, str):
        raise ValueError(f"`ports` of task '{task}' must be a list of names such as ['done'], not a text")
    for port in ports:
        wrong = wrong_name(port) if isinstance(port, str) else "is no text"
        if wrong:
            raise ValueError(f"port {shown(str(port))} of task '{task}' {wrong}")


def tasks_of(source: Any) -> dict[str, Task]:
    """The tasks of a module, of a function, of several of them, or of a map from name to function."""
    if isinstance(source, Mapping):
        return {name: _as_task(name, each) for name, each in source.items()}
    if isinstance(source, ModuleType):
        found = (getattr(each, "__penstock_task__", None) for each in vars(source).values())
        return {made.name: made for made in found if isinstance(made, Task)}
    if callable(source):
        made = _as_task(None, source)
        return {made.name: made}
    return {name: made for each in source for name, made in tasks_of(each).items()}


def missing_tasks(flow: Flow, tasks: Mapping[str, Task]) -> list[str]:
    """The tasks that a flow needs a worker for and that nobody has defined, in the order of its steps."""
    wanted = (
        step.task
        for step in flow.steps.values()
        if (isinstance(step.box, TaskBox) or step.task in OUTSIDE) and not step.disabled
    )
    return [name for name in dict.fromkeys(wanted) if name not in tasks]


def _as_task(name: str | None, function: Any) -> Task:
    made: Task | None = (
        function if isinstance(function, Task) else getattr(function, "__penstock_task__", None)
    )
    if made is None:
        return make_task(function, name or function.__name__)
    if name is None or name == made.name:
        return made
    return msgspec.structs.replace(made, offer=msgspec.structs.replace(made.offer, name=name))


def _hints(function: Function) -> dict[str, Any]:
    try:
        return get_type_hints(function)
    except (NameError, TypeError):
        # A hint that cannot be resolved is no hint: the task must still run.
        return {}


def _arguments(function: Function, parameters: list[inspect.Parameter]) -> type[msgspec.Struct] | None:
    """A struct of the parameters that checks and converts them; None where the hints are beyond JSON."""
    hints = _hints(function)
    fields: list[Any] = []
    for each in parameters:
        if each.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
            continue
        hint = hints.get(each.name, Any)
        fields.append((each.name, hint) if each.default is each.empty else (each.name, hint, each.default))
    try:
        made = msgspec.defstruct("Parameters", fields, kw_only=True)
        schema_taken(made)
    except (TypeError, ValueError, NameError):
        return None
    return made


def _schema(arguments: type[msgspec.Struct] | None, parameters: list[inspect.Parameter]) -> dict[str, Any]:
    """Of what the function takes: anything else too only if it has *parameters or **parameters."""
    more = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    takes_more = any(each.kind in more for each in parameters)
    closed = {} if takes_more else {"additionalProperties": False}
    if arguments is None:
        names = [each.name for each in parameters]
        required = [each.name for each in parameters if each.default is each.empty]
        return {"type": "object", "properties": {name: {} for name in names}, "required": required, **closed}
    schema = schema_taken(arguments)
    definitions = schema.pop("$defs", {})
    own: dict[str, Any] = definitions.pop("Parameters")
    own.pop("title", None)
    return {**own, **closed, **({"$defs": definitions} if definitions else {})}
