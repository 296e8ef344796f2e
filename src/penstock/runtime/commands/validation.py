"""Validates texts, numbers, payloads and events of callers before anything happens.

Also how much a run may hold: beyond it events from outside are refused, so that it stays quick for everybody.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from penstock.flow.compile.compile import Flow
from penstock.flow.model.run import Snapshot
from penstock.flow.model.run_input import Outside
from penstock.flow.values.defaults import TooManyDefaults
from penstock.flow.values.merge_patch import merge_patch
from penstock.flow.values.payload import (
    EVENT,
    KEY,
    SUBJECT,
    NotJson,
    TooLarge,
    is_storable,
    length_problem,
    plain,
    validate_data_size,
)
from penstock.flow.values.schema_validation import violations
from penstock.kernel.net import WiredSlot
from penstock.runtime.errors import (
    BadPayload,
    Invalid,
    InvalidEvent,
    InvalidInput,
    OtherWorkflow,
    PayloadTooLarge,
    SlotFull,
    UndeclaredEvent,
    UnknownStep,
)

_MAX_LENGTHS = {"subject": SUBJECT, "event": EVENT}
"""Characters, where it is not the length of a key."""

MAX_TIMEOUT = 86_400 * 366
MAX_INTEGER = 2**63 - 1
"""The largest number that a database has."""

MAX_EVENTS_PER_SLOT = 20_000
"""Events that may wait in one slot."""


def validate_texts(**texts: Any) -> None:
    """Each is a text that a database can keep, or None. Raises Invalid."""
    for name, text in texts.items():
        if text is not None and not is_storable(text):
            _raise_invalid_text(name, text, f"`{name}` must be a text, not {_shown(text)}")


def validate_keys(**texts: Any) -> None:
    """As `validate_texts`, for keys that find a run: each is also short enough. Raises Invalid."""
    validate_texts(**texts)
    for name, text in texts.items():
        problem = None if text is None else length_problem(text, _MAX_LENGTHS.get(name, KEY))
        if problem is not None:
            raise Invalid(f"`{name}` {problem}")


def validate_text_maps(**maps: Any) -> None:
    """Each is a map from texts to texts that are short enough, or None. Raises Invalid."""
    for name, texts in maps.items():
        if texts is None:
            continue
        if not isinstance(texts, Mapping):
            raise Invalid(f"`{name}` must be a map from texts to texts, not {_shown(texts)}")
        for key, text in texts.items():
            _validate_pair(name, key, text)


def _validate_pair(name: str, key: Any, text: Any) -> None:
    if not is_storable(key):
        _raise_invalid_text(
            name, key, f"`{name}` must be a map from texts to texts: {_shown(key)} is no text"
        )
    if not is_storable(text):
        otherwise = f"`{name}` must be a map from texts to texts: that of '{key}' is {_shown(text)}"
        _raise_invalid_text(name, text, otherwise)
    for what, length in ((f"a name in `{name}`", key), (f"`{name}`: that of '{key}'", text)):
        if (problem := length_problem(length)) is not None:
            raise Invalid(f"{what} {problem}")


def validate_integers(minimum: float = 0, maximum: float = MAX_INTEGER, **numbers: Any) -> None:
    """Each is a whole number from `minimum` to `maximum`, or None. Raises Invalid."""
    for name, number in numbers.items():
        if number is None:
            continue
        if not isinstance(number, int) or isinstance(number, bool):
            raise Invalid(f"`{name}` must be a whole number, not {_shown(number)}")
        if not minimum <= number <= maximum:
            raise Invalid(
                f"`{name}` must be a whole number from {minimum} to {maximum}, not {_shown(number)}"
            )


def validate_timeout(seconds: Any) -> None:
    """A time limit of a call. Raises Invalid."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds < MAX_TIMEOUT:
        raise Invalid(f"`timeout` must be seconds of more than 0, such as 30, not {_shown(seconds)}")


def _raise_invalid_text(name: str, text: Any, otherwise: str) -> None:
    """Say what is wrong with a text that cannot be kept."""
    if not isinstance(text, str):
        raise Invalid(otherwise)
    raise Invalid(f"`{name}` has a character that cannot be kept (NUL, or half of a pair): leave it out")


def _shown(value: Any) -> str:
    text = ascii(value)
    return f"{text if len(text) <= 40 else text[:37] + '...'} ({type(value).__name__})"


def validate_step(flow: Flow, step: str | None) -> None:
    """The workflow has the step, where one is named. Raises Invalid."""
    if step is not None and step not in flow.steps:
        raise Invalid(f"'{flow.name}' has no step '{step}': its steps are {', '.join(flow.steps)}")


def not_disabled(flow: Flow, step: str, port: str | None) -> UnknownStep | Invalid:
    """Why a step cannot be disabled to a port, in a run that has not ended."""
    known = flow.steps.get(step)
    if known is None:
        return UnknownStep(flow.name, step, flow.steps)
    ports = ", ".join(known.ports) or "none"
    return Invalid(f"step '{step}' cannot be disabled to port '{port}': its ports are {ports}")


def plain_payload(value: Any, what: str) -> Any:
    """A copy of a caller's value in plain JSON. Raises BadPayload."""
    try:
        return plain(value)
    except TooLarge as error:
        raise PayloadTooLarge(f"{what} {error}") from None
    except NotJson as error:
        raise BadPayload(f"{what} is not JSON: {error}") from None


def checked_input(flow: Flow, input: Any) -> Any:
    """An input in plain JSON with the defaults of `params`. Raises InvalidInput, PayloadTooLarge."""
    if flow.definition.params is None:
        return input
    try:
        filled = flow.filled(input)
    except TooManyDefaults as error:
        raise InvalidInput(flow.name, [f"`params` cannot be used: {error}"]) from None
    if problems := flow.input_problems(filled):
        raise InvalidInput(flow.name, problems)
    return input if filled is input else plain_payload(filled, "the input with the defaults of `params`")


def plain_event(event: Outside) -> Outside:
    """An outside event with its data in plain JSON. Raises BadPayload."""
    what = f"the data of event '{event.event}'"
    return replace(event, data=plain_payload(event.data, what), set=plain_payload(event.set, what))


def checked_event(flow: Flow, event: Outside) -> Outside:
    """The event with its data in plain JSON. Raises OtherWorkflow, UndeclaredEvent, InvalidEvent, BadPayload."""
    if event.workflow not in (None, flow.name):
        raise OtherWorkflow(event.event, event.workflow or "", flow.name)
    if event.event not in flow.outside:
        raise UndeclaredEvent(flow.name, event.event, flow.outside)
    event = plain_event(event)
    declared = next(each for each in flow.definition.external or () if each.name == event.event)
    problems = violations(declared.schema, event.data)
    if problems:
        raise InvalidEvent(event.event, problems)
    return event


def validate_room(flow: Flow, snapshot: Snapshot, event: Outside) -> None:
    """The run can take the event. Raises PayloadTooLarge, SlotFull.

    By the state that is known: events that come at the same time may be a few too many.
    """
    if event.set:
        try:
            validate_data_size(merge_patch(snapshot.data, event.set))
        except TooLarge as error:
            raise PayloadTooLarge(f"with `set` of '{event.event}' the run's data {error}") from None
    if sum(snapshot.came.values()) < MAX_EVENTS_PER_SLOT:
        return  # most runs: no slot is checked
    for slot in flow.wiring.takers.get(event.event, ()):
        if _waiting(snapshot, slot) >= MAX_EVENTS_PER_SLOT:
            raise SlotFull(snapshot.run.id, event.event, flow.by_index[slot.step].name, MAX_EVENTS_PER_SLOT)


def _waiting(snapshot: Snapshot, slot: WiredSlot) -> int:
    tokens = snapshot.marking.tokens
    if not slot.keyed:
        return len(tokens.get(slot.index, ()))
    return sum(
        len(queue) for place, queue in tokens.items() if not isinstance(place, int) and place[0] == slot.index
    )
