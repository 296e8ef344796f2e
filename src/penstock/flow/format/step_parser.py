"""Steps out of nodes: `after`, `emits`, `fails`, and the keys that steps and `defaults` share."""

from __future__ import annotations

from collections import Counter
from typing import Any

from penstock.flow.format import fields
from penstock.flow.format.fields import Level, Read, Spot, read_level
from penstock.flow.model.definition import Backoff, Policy, Slot, Step, Timeouts
from penstock.flow.model.names import Hints
from penstock.kernel.net import CANCEL, FAIL, OK, START, TIMEOUT

event_in_emits = fields.name("an event", reserved=(OK, FAIL, CANCEL, START, TIMEOUT))
event_in_after = fields.name("an event", reserved=None)


def _timeout_retries(spot: Spot) -> tuple[float, ...] | None:
    if not isinstance(spot.value, list):
        return spot.must("a list of numbers such as [1, 2, 4]")
    found: tuple[float, ...] | None = fields.listed(fields.number(0, above=True))(spot)
    return found


def _disabled(spot: Spot) -> bool | str | None:
    if isinstance(spot.value, bool):
        return spot.value
    if not isinstance(spot.value, str):
        return spot.must("true, false or the name of a port")
    found: str | None = fields.name("a port")(spot)
    return found


def _emitted(spot: Spot) -> tuple[str, ...] | None:
    """The events of one port, each as it is listed."""
    found = [_one_emitted(item) for item in spot.items()]
    return None if None in found else tuple(each for each in found if each is not None)


def _one_emitted(spot: Spot) -> str | None:
    if spot.value is None or isinstance(spot.value, list | dict):
        return spot.must("an event or a list of events")
    if isinstance(spot.value, str) and "|" in spot.value:
        message = f"`{spot.label}`: `|` is for `after` only; list the events: [a, b]."
        return spot.wrong("bad_name", message)
    found: str | None = event_in_emits(spot)
    if found in (START, TIMEOUT):
        message = f"A step cannot list `{found}`; only OK, FAIL and CANCEL of the reserved events."
        return spot.wrong("reserved_name", message)
    return found


def _emits(spot: Spot) -> dict[str, tuple[str, ...]] | None:
    if not isinstance(spot.value, dict):
        events = _emitted(spot)
        return None if events is None else {"done": events}
    found: dict[str, tuple[str, ...]] = {}
    for port in spot.value:
        child = spot.child(port)
        fields.name("a port")(child.part(port, child.key_place))
        events = _emitted(child)
        if events is not None:
            found[port] = events
    return found


def _after(spot: Spot) -> tuple[Slot, ...] | None:
    if spot.value is None:
        return ()
    found = [_slot(item) for item in spot.items()]
    return None if None in found else tuple(slot for slot in found if slot is not None)


def _slot(spot: Spot) -> Slot | None:
    if isinstance(spot.value, dict):
        return _counted_slot(spot)
    if spot.value is None or isinstance(spot.value, list):
        return spot.must("an event, `a | b`, or {need: n, of: [...]}")
    if not isinstance(spot.value, str) or "|" not in spot.value:
        event = event_in_after(spot)
        return None if event is None else Slot((event,))
    events = _distinct(spot, [spot.part(part.strip(), spot.node.place) for part in spot.value.split("|")])
    return None if events is None else Slot(events)


def _counted_slot(spot: Spot) -> Slot | None:
    found = read_level(spot, SLOT)
    events, need = found.get("of"), found.get("need")
    if events is None or need is None:
        return None
    if need > len(events):
        only = "one event" if len(events) == 1 else f"only {len(events)} events"
        message = f"`need: {need}` can never be met: `of` lists {only}."
        return spot.child("need").wrong("wrong_value", message)
    return Slot(events, need, "rest" in found)


def _of(spot: Spot) -> tuple[str, ...] | None:
    if not isinstance(spot.value, list):
        return spot.must("a list of events")
    if not spot.value:
        return spot.wrong("wrong_value", f"`{spot.label}` is empty; list the events to choose from.")
    return _distinct(spot, spot.items())


def _distinct(spot: Spot, parts: list[Spot]) -> tuple[str, ...] | None:
    """The events of one slot; one that is listed twice is a problem."""
    events = [event_in_after(part) for part in parts]
    if None in events:
        return None
    if len(set(events)) < len(events):
        twice = Counter(events).most_common(1)[0][0]
        return spot.wrong("duplicate", f"The event `{twice}` is listed twice in one slot; list it once.")
    return tuple(events)


BACKOFF = Level(
    "`backoff`",
    {
        "initial": fields.duration,
        "factor": fields.number(1, 1000),
        "max": fields.duration,
        "jitter": fields.number(0, 1),
    },
)
TIMEOUTS = Level(
    "`timeouts`",
    dict.fromkeys(
        ("schedule_to_start", "start_to_close", "schedule_to_close", "heartbeat"), fields.long_duration
    ),
)
SLOT = Level(
    "a slot of `after`", {"need": fields.whole(1), "of": _of, "rest": fields.choice("keep")}, ("need", "of")
)

POLICY: dict[str, Read] = {
    "parallel": fields.whole(1),
    "task_list": fields.identifier("a task list"),
    "priority": fields.whole(),
    "retries": fields.whole(0),
    "backoff": lambda spot: Backoff(**read_level(spot, BACKOFF)),
    "timeout_retries": _timeout_retries,
    "timeouts": lambda spot: Timeouts(**read_level(spot, TIMEOUTS)),
    "warn_after": fields.long_duration,
}
DEFAULTS = Level("`defaults`", POLICY)
STEP = Level(
    "a step",
    {
        "task": fields.filled,
        "title": fields.text,
        "after": _after,
        "emits": _emits,
        "fails": _emitted,
        "with": fields.json_map,
        "each": fields.expression,
        "each_failure": fields.choice("fail", "collect"),
        **POLICY,
        "serialize": fields.expression,
        "serialize_limit": fields.whole(1),
        "serialize_scope": fields.name("a scope"),
        "cancels": fields.listed(fields.name("a step")),
        "match": fields.expression,
        "disabled": _disabled,
    },
    ("task",),
)


def read_policy(spot: Spot) -> Policy:
    """The workflow's `defaults`."""
    return Policy(**read_level(spot, DEFAULTS))


def read_step(spot: Spot) -> Step | None:
    """One step; None where too little of it could be read."""
    if not isinstance(spot.value, dict):
        return spot.must("a map such as {task: mail}")
    found = read_level(spot, STEP)
    policy = Policy(**{key: found.pop(key) for key in POLICY if key in found})
    fails = found.pop("fails", None)
    if fails is not None:
        found["emits"] = _with_failures(spot, found.get("emits"), fails)
    if "with" in found:
        found["params"] = found.pop("with")
    found.setdefault("task", "")
    return Step(policy=policy, **found)


def _with_failures(spot: Spot, emits: Any, fails: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """`emits` with `fails` as its port `failed`."""
    if emits is None:
        return {"failed": fails}
    if "failed" in emits:
        child = spot.child("fails")
        message = "`fails` is short for the port `failed` of `emits`; name the events in one of them only."
        child.wrong("duplicate", message, child.key_place)
    return {**emits, "failed": fails}


def check_cancels(spot: Spot, steps: dict[str, Step]) -> None:
    """Every step that is named by `cancels` must be there."""
    hints = Hints()
    for step_name, step in steps.items():
        for index, target in enumerate(step.cancels or ()):
            if target not in steps:
                at = spot.child(step_name).child("cancels").items()[index]
                near = hints.nearest(target, steps)
                hint = f"did you mean `{near}`?" if near else "there is no step of that name."
                at.wrong("unknown_step", f"`cancels` names the unknown step `{target}`; {hint}")
