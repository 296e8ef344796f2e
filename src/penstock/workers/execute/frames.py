"""The protocol between a worker and its child process: frames of msgpack over pipes, length first."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, BinaryIO

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from penstock.flow.model.plan import Attempt
from penstock.flow.model.run import Failure, Origin
from penstock.flow.model.run_input import Done, Failed, Parked
from penstock.flow.values.payload import NotJson, TooLarge, pure
from penstock.kernel.marking import Taken, Token
from penstock.workers.context import Context, LogSink

_LENGTH = 4


class Run(Struct, frozen=True, tag=True):
    """Run an attempt; `number` is which one of this child."""

    number: int
    attempt: Attempt
    limit: int


class Cancel(Struct, frozen=True, tag=True):
    """An attempt is no longer wanted."""

    number: int


class Ready(Struct, frozen=True, tag=True):
    """The tasks are loaded."""


class Broken(Struct, frozen=True, tag=True):
    """The tasks cannot be loaded."""

    why: str


class Line(Struct, frozen=True, tag=True):
    """The task wrote a line."""

    level: str
    text: str


class Progress(Struct, frozen=True, tag=True):
    """The task says how far it is."""

    value: Any


class Ended(Struct, frozen=True, tag=True):
    """The task ended, one way or the other."""

    done: Done | None = None
    failed: Failed | None = None


def ended(outcome: Done | Failed | Parked) -> Ended:
    """How a task of another process ended; only one of the server itself may leave its work to others."""
    if isinstance(outcome, Done):
        return Ended(done=outcome)
    if isinstance(outcome, Failed):
        return Ended(failed=outcome)
    return Ended(failed=Failed(error=Failure("fatal", "a task in a process cannot be parked"), retry=False))


Down = Run | Cancel
Up = Ready | Broken | Line | Progress | Ended


def telling_context(attempt: Attempt, say: Callable[[Up], None]) -> Context:
    """The context of a task whose worker is elsewhere: its lines and progress are frames."""

    def on_progress() -> None:
        # Progress that is not JSON is not shown; it must not fail the task.
        with suppress(NotJson, TooLarge):
            say(Progress(pure(context.progress)))

    context = Context(attempt, lambda _, level, text: say(Line(level, text)), on_progress)
    return context


def heard(frame: Up, attempt: Attempt, context: Context | None, write: LogSink) -> None:
    """Take a line or the progress of a task elsewhere as if it ran here."""
    if isinstance(frame, Line):
        write(attempt, frame.level, frame.text)
    elif isinstance(frame, Progress) and context is not None:
        context.heartbeat(frame.value)


def send(pipe: BinaryIO, frame: Down | Up) -> None:
    """Write one frame, whole. Raises OSError where the other side is gone."""
    body = packed(frame)
    pipe.write(len(body).to_bytes(_LENGTH, "big") + body)
    pipe.flush()


def read_up(pipe: BinaryIO) -> Up | None:
    """The next frame of the child; None: it is gone."""
    body = _read(pipe)
    return None if body is None else unpacked_up(body)


def read_down(pipe: BinaryIO) -> Down | None:
    """The next frame of the worker; None: it is gone."""
    body = _read(pipe)
    return None if body is None else unpacked_down(body)


def unpacked_down(body: bytes) -> Down:
    """A frame of the worker, its attempt whole."""
    frame = _decode_down(body)
    return replace(frame, attempt=_whole(frame.attempt)) if isinstance(frame, Run) else frame


def _read(pipe: BinaryIO) -> bytes | None:
    head = pipe.read(_LENGTH)
    if len(head) < _LENGTH:
        return None
    size = int.from_bytes(head, "big")
    body = pipe.read(size)
    return body if len(body) == size else None


def _whole(attempt: Attempt) -> Attempt:
    """The loads of tokens belong to the flow: they come as plain maps and are made what they were."""
    slots = tuple([tuple([_token(token) for token in slot]) for slot in attempt.taken.slots])
    return replace(attempt, taken=Taken(slots, attempt.taken.key))


def _token(token: Token) -> Token:
    load = token.load
    return token if load is None else Token(token.number, token.name, msgspec.convert(load, Origin))


packed = msgspec.msgpack.Encoder().encode
unpacked_up = msgspec.msgpack.Decoder(Up).decode
_decode_down = msgspec.msgpack.Decoder(Down).decode
