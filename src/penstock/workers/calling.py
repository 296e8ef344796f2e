"""Calling a task and reading its answer: whatever it does becomes one outcome."""

from __future__ import annotations

import re
import traceback
from collections.abc import Mapping
from math import isfinite
from typing import Any

import msgspec

from penstock.flow.occurrence import Done, Failed
from penstock.flow.plan import Attempt
from penstock.flow.run import Failure
from penstock.workers.context import Context
from penstock.workers.task import Fatal, Out, Task

PAYLOAD_LIMIT = 256 * 1024
"""Bytes of JSON that one output may have."""

Outcome = Done | Failed


def call(task: Task, attempt: Attempt, context: Context | None, limit: int = PAYLOAD_LIMIT) -> Outcome:
    """Run a plain function; whatever it raises is a failure of the attempt, not of the worker."""
    try:
        given = arguments(task, attempt.params)
        answer = task.function(context, **given) if task.takes_context else task.function(**given)
        return read_answer(answer, limit)
    except Exception as error:
        return failure(error)


async def call_async(
    task: Task, attempt: Attempt, context: Context | None, limit: int = PAYLOAD_LIMIT
) -> Outcome:
    """The same for a coroutine function."""
    try:
        given = arguments(task, attempt.params)
        answer = await (task.function(context, **given) if task.takes_context else task.function(**given))
        return read_answer(answer, limit)
    except Exception as error:
        return failure(error)


def arguments(task: Task, params: Mapping[str, Any]) -> Mapping[str, Any]:
    """The parameters, checked and converted by the function's hints. Raises Fatal with a plain sentence."""
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
        made = msgspec.convert(params, task.arguments)
    except msgspec.ValidationError as error:
        raise Fatal(
            f"the parameters of task '{task.name}' do not fit: {error}; look at the step's `with`"
        ) from None
    extra = {name: value for name, value in params.items() if name not in known}
    return {**{name: getattr(made, name) for name in known}, **extra}


def read_answer(answer: Any, limit: int = PAYLOAD_LIMIT) -> Outcome:
    """What a task returned as an outcome; what is not JSON, or too large, is a failure."""
    if answer is None:
        return _DONE
    try:
        return _done(answer, limit) if isinstance(answer, Out) else Done(output=pure(answer, limit))
    except _TooLarge as error:
        message = (
            f"the output has {error} bytes of JSON, {limit} at most: keep it elsewhere and return a reference"
        )
        return Failed(error=Failure("too_large", message), retry=False)
    except (TypeError, ValueError, OverflowError, RecursionError, UnicodeEncodeError) as error:
        message = f"the task returned something that is not JSON: {error}"
        return Failed(error=Failure("error", message), retry=False)


def _done(out: Out, limit: int) -> Done:
    return Done(
        port=out.port,
        output=pure(out.output, limit),
        tags=_map(out.tags, "tags", limit),
        set=_map(out.set, "set", limit),
        correlate=_correlate(out.correlate),
    )


class _TooLarge(Exception):
    """A payload is over the limit."""


def pure(value: Any, limit: int) -> Any:
    """A copy in plain JSON: what the task does to its own value later does not change the run."""
    if value is None or value is True or value is False:
        return value
    text = _encode(value)
    if len(text) > limit:
        raise _TooLarge(len(text))
    if b"null" in text or (len(text) > 18 and _LONG_NUMBER.search(text)):
        _refuse_numbers(value)
    return _decode(text)


_LONG_NUMBER = re.compile(rb"\d{19}")


def _refuse_numbers(value: Any) -> None:
    """NaN and infinity would silently become null; a whole number beyond 64 bits cannot be stored."""
    if isinstance(value, float) and not isfinite(value):
        raise ValueError(f"{value} is not a number of JSON")
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise ValueError(f"{value} does not fit into 64 bits")
    if isinstance(value, Mapping):
        for item in value.values():
            _refuse_numbers(item)
    elif isinstance(value, list | tuple | set | frozenset):
        for item in value:
            _refuse_numbers(item)


def _map(value: Mapping[str, Any] | None, name: str, limit: int) -> dict[str, Any] | None:
    if value is None:
        return None
    made = pure(value, limit)
    if not isinstance(made, dict):
        raise TypeError(f"`{name}` must be a map, not {type(value).__name__}")
    return made


def _correlate(keys: Mapping[str, str] | None) -> dict[str, str] | None:
    return None if keys is None else {str(name): str(value) for name, value in keys.items()}


def failure(error: BaseException) -> Failed:
    """An exception as the failure of an attempt."""
    kind = "fatal" if isinstance(error, Fatal) else "error"
    message = str(error) if isinstance(error, Fatal) else f"{type(error).__name__}: {error}".rstrip(": ")
    lines = traceback.format_exception(error)[-6:]
    detail = {"type": type(error).__name__, "traceback": "".join(lines)}
    return Failed(error=Failure(kind, message[:2000], detail), retry=kind != "fatal")


_DONE = Done()
_encode, _decode = msgspec.json.Encoder().encode, msgspec.json.Decoder().decode
