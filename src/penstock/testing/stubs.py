"""What a stubbed task does: return, fail, run out of time, vanish, now or after a while."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from penstock.flow.model.run import Failure
from penstock.flow.model.run_input import Failed, TimedOut
from penstock.flow.values.duration import parse_duration
from penstock.runtime.errors import Invalid
from penstock.workers.execute.task_call import Outcome, read_answer
from penstock.workers.task import Out

Duration = str | int | float | timedelta
Limit = Literal["schedule_to_start", "start_to_close", "schedule_to_close", "heartbeat"]
LIMITS = ("schedule_to_start", "start_to_close", "schedule_to_close", "heartbeat")


class Stub(Struct, frozen=True):
    """What one attempt comes to, and how much virtual time it takes."""

    outcome: Outcome | TimedOut | Callable[..., Any]
    takes: timedelta = timedelta(0)
    times: int | None = None
    """How many attempts it is good for; None: any number, or one inside a sequence."""


class Stubs(Struct, frozen=True):
    """Stubs for one attempt after the other; the last one repeats."""

    stubs: tuple[Stub, ...]

    def nth(self, number: int) -> Stub | None:
        """The stub of the `number`-th attempt, from 1; None: all are spent."""
        for place, stub in enumerate(self.stubs, 1):
            last = place == len(self.stubs)
            good_for = stub.times if stub.times is not None else None if last else 1
            if good_for is None or number <= good_for:
                return stub
            number -= good_for
        return None


def returns(
    output: Any = None,
    port: str = "done",
    tags: Mapping[str, Any] | None = None,
    set: Mapping[str, Any] | None = None,
    correlate: Mapping[str, str] | None = None,
    after: Duration = 0,
    times: int | None = None,
) -> Stub:
    """The attempt ends on `port` with `output`, `after` so much virtual time."""
    answer = read_answer(Out(output, port, tags, set, correlate))
    if isinstance(answer, Failed):
        raise Invalid(f"a stub cannot return {output!r}: {answer.error.message}")
    return Stub(answer, span(after), _count(times))


def fails(
    message: str = "a stub failed",
    times: int | None = None,
    fatal: bool = False,
    after: Duration = 0,
    retry_after: Duration | None = None,
) -> Stub:
    """The attempt fails; `fatal`: without another try; `times`: so often, then the task does its work."""
    error = Failure("fatal" if fatal else "error", message)
    wait = None if retry_after is None else span(retry_after)
    return Stub(Failed(error=error, retry=not fatal, retry_after=wait), span(after), _count(times))


def times_out(limit: Limit = "start_to_close", times: int | None = None) -> Stub:
    """The attempt never ends by itself: it outlives a time-out of its step."""
    if limit not in LIMITS:
        raise Invalid(f"there is no time-out '{limit}': use one of {', '.join(LIMITS)}")
    return Stub(TimedOut(limit), times=_count(times))


def lost(times: int | None = None) -> Stub:
    """The worker vanishes: its heartbeat stays away."""
    return Stub(TimedOut("lost"), times=_count(times))


def after(delay: Duration, stub: Any = None) -> Stub:
    """The same stub (or a plain value to return), so much virtual time later."""
    made = as_stub(stub)
    return replace(made, takes=made.takes + span(delay))


def sequence(*stubs: Any) -> Stubs:
    """One stub (or plain value) an attempt, in this order; the last one repeats."""
    if not stubs:
        raise Invalid("a sequence of stubs needs at least one")
    return Stubs(tuple(as_stub(stub) for stub in stubs))


def as_stub(value: Any) -> Stub:
    """A stub as it is; a function to be called; anything else is the output."""
    if isinstance(value, Stub):
        return value
    if isinstance(value, Stubs):
        raise Invalid("a sequence cannot stand inside another stub: put all attempts into one sequence")
    if isinstance(value, Out):
        return returns(value.output, value.port, value.tags, value.set, value.correlate)
    return Stub(value) if callable(value) else returns(value)


def as_sequence(value: Any) -> Stubs:
    """What `stubs=` holds for one step or task; a list is one stub an attempt."""
    if isinstance(value, Stubs):
        return value
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return sequence(*value)
    return Stubs((as_stub(value),))


def span(duration: Duration) -> timedelta:
    """A duration as definitions write it, or as Python has it. Raises Invalid."""
    if isinstance(duration, timedelta):
        if duration < timedelta(0):
            raise Invalid(f"{duration!r} is negative; a duration is 0 or more")
        return duration
    try:
        return parse_duration(duration)
    except ValueError as error:
        raise Invalid(f"{duration!r} {error}") from None


def _count(times: int | None) -> int | None:
    if times is not None and times < 1:
        raise Invalid(f"times={times} is no number of attempts: use 1 or more, or leave it out")
    return times
