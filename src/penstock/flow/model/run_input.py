"""What can happen to a run: the events that `advance` decides about."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from msgspec import Struct

from penstock.flow.model.run import Failure, Pauser


class Begun(Struct, frozen=True, tag=True):
    """The run was made: START is fired. `tags` are those of the object it is about."""

    tags: dict[str, Any] = {}


class Outside(Struct, frozen=True, tag=True, kw_only=True):
    """An event from outside, already found to be declared and valid."""

    event: str
    data: Any = None
    set: dict[str, Any] | None = None
    id: str | None = None
    once: bool = False  # whoever brings it has seen to it that the id is no repeat
    workflow: str | None = None  # only a run of this workflow takes it


class Done(Struct, frozen=True, tag=True, gc=False, kw_only=True):
    """A task ended on one of its ports."""

    port: str = "done"
    output: Any = None
    tags: dict[str, Any] | None = None  # a None value removes the tag
    replace_tags: bool = False
    set: dict[str, Any] | None = None
    correlate: dict[str, str] | None = None


class Failed(Struct, frozen=True, tag=True, kw_only=True):
    """A task failed; `retry` False: do not try again."""

    error: Failure
    retry: bool = True
    retry_after: timedelta | None = None


class TimedOut(Struct, frozen=True, tag=True):
    """An attempt outlived a time-out, or its worker vanished (`lost`)."""

    limit: str  # schedule_to_start | start_to_close | schedule_to_close | heartbeat | lost
    message: str | None = None  # what is known of it, for people


class Parked(Struct, frozen=True, tag=True, kw_only=True):
    """A task has handed its work to somebody outside, who will report its end: no worker has it any more."""

    waits: str = "callback"  # what for, in a word


Outcome = Done | Failed | TimedOut | Parked


class Reported(Struct, frozen=True, tag=True, gc=False):
    """How an attempt ended. A report of an attempt that is not the current one changes nothing."""

    firing: int
    index: int | None
    attempt: int
    outcome: Outcome
    outside: bool = False  # by whoever the work was handed to: no lease is ended by it


class Reminded(Struct, frozen=True, tag=True):
    """A person who has not decided is reminded; whoever keeps time may tell them."""

    firing: int
    index: int | None
    attempt: int


class Granted(Struct, frozen=True, tag=True):
    """An element holds its `serialize` key now."""

    firing: int
    index: int | None


class Rang(Struct, frozen=True, tag=True):
    """A timer of an element is due: its backoff or its sleep is over."""

    firing: int
    index: int | None
    attempt: int


class RunTimedOut(Struct, frozen=True, tag=True):
    """The run outlived its `timeout`."""

    epoch: int = 0


class CleanupTimedOut(Struct, frozen=True, tag=True):
    """The clean-up outlived `cleanup_timeout`."""

    epoch: int = 0


class Canceled(Struct, frozen=True, tag=True):
    """A person or the API cancels the run; `force` skips the clean-up."""

    force: bool = False
    reason: str | None = None


class Paused(Struct, frozen=True, tag=True):
    """Nothing new is dispatched until the run is resumed; each pause, of the run or wider, is lifted by itself."""

    by: Pauser = "run"


class Resumed(Struct, frozen=True, tag=True):
    """What waited for the pause goes on, in order, unless another pause holds it."""

    by: Pauser = "run"


class Retried(Struct, frozen=True, tag=True):
    """R13: put back what failed firings consumed, or those of one step.

    `paused` are the pauses wider than the run that are there now, for they came and went while the run was over.
    """

    step: str | None = None
    paused: tuple[Pauser, ...] | None = None  # None: those that the run had


class Disabled(Struct, frozen=True, tag=True):
    """R9 for one run: `port` None makes the step work again."""

    step: str
    port: str | None = "done"


class Put(Struct, frozen=True, kw_only=True):
    """Put an event into one slot of one step."""

    step: str
    event: str
    slot: int = 0
    data: Any = None


class Take(Struct, frozen=True, kw_only=True):
    """Take an event out of a slot, by its number in the history."""

    step: str
    number: int
    slot: int = 0


class Repaired(Struct, frozen=True, tag=True, kw_only=True):
    """A person changes the marking, as a whole or not at all; only where the run is at entry `expect`, if given."""

    put: tuple[Put, ...] = ()
    take: tuple[Take, ...] = ()
    expect: int | None = None
    reason: str | None = None


class Skipped(Struct, frozen=True, tag=True, kw_only=True):
    """A person lets a step end on a port, with an output, without its task. `paused`: see `Retried`."""

    step: str
    port: str = "done"
    output: Any = None
    reason: str | None = None
    paused: tuple[Pauser, ...] | None = None


class BegunFrom(Struct, frozen=True, tag=True, kw_only=True):
    """The run was made to begin where another one was before `step` began: see `fork`."""

    step: str
    data: Any = None
    puts: tuple[Put, ...] = ()
    outputs: dict[str, Any] = {}
    came: tuple[str, ...] = ()
    tags: dict[str, Any] = {}


class GivenUp(Struct, frozen=True, tag=True):
    """A person lets the run fail, or the engine one that it cannot decide about; `force`: without a clean-up."""

    reason: str | None = None
    force: bool = False


class Continued(Struct, frozen=True, tag=True):
    """A decision stopped after many firings without a task: go on."""


RunInput = (
    Begun
    | Outside
    | Reported
    | Reminded
    | Granted
    | Rang
    | RunTimedOut
    | CleanupTimedOut
    | Canceled
    | Paused
    | Resumed
    | Retried
    | Disabled
    | Repaired
    | Skipped
    | GivenUp
    | BegunFrom
    | Continued
)
