"""Calling a task and reading its answer: whatever it does becomes one outcome."""

from __future__ import annotations

import asyncio
import threading
import traceback
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any

import msgspec

from penstock.flow.decisions.finish import unknown_port
from penstock.flow.model.plan import Attempt
from penstock.flow.model.run import Failure
from penstock.flow.model.run_input import Done, Failed, Parked
from penstock.flow.values.payload import NotJson, TooLarge, copied, pure, storable_text
from penstock.runtime.errors import NoTask
from penstock.runtime.node.log_context import ATTEMPT
from penstock.workers.context import Context
from penstock.workers.schemas import read_model
from penstock.workers.task import Fatal, Out, Task

Outcome = Done | Failed | Parked


def call(task: Task, attempt: Attempt, context: Context | None, limit: int | None = None) -> Outcome:
    """Run a plain function; whatever it raises is a failure of the attempt, not of the worker."""
    ATTEMPT.set(attempt)
    try:
        given = arguments(task, attempt.params)
        answer = task.function(context, **given) if task.takes_context else task.function(**given)
        return read_answer(answer, limit, attempt)
    except BaseException as error:
        if _stops(error):
            raise
        return failure(error)
    finally:
        ATTEMPT.set(None)


async def call_async(
    task: Task, attempt: Attempt, context: Context | None, limit: int | None = None
) -> Outcome:
    """The same for a coroutine function."""
    ATTEMPT.set(attempt)
    try:
        given = arguments(task, attempt.params)
        answer = await (task.function(context, **given) if task.takes_context else task.function(**given))
        return read_answer(answer, limit, attempt)
    except BaseException as error:
        if _stops(error) or isinstance(error, GeneratorExit) or _withdrawn(error):
            raise
        return failure(error)
    finally:
        ATTEMPT.set(None)  # not by `reset`: a coroutine may be closed from elsewhere


class CancelableCall:
    """A plain function, or a coroutine that can be cancelled from another thread."""

    def __init__(self, task: Task, attempt: Attempt, limit: int) -> None:
        self._task, self._attempt, self._limit = task, attempt, limit
        self._loop: asyncio.AbstractEventLoop | None = None
        self._doing: asyncio.Task[Outcome] | None = None

    def outcome(self, context: Context | None, run: Callable[..., Outcome] = asyncio.run) -> Outcome:
        """What it comes to; `run` runs a coroutine to its end."""
        if not self._task.is_async:
            return call(self._task, self._attempt, context, self._limit)
        try:
            return run(self._main(context))
        except asyncio.CancelledError as error:
            return failure(error)

    async def _main(self, context: Context | None) -> Outcome:
        self._loop, self._doing = asyncio.get_running_loop(), asyncio.current_task()
        if context is not None and context.canceled:
            raise asyncio.CancelledError
        return await call_async(self._task, self._attempt, context, self._limit)

    def cancel(self) -> None:
        if self._loop is not None and self._doing is not None:
            with suppress(RuntimeError):  # it has ended meanwhile
                self._loop.call_soon_threadsafe(self._doing.cancel)


def _stops(error: BaseException) -> bool:
    """Whether it is Ctrl-C, which only the main thread gets. A SystemExit of a task is no more than its failure."""
    return isinstance(error, KeyboardInterrupt) and threading.current_thread() is threading.main_thread()


def _withdrawn(error: BaseException) -> bool:
    """Whether somebody cancelled the coroutine from outside; a CancelledError of its own is a failure."""
    task = asyncio.current_task() if isinstance(error, asyncio.CancelledError) else None
    return task is not None and task.cancelling() > 0


def arguments(task: Task, params: Mapping[str, Any]) -> Mapping[str, Any]:
    """The parameters, copied, checked and converted by the function's hints. Raises Fatal with a plain sentence."""
    if params:
        params = copied(params)  # they are shared by all attempts, and fixed ones by all runs
    if task.arguments is None:
        return params
    known = task.arguments.__struct_fields__
    if not known and not params:
        return params
    if not task.open:
        unknown = [name for name in params if name not in known]
        if unknown:
            takes = ", ".join(known) or "none"
            raise Fatal(f"task '{task.name}' has no parameter `{unknown[0]}`; it takes {takes}")
    elif not known:
        return params
    try:
        made = msgspec.convert(params, task.arguments, dec_hook=read_model)
    except msgspec.ValidationError as error:
        raise Fatal(
            f"the parameters of task '{task.name}' do not fit: {error}; look at the step's `with`"
        ) from None
    extra = {name: value for name, value in params.items() if name not in known}
    return {**{name: getattr(made, name) for name in known}, **extra}


def read_answer(answer: Any, limit: int | None = None, attempt: Attempt | None = None) -> Outcome:
    """What a task returned as an outcome; what is not JSON, too large, or on a strange port is a failure."""
    if answer is None:
        return _DONE
    if isinstance(answer, Failed | Parked):
        return answer  # of a built-in task
    try:
        if not isinstance(answer, Out | Done):
            return Done(output=pure(answer, limit))
        done = _done(answer, limit)
    except TooLarge as error:
        return Failed(error=Failure("too_large", f"the output {error}"), retry=False)
    except (NotJson, TypeError) as error:
        message = f"the task returned something that is not JSON: {error}"
        return Failed(error=Failure("error", message), retry=False)
    if attempt is None or done.port in attempt.ports:
        return done
    return Failed(error=Failure("error", unknown_port(attempt.step, attempt.ports, done.port)), retry=False)


def _done(out: Out | Done, limit: int | None) -> Done:
    return Done(
        port=storable_text(out.port),
        output=pure(out.output, limit),
        tags=_map(out.tags, "tags", limit),
        set=_map(out.set, "set", limit),
        correlate=_correlate(out.correlate),
        replace_tags=isinstance(out, Done) and out.replace_tags,
    )


def _map(value: Mapping[str, Any] | None, name: str, limit: int | None) -> dict[str, Any] | None:
    if value is None:
        return None
    made = pure(value, limit)
    if not isinstance(made, dict):
        raise TypeError(f"`{name}` must be a map, not {type(value).__name__}")
    return made


def _correlate(keys: Mapping[str, str] | None) -> dict[str, str] | None:
    if keys is None:
        return None
    made = {str(name): str(value) for name, value in keys.items()}
    if any("\0" in text for pair in made.items() for text in pair):
        raise TypeError("`correlate` has a NUL character, which no database keeps: leave it out")
    return made


def not_offered(task: str, tasks: Iterable[str]) -> Failed:
    """A task that nobody has defined here fails at once, for good."""
    return failure(Fatal(str(NoTask([task], tasks))))


def failure(error: BaseException) -> Failed:
    """An exception as the failure of an attempt."""
    kind = "fatal" if isinstance(error, Fatal) else "error"
    lines = traceback.format_exception(error)[-6:]
    detail = {"type": type(error).__name__, "traceback": storable_text("".join(lines))}
    return Failed(error=Failure(kind, storable_text(_message(error)[:2000]), detail), retry=kind != "fatal")


def _message(error: BaseException) -> str:
    name = type(error).__name__
    try:
        text = str(error)
    except Exception:
        return f"{name} (it cannot be told what it says)"
    if isinstance(error, SystemExit):
        return f"the task called sys.exit({text}): return, or raise an error instead"
    if isinstance(error, asyncio.CancelledError):
        return f"the task was cancelled, and not by the engine: {text}".rstrip(": ")
    if isinstance(error, Fatal):
        return text or "the task raised Fatal without a message"
    return f"{name}: {text}".rstrip(": ")


_DONE = Done()
