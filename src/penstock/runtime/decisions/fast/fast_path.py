"""The fast path: one plain input of a run that leads only to plain steps, as most inputs do.

Contract: it gives the very plan and the very change that `advance` and `plan_to_change` give, or None before it has
done anything. None is always right, so everything rare is left to the rules there.

Two things make it fast. What an end leads to is worked out once for each port of a step (a `Route`); `plain_plan`
only follows it. And what one batch decides about a run holds for every run that is equal: the head of a run is all
of it but its header and data that is still its input, so runs of one version with equal heads go the same way when
the same happens to them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from penstock.flow.compile.compile import Flow, FlowStep, Way
from penstock.flow.compile.promise import Promise
from penstock.flow.decisions.creation import new_attempt
from penstock.flow.model.plan import Answer, Attempt, Entry, Plan
from penstock.flow.model.run import NEVER_FIRED, Element, Firing, Origin, Snapshot, StepState
from penstock.flow.model.run_input import Begun, Done, Reported, Retried, RunInput, Skipped
from penstock.flow.model.tags import TagChange, Tags
from penstock.flow.model.tags import change as changed
from penstock.flow.values.merge_patch import merge_patch
from penstock.flow.values.payload import TooLarge, validate_data_size
from penstock.kernel.marking import Taken, Token
from penstock.kernel.net import OK, START, WiredSlot
from penstock.runtime.decisions.decision import Decision, Request
from penstock.runtime.node.run_cache import CachedRun
from penstock.store.rows.change import Change, EndedTask, NewRun, NewTask

ACCEPTED: Answer = "accepted"

FastKey = tuple[()] | tuple[int] | tuple[int, int, int, str]
"""Where a run is and what happens there. It names objects by their ids: those of one batch live as long as it."""


# -- equal runs of one batch -----------------------------------------------------------------------------------


class FastPath(Struct):
    """The fast path of one batch, with what the batch knows of its runs.

    `tasks` are rows of first attempts by flow, step, firing and worker: runs with as much behind them share them.
    """

    tasks: dict[tuple[int, str, int, str | None], NewTask] = {}
    _firsts: dict[FastKey, Decision] = {}
    _states: dict[tuple[int, bytes], bytes] = {}

    def decide(self, live: CachedRun, requests: Sequence[Request], now: datetime) -> Decision | None:
        """The decision about a run to which one thing happened; None: the rules decide."""
        request, was = requests[0], live.snapshot
        lease_only = request.lease is not None or comes_alone(request)
        place = _place_of(live, request, lease_only)
        first = self._firsts.get(place) if place else None
        if first is not None:
            plan = _repeated(first.plan, was)
            return Decision(
                live, requests, plan.answers, plan, now, lease_only=lease_only, bare=True, first=first
            )
        found = plain_plan(live.flow, was, request.input, now)
        if found is None:
            return None
        decision = Decision(
            live, requests, found.answers, found, now, lease_only=lease_only, bare=place is not None
        )
        if place:
            self._firsts[place] = decision
        return decision

    def repeat(self, decision: Decision, new: NewRun | None, tasks: tuple[NewTask, ...]) -> Change | None:
        """The change of a run that goes where another went; None: there is none like it yet."""
        first = decision.first
        if first is None or first.state is None or first.change is None:
            return None
        like = first.change
        request, snapshot = decision.requests[0], decision.plan.snapshot
        lease, ended = request.lease, like.ended
        if lease is not None and ended[0].fence != lease.fence:
            ended = (EndedTask(lease.firing, lease.index, lease.attempt, lease.fence),)
        decision.state = first.state
        return replace(like, run=snapshot.run.id, new=new, tasks=tasks, ended=ended)

    def remember(self, decision: Decision, change: Change) -> None:
        """Cache the resulting state: runs that reach the same state share one object."""
        live = decision.live
        if not change.has_extras and live.encode.plain:
            decision.state = self._states.setdefault((id(live.flow), change.head), change.head)


def _place_of(live: CachedRun, request: Request, lease_only: bool) -> FastKey | None:
    """The memo key of this decision, () if only this run can have it, None if the decision is unique.

    A decision is unique if its input has data of its own, or if its change concerns another run.
    """
    run_input, was = request.input, live.snapshot
    run = was.run
    if run.parent is not None:
        return None
    if type(run_input) is Begun:
        own = run.input is not None or run.labels or was.tags or was.paused or run_input.tags
        is_bare = request.new is not None and request.start_key is None and lease_only and not own
        return (id(live.flow),) if is_bare else None
    if type(run_input) is not Reported or request.lease is None or run_input.outside:
        return None
    done = run_input.outcome
    if type(done) is not Done or done.output is not None or done.set is not None or done.tags is not None:
        return None
    if done.correlate is not None or done.replace_tags:
        return None
    return () if live.state is None else (id(live.state), run_input.firing, run_input.attempt, done.port)


def comes_alone(request: Request) -> bool:
    """Whether its decision uses up nothing except a lease, and concerns only its caller."""
    return (
        request.rung is None
        and request.read is None
        and request.seen is None
        and request.audit is None
        and not request.posts
        and not isinstance(request.input, Retried | Skipped)
    )


def _repeated(first: Plan, was: Snapshot) -> Plan:
    """The plan of the first, in the name of another run."""
    to, run, data = first.snapshot, was.run, was.data
    result = data if to.result is to.data else to.result
    snapshot = replace(to, run=run, data=data, result=result, seen=was.seen)
    attempts = [replace(attempt, run=run, data=data) for attempt in first.attempts]
    return replace(first, snapshot=snapshot, attempts=attempts)


# -- one plain thing that happens ------------------------------------------------------------------------------


class Route(Struct, frozen=True):
    """What is fired one after the other, and the steps that begin with each of it."""

    fires: tuple[tuple[str, tuple[FlowStep, ...]], ...]
    ok: bool = False  # the goal is reached
    tells_ok: bool = False  # and OK is not among what is fired
    rests: bool = False  # a run in which nothing moves after it has come to its end
    fits: Callable[[Any], bool] | None = None  # whether the task may give this output; None: any


class _Line:
    """The part of a run that moves in one such decision."""

    __slots__ = ("attempts", "data", "elements", "firings", "history", "seq", "steps", "tags")

    def __init__(self, was: Snapshot) -> None:
        self.seq, self.firings, self.elements, self.steps = was.seq, was.firings, was.elements, was.steps
        self.data, self.tags = was.data, was.tags
        self.history: list[Entry] = []
        self.attempts: list[Attempt] = []


def plain_plan(flow: Flow, was: Snapshot, event: RunInput, now: datetime) -> Plan | None:
    """What `advance` makes of one event, where it is this plain; else None."""
    if was.status != "running" or was.ending is not None or was.agenda or was.marking.tokens:
        return None
    if was.paused or was.put_off or was.disabled:
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
    return _planned(line, was, now, was.ok, over=False)


def _end(flow: Flow, was: Snapshot, reported: Reported, now: datetime) -> Plan | None:
    """An attempt ends on a port; it may have set data and tags, but has asked for no more."""
    key = reported.firing, None
    done, element = reported.outcome, was.elements.get(key)
    if element is None or element.attempt != reported.attempt or reported.index is not None:
        return None
    if element.state != "running" or element.key is not None or reported.outside:
        return None
    if type(done) is not Done or done.replace_tags or done.correlate:
        return None
    place = element.step, done.port
    route = flow.routes[place] if place in flow.routes else _route_of(flow, place)
    state, firing = was.steps[element.step], was.firings[reported.firing]
    if route is None or state.latest != firing.number or len(state.live) != 1:
        return None
    if route.fits is not None and not route.fits(done.output):
        return None
    line = _Line(was)
    if done.set is not None and not _set(line, done.set, element, now):
        return None
    tags = _close(line, state, firing, element, done, now)
    if not _follow(line, was, route, Origin(done.output, tags, now, element.step, firing=firing.number), now):
        return None
    ok = was.ok or route.ok
    if line.firings:
        return _planned(line, was, now, ok, over=False)
    return _planned(line, was, now, ok, over=True) if flow.result is None and (ok or route.rests) else None


def _set(line: _Line, patch: dict[str, Any], element: Element, now: datetime) -> bool:
    """The run's data is changed; False: there would be too much of it."""
    data = merge_patch(line.data, patch)
    try:
        validate_data_size(data)
    except TooLarge:
        return False
    line.data = data
    line.seq += 1
    line.history.append(Entry(line.seq, now, "set", element.step, data=patch, firing=element.firing))
    return True


def _close(
    line: _Line, state: StepState, firing: Firing, element: Element, done: Done, now: datetime
) -> Tags:
    """A firing ends with its element; its tags, as they are now."""
    number, tags, change = firing.number, firing.tags, None
    if done.tags is not None:
        change = TagChange.of(done.tags, False)
        tags = changed(firing.tags, change, number)
        line.tags = tags if line.tags is firing.tags else changed(line.tags, change, number)
    line.firings, line.elements = line.firings.delete(number), line.elements.delete((number, None))
    ended = StepState(
        status="complete",
        firings=state.firings,
        latest=number,
        attempts=element.attempt,
        output=done.output,
        port=done.port,
        elements=state.elements,
        spoke=True,
    )
    line.steps = line.steps.set(element.step, ended)
    line.seq += 1
    line.history.append(
        Entry(
            line.seq,
            now,
            "ended",
            element.step,
            port=done.port,
            attempt=element.attempt,
            data=done.output,
            firing=number,
            id=None if change is None else change.mark(),
            tags=change,
        )
    )
    return tags


def _follow(line: _Line, was: Snapshot, route: Route, origin: Origin, now: datetime) -> bool:
    """Events are fired and the steps that wait for them begin; False: one of them has no room."""
    taken: list[tuple[FlowStep, Token]] = []
    history, by, data, firing = line.history, origin.step, origin.data, origin.firing
    for event, steps in route.fires:
        line.seq += 1
        history.append(Entry(line.seq, now, "event", by, event, data=data, firing=firing))
        token = Token(line.seq, event, origin)
        taken += [(step, token) for step in steps]
    if route.tells_ok:
        line.seq += 1
        history.append(Entry(line.seq, now, "event", by, OK, data=data, firing=firing))
    begun = [_fire(line, was, step, token, now) for step, token in taken]
    return all(begun)


def _fire(line: _Line, was: Snapshot, step: FlowStep, token: Token, now: datetime) -> bool:
    """A step begins with one event: its first attempt is handed over."""
    name, tags, fixed = step.name, token.load.tags, step.fixed
    before = line.steps.get(name, NEVER_FIRED)
    if fixed is None or len(before.live) >= (step.parallel or 1):
        return False
    line.seq = number = line.seq + 1
    line.history.append(Entry(number, now, "fired", name, data={"consumed": [token.number]}))
    firing = Firing(number, name, Taken(((token,),)), now, tags)
    element = Element(number, None, name, "running", fixed.params, attempt=1)
    state = StepState(
        status="running",
        firings=before.firings + 1,
        live=(*before.live, number),
        latest=number,
        output=before.output,
        spoke=before.spoke,
    )
    line.firings = line.firings.set(number, firing)
    line.steps = line.steps.set(name, state)
    line.elements = line.elements.set((number, None), element)
    line.attempts.append(new_attempt(was.run, step, firing, element, line.data))
    return True


def _planned(line: _Line, was: Snapshot, now: datetime, ok: bool, over: bool) -> Plan:
    """What was decided, as a value. If nothing is left to do, the run is over, and its data is its result."""
    if over:
        line.seq += 1
        line.history.append(Entry(line.seq, now, "run_ended", data={"status": "succeeded"}))
    snapshot = replace(
        was,
        seq=line.seq,
        status="succeeded" if over else "running",
        started_at=was.started_at or now,
        ended_at=now if over else was.ended_at,
        data=line.data,
        tags=line.tags,
        result=line.data if over else was.result,
        ok=ok,
        firings=line.firings,
        elements=line.elements,
        steps=line.steps,
        revision=was.revision + 1,
    )
    return Plan(
        base=was.revision, snapshot=snapshot, history=line.history, answers=[ACCEPTED], attempts=line.attempts
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
    plain = way is not None and step.each is None and _is_plain(way) and _is_quick(step.promise, port)
    fires = _fires(flow, way.names) if way is not None and plain else None
    route = None
    if way is not None and fires is not None:
        rests = not flow.outside and not flow.net.names_ok
        fits = step.promise.fits.get(port) if step.promise is not None else None
        route = Route(fires, way.ok, way.ok and OK not in way.names, rests, fits)
    flow.routes[place] = route
    return route


def _is_quick(promise: Promise | None, port: str) -> bool:
    """Whether the output alone shows, and shows quickly, that the task gave what it offers."""
    return promise is None or (promise.sets is None and (port in promise.fits or port not in promise.outputs))


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
