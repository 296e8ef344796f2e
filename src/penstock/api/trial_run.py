"""A draft tried in memory: tasks are stubs unless real ones are requested, time is virtual, nothing is stored."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from penstock.api.wire.trials import StubError, Tried, Try, TryStub
from penstock.engine.authoring.drafts import Drafts
from penstock.flow.compile.compile import Flow
from penstock.flow.model.plan import Attempt
from penstock.flow.views.run_view import history_view, run_view
from penstock.kernel.net import Net
from penstock.runtime.call_errors import CallTimedOut
from penstock.runtime.dispatch.redaction import Redact, redacted_outcome
from penstock.runtime.errors import Invalid
from penstock.testing.executor import End, Player, usual_port
from penstock.testing.played_run import Play
from penstock.testing.stubbed_flow import unpromised
from penstock.testing.stubs import Stub, fails, returns
from penstock.testing.world import World, cast_of
from penstock.workers.task import Task, missing_tasks

TRIAL_TIMEOUT = timedelta(seconds=10)
REAL_TRIAL_TIMEOUT = timedelta(seconds=60)
"""For a trial with real tasks, which take their own time."""
MAX_HISTORY = 5_000
"""History entries after which a run is shown as it is: one that loops would fill the memory."""

BLOCKED = ("blocked", "ready", "running")


async def try_draft(drafts: Drafts, workflow: str, body: Try, redact: Redact) -> Tried:
    """Run a definition, or the draft, in a thread. Raises what `play` raises, CallTimedOut."""
    if body.definition is None:
        checked = await drafts.check_draft(workflow)
    else:
        checked = await drafts.check(body.definition)
    tasks: Mapping[str, Task] = {}
    threads, limit = drafts.threads, TRIAL_TIMEOUT
    if body.real:
        tasks, threads, limit = await drafts.callable(workflow), drafts.tries, REAL_TRIAL_TIMEOUT
    run = partial(play, checked.loaded.flow, body, tasks, limit, redact)
    try:
        async with asyncio.timeout(limit.total_seconds() + 1):
            return await threads.result_of(run)
    except TimeoutError:
        raise CallTimedOut(workflow, limit) from None


def play(
    flow: Flow,
    body: Try,
    tasks: Mapping[str, Task],
    limit: timedelta = TRIAL_TIMEOUT,
    redact: Redact = lambda value: value,
) -> Tried:
    """Play a run until it rests, reaches `until`, or takes too long. Raises Invalid, InvalidInput, Endless."""
    before, after = _until(flow, body)
    world = World(start=datetime.now(UTC))
    stubs = _stubs(flow, body, before)
    real = _real(flow, body, stubs)
    for name in flow.steps.keys() - real - stubs.keys():
        if flow.steps[name].task in tasks:
            stubs[name] = returns(None, usual_port(flow.steps[name].ports))
    silent = flow.steps.keys() - real - _speaking(body)
    stubbed, cast = cast_of(unpromised(flow, silent), tasks, stubs, "stub")
    events = [{"event": each.event, "data": each.data} for each in body.events]
    made = world.begin(
        stubbed, _Redacted(cast, redact), input=body.input, subject=body.subject, events=events
    )
    deadline = time.monotonic() + limit.total_seconds()

    def stopped() -> str | None:
        if _reached(made, before, after):
            return "until"
        if made.at_rest:
            return None
        if time.monotonic() >= deadline:
            return "time"
        return "long" if made.snapshot.seq >= MAX_HISTORY else None

    world.play_until(lambda: made.at_rest or stopped() is not None)
    snapshot = made.snapshot
    missing = missing_tasks(flow, tasks)
    absent = [name for name in flow.steps if name in real and flow.steps[name].task in missing]
    return Tried(run_view(made.flow, snapshot), history_view(made.history), stopped(), absent)  # type: ignore[arg-type]


@dataclass
class _Redacted:
    """A player whose failures have no secrets before any step can read them."""

    player: Player
    redact: Redact

    def decide(self, attempt: Attempt, number: int, now: datetime) -> End:
        took, outcome = self.player.decide(attempt, number, now)
        return took, redacted_outcome(outcome, self.redact)


def _real(flow: Flow, body: Try, stubs: Mapping[str, Any]) -> set[str]:
    """The steps with real tasks. Raises Invalid if one does not exist."""
    named = set(body.real) if isinstance(body.real, list) else set(flow.steps) if body.real else set()
    for step in named - flow.steps.keys():
        raise _no_step(flow, step)
    return named - stubs.keys()


def _until(flow: Flow, body: Try) -> tuple[str | None, str | None]:
    """The steps before and after which the play stops."""
    named = {"after": body.until} if isinstance(body.until, str) else body.until or {}
    before, after = named.get("before"), named.get("after")
    for step in (before, after, body.from_):
        if step is not None and step not in flow.steps:
            raise _no_step(flow, step)
    return before, after


def _no_step(flow: Flow, step: str) -> Invalid:
    return Invalid(f"'{flow.name}' has no step '{step}': its steps are {', '.join(flow.steps)}")


def _reached(made: Play, before: str | None, after: str | None) -> bool:
    steps = made.steps
    if before is not None and steps[before].firings:
        return True
    return after is not None and bool(steps[after].firings) and steps[after].status not in BLOCKED


def _stubs(flow: Flow, body: Try, before: str | None) -> dict[str, Any]:
    """Those that were given, nothing for what comes before `from`, and no end for what the play stops before."""
    found: dict[str, Any] = {}
    if body.from_ is not None:
        for name in upstream(flow.net, body.from_):
            found[name] = returns(None, usual_port(flow.steps[name].ports))
    for name, given in body.stubs.items():
        found[name] = (
            [_stub(flow, name, each) for each in given]
            if isinstance(given, list)
            else _stub(flow, name, given)
        )
    if before is not None:
        found[before] = returns(None, after=timedelta(days=36_500))
    return found


def _speaking(body: Try) -> set[str]:
    """The steps whose stubs say what is given or set: that must be what their tasks offer."""
    lists = {name: given if isinstance(given, list) else [given] for name, given in body.stubs.items()}
    return {
        name
        for name, each in lists.items()
        if any(stub.output is not None or stub.set is not None for stub in each)
    }


def _stub(flow: Flow, name: str, given: TryStub) -> Stub:
    if isinstance(given.error, StubError):
        return fails(given.error.message, fatal=not given.error.retry)
    if given.error is not None:
        return fails(given.error, fatal=True)
    ports = flow.steps[name].ports if name in flow.steps else ("done",)
    return returns(given.output, given.port or usual_port(ports), given.tags, given.set)


def upstream(net: Net, step: str) -> set[str]:
    """The steps that lead to a step, without those that it leads to itself, and without it."""
    fed = {one.name: {name for slot in one.slots for name in slot.events} for one in net.steps}
    fires = {one.name: {name for way in one.exits for name in way.fires} for one in net.steps}
    before = _reach({step}, lambda name: {other for other in fires if fires[other] & fed[name]})
    after = _reach({step}, lambda name: {other for other in fed if fed[other] & fires[name]})
    return before - after - {step}


def _reach(begin: set[str], near: Any) -> set[str]:
    found, fresh = set(begin), list(begin)
    while fresh:
        new = near(fresh.pop()) - found
        found |= new
        fresh += new
    return found
