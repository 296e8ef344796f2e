"""The straight way: a run begins, or an attempt ends well, and nothing but plain steps follows.

Most decisions are so. What an end leads to is worked out once for each port of a step (a `Route`), and a decision only
follows it. The contract: `straight` gives the very plan that `advance` gives, or None; then `advance` decides. None is
always right, so whatever is rare is left to the rules there, and none of them is said twice but for the plainest.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from msgspec import Struct

from penstock.flow.compile.compile import Flow, FlowStep, Way
from penstock.flow.model.plan import Answer, Attempt, Entry, Plan
from penstock.flow.model.run import NEVER_FIRED, Element, Firing, Origin, Snapshot, StepState
from penstock.flow.model.run_input import Begun, Done, Reported, RunInput
from penstock.flow.model.tags import TagChange, Tags, mark_of
from penstock.flow.model.tags import change as changed
from penstock.flow.values.merge_patch import merge_patch
from penstock.flow.values.payload import TooLarge, refuse_large_data
from penstock.kernel.marking import Taken, Token
from penstock.kernel.net import OK, START
from penstock.kernel.wiring import WiredSlot

ACCEPTED: Answer = "accepted"


class Route(Struct, frozen=True):
    """What is fired one after the other, and the steps that begin with each of it."""

    fires: tuple[tuple[str, tuple[FlowStep, ...]], ...]
    ok: bool = False  # the goal is reached
    tells_ok: bool = False  # and OK is not among what is fired
    rests: bool = False  # a run in which nothing moves after it has come to its end


class _Line:
    """The part of a run that moves in one such decision."""

    __slots__ = ("attempts", "data", "elements", "firings", "history", "seq", "steps", "tags")

    def __init__(self, was: Snapshot) -> None:
        self.seq, self.firings, self.elements, self.steps = was.seq, was.firings, was.elements, was.steps
        self.data, self.tags = was.data, was.tags
        self.history: list[Entry] = []
        self.attempts: list[Attempt] = []


def straight(flow: Flow, was: Snapshot, event: RunInput, now: datetime) -> Plan | None:
    """What `advance` makes of one event, where it is this plain; else None."""
    if (
        was.status != "running" or was.ending is not None or was.paused or was.put_off or was.disabled
        or was.agenda or was.marking.tokens
    ):  # fmt: skip
        return None
    if type(event) is Reported:
        return _end(flow, was, event, now)
    return _begin(flow, was, event, now) if type(event) is Begun else None


def _begin(flow: Flow, was: Snapshot, begun: Begun, now: datetime) -> Plan | None:
    """START is fired and carries the input."""
    route = flow.routes[START] if START in flow.routes else _start_of(flow)
    if route is None or begun.tags or was.started_at is not None:
        return None
    line = _Line(was)
    if not _follow(line, was, route, Origin(was.run.input, was.tags, now), now):
        return None
    return _moved(line, was, now, was.ok)


def _end(flow: Flow, was: Snapshot, reported: Reported, now: datetime) -> Plan | None:
    """An attempt ends on a port; it may have set data and tags, but has asked for no more."""
    key = reported.firing, None
    done, element = reported.outcome, was.elements.get(key)
    if (
        element is None or type(done) is not Done or reported.index is not None or reported.outside
        or element.attempt != reported.attempt or element.state != "running" or element.key is not None
        or done.replace_tags or done.correlate
    ):  # fmt: skip
        return None
    name, port, output = element.step, done.port, done.output
    way = name, port
    route = flow.routes[way] if way in flow.routes else _route_of(flow, way)
    state, firing = was.steps[name], was.firings[reported.firing]
    if route is None or state.latest != firing.number or len(state.live) != 1:
        return None
    line = _Line(was)
    number = firing.number
    line.firings, line.elements = line.firings.delete(number), line.elements.delete(key)
    attempt = element.attempt
    line.steps = line.steps.set(
        name,
        StepState(
            "complete", state.firings, (), number, attempt, output, None, port, None, state.elements, True
        ),
    )
    if done.set is not None and not _set(line, done.set, element, now):
        return None
    tags, change = firing.tags, None
    if done.tags is not None:
        change = TagChange.of(done.tags, False)
        tags = _tag(line, firing, change)
    line.seq += 1
    line.history.append(
        Entry(line.seq, now, "ended", name, None, port, attempt, output, number, mark_of(change), change)
    )
    if not _follow(line, was, route, Origin(output, tags, now, name, firing=number), now):
        return None
    ok = was.ok or route.ok
    if line.firings:
        return _moved(line, was, now, ok)
    return _succeeded(line, was, now, ok) if flow.result is None and (ok or route.rests) else None


def _set(line: _Line, patch: dict[str, Any], element: Element, now: datetime) -> bool:
    """The run's data is changed; False: there would be too much of it."""
    data = merge_patch(line.data, patch)
    try:
        refuse_large_data(data)
    except TooLarge:
        return False
    line.data = data
    line.seq += 1
    line.history.append(Entry(line.seq, now, "set", element.step, None, None, None, patch, element.firing))
    return True


def _tag(line: _Line, firing: Firing, change: TagChange) -> Tags:
    """The tags of the run are changed, and those of the firing, which are given."""
    tags = changed(firing.tags, change, firing.number)
    line.tags = tags if line.tags is firing.tags else changed(line.tags, change, firing.number)
    return tags


def _follow(line: _Line, was: Snapshot, route: Route, origin: Origin, now: datetime) -> bool:
    """Events are fired and the steps that wait for them begin; False: one of them has no room."""
    taken: list[tuple[FlowStep, Token]] = []
    history, by, firing = line.history, origin.step, origin.firing
    for event, steps in route.fires:
        line.seq += 1
        history.append(Entry(line.seq, now, "event", by, event, None, None, origin.data, firing))
        token = Token(line.seq, event, origin)
        taken += [(step, token) for step in steps]
    if route.tells_ok:
        line.seq += 1
        history.append(Entry(line.seq, now, "event", by, OK, None, None, origin.data, firing))
    begun = [_fire(line, was, step, token, now) for step, token in taken]
    return all(begun)


def _fire(line: _Line, was: Snapshot, step: FlowStep, token: Token, now: datetime) -> bool:
    """A step begins with one event: its first attempt is handed over."""
    name, tags, fixed = step.name, token.load.tags, step.fixed
    before = line.steps.get(name, NEVER_FIRED)
    if fixed is None or len(before.live) >= (step.parallel or 1):
        return False
    line.seq = number = line.seq + 1
    line.history.append(Entry(number, now, "fired", name, None, None, None, {"consumed": [token.number]}))
    taken = Taken(((token,),))
    line.firings = line.firings.set(number, Firing(number, name, taken, now, tags))
    line.steps = line.steps.set(
        name,
        StepState(
            "running",
            before.firings + 1,
            (*before.live, number),
            number,
            0,
            before.output,
            spoke=before.spoke,
        ),
    )
    line.elements = line.elements.set((number, None), Element(number, None, name, "running", fixed.params, 1))
    line.attempts.append(
        Attempt(
            was.run, number, None, name, step.task, 1, fixed.params, line.data, tags, taken, step.timeouts,
            step.task_list, step.priority, step.ports, step.secrets,
        )
    )  # fmt: skip
    return True


def _moved(line: _Line, was: Snapshot, now: datetime, ok: bool) -> Plan:
    return _plan(line, was, Snapshot(
        was.run, line.seq, "running", None, (), was.started_at or now, was.ended_at, line.data, line.tags,
        was.result, was.error, ok, was.put_off, was.marking, line.firings, line.elements, was.results, line.steps,
        was.failed, was.halted, was.kept, was.came, was.seen, was.keys, was.disabled, was.aside, was.epoch, (),
        was.revision + 1,
    ))  # fmt: skip


def _succeeded(line: _Line, was: Snapshot, now: datetime, ok: bool) -> Plan:
    """Nothing is left to do: the run has come to its end, and its data is its result."""
    line.seq += 1
    line.history.append(Entry(line.seq, now, "run_ended", data={"status": "succeeded"}))
    return _plan(line, was, Snapshot(
        was.run, line.seq, "succeeded", None, (), was.started_at, now, line.data, line.tags, line.data, was.error, ok,
        was.put_off, was.marking, line.firings, line.elements, was.results, line.steps, was.failed, was.halted,
        was.kept, was.came, was.seen, was.keys, was.disabled, was.aside, was.epoch, (), was.revision + 1,
    ))  # fmt: skip


def _plan(line: _Line, was: Snapshot, snapshot: Snapshot) -> Plan:
    return Plan(
        was.revision, snapshot, line.history, [ACCEPTED], line.attempts, (), (), (), (), (), (), False, []
    )


# -- routes: worked out once -----------------------------------------------------------------------------------


def _start_of(flow: Flow) -> Route | None:
    fires = None if flow.timeout is not None else _fires(flow, (START,))
    flow.routes[START] = route = None if fires is None or not fires[0][1] else Route(fires)
    return route


def _route_of(flow: Flow, place: tuple[str, str]) -> Route | None:
    """What the end of a step on a port leads to; None where a rule has more to say about it."""
    name, port = place
    step = flow.steps[name]
    way = step.ways.get(port)
    plain = way is not None and step.each is None and step.output is None and _is_plain(way)
    fires = _fires(flow, way.names) if way is not None and plain else None
    route = None
    if way is not None and fires is not None:
        rests = not flow.outside and not flow.net.names_ok
        route = Route(fires, way.ok, way.ok and OK not in way.names, rests)
    flow.routes[place] = route
    return route


def _is_plain(way: Way) -> bool:
    return way.port != "failed" and way.ending is None and not way.failure and not way.put_off


def _fires(flow: Flow, names: tuple[str, ...]) -> tuple[tuple[str, tuple[FlowStep, ...]], ...] | None:
    """The events with the steps that wait for them; None where one of those is not plain, or waits for two."""
    if flow.parks or flow.wiring.keyed:
        return None
    slots: list[WiredSlot] = [slot for name in names for slot in flow.wiring.takers.get(name, ())]
    if len({slot.step for slot in slots}) < len(slots) or not all(
        _takes_plainly(flow, slot) for slot in slots
    ):
        return None
    return tuple(
        (name, tuple(flow.by_index[slot.step] for slot in flow.wiring.takers.get(name, ()))) for name in names
    )


def _takes_plainly(flow: Flow, slot: WiredSlot) -> bool:
    step = flow.by_index[slot.step]
    return (
        slot.plain
        and step.fixed is not None
        and step.each is None
        and step.disabled is None
        and step.under_way == "running"
        and not step.wired.cancels
    )
