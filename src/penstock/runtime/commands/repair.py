"""Repairs by people: each is decided like any other input of a run, and recorded in its history."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from msgspec import ValidationError, convert
from msgspec.structs import replace

from penstock.flow.decisions.advance import advance
from penstock.flow.decisions.creation import new_run
from penstock.flow.decisions.fork import Fork, Forking
from penstock.flow.decisions.repair import no_way, repair_error, unskippable
from penstock.flow.decisions.state import DecisionState
from penstock.flow.model.plan import Plan
from penstock.flow.model.run import RunId
from penstock.flow.model.run_input import BegunFrom, GivenUp, Put, Repaired, Skipped, Take
from penstock.flow.model.tags import visible
from penstock.runtime.commands.approval_bypass import approvals_in, approvals_left_out, reject_approval_bypass
from penstock.runtime.commands.commands import MAX_PAUSE_CONFLICTS, Commands, pause_flapping_error
from penstock.runtime.commands.ownership import Owners
from penstock.runtime.commands.validation import checked_input, plain_payload
from penstock.runtime.errors import Changed, Invalid, NotSkippable, RunEnded, UnknownStep
from penstock.runtime.node.clock import StoreClock
from penstock.runtime.node.flow_cache import FlowCache, wider_pauses
from penstock.runtime.node.run_cache import CachedRun
from penstock.runtime.queries.history import read_history
from penstock.runtime.queries.reachability import reachability_of
from penstock.store.protocol import Approvals, Runs

T = TypeVar("T")

MAX_EVENTS = 1_000
"""Events that one repair puts and takes: it is decided as a whole, while nobody else is answered."""


class RepairCommands:
    """Repairs of runs. What it answers is durable."""

    def __init__(
        self, store: Approvals, commands: Commands, flows: FlowCache, owners: Owners, clock: StoreClock
    ) -> None:
        self._store, self._commands, self._flows, self._owners, self._clock = (
            store,
            commands,
            flows,
            owners,
            clock,
        )

    async def repair(
        self,
        run: str,
        *,
        put: Sequence[Mapping[str, Any]] = (),
        take: Sequence[Mapping[str, Any]] = (),
        expect: int | None = None,
        reason: str | None = None,
        dry_run: bool = False,
    ) -> dict[str, Any]:
        """Put events into slots and take others out; `{seq, will_fire}`: the steps that begin by it.

        `expect` is the `seq` of the marking that the caller saw. With `dry_run` nothing is changed, and `outlook`
        says whether the run could still end.
        Raises UnknownRun, Invalid, RunEnded, Changed, NotTheirs, NotSeparate.
        """
        if len(put) + len(take) > MAX_EVENTS:
            raise Invalid(f"a repair puts and takes up to {MAX_EVENTS:,} events: make several of it")
        puts = tuple(replace(each, data=plain_payload(each.data, "the data")) for each in _read(put, Put))
        request = Repaired(put=puts, take=_read(take, Take), expect=expect, reason=reason)
        for _ in range(MAX_PAUSE_CONFLICTS):
            live = await self._commands.look(run)
            await self._reject_approval_bypass(live, approvals_left_out(live, puts))
            plan = self._try(live, request)
            if dry_run:
                return _repair_answer(plan) | {"outlook": reachability_of(live.flow, plan.snapshot)}
            answer = await self._commands.ask(run, replace(request, expect=live.snapshot.seq))
            if answer == "accepted":
                return _repair_answer(plan)
        raise Changed(f"run '{run}'", expect, (await self._commands.look(run)).snapshot.seq)

    def _try(self, live: CachedRun, request: Repaired) -> Plan:
        """What the repair leads to. Raises RunEnded, Changed, Invalid."""
        snapshot, now = live.snapshot, self._clock.now()
        self._owners.authorize(live.flow.name)
        if snapshot.ended:
            raise RunEnded(snapshot.run.id, snapshot.status)
        if request.expect is not None and request.expect != snapshot.seq:
            raise Changed(f"run '{snapshot.run.id}'", request.expect, snapshot.seq)
        wrong = repair_error(DecisionState(live.flow, snapshot, now), request)
        if wrong is not None:
            raise Invalid(f"run '{snapshot.run.id}' cannot be repaired so: {wrong}")
        return advance(live.flow, snapshot, [request], now)

    async def skip(
        self, run: str, step: str, port: str = "done", output: Any = None, reason: str | None = None
    ) -> None:
        """Let a step end on a port with an output, without its task: one under way, ready, failed or starving.

        Raises UnknownRun, UnknownStep, Invalid, NotSkippable, NotTheirs, NotSeparate.
        """
        request = Skipped(step=step, port=port, output=plain_payload(output, "the output"), reason=reason)
        for _ in range(MAX_PAUSE_CONFLICTS):
            live = await self._commands.look(run)
            self._validate_skip(live, request)
            await self._reject_approval_bypass(live, approvals_in(live.flow, [step]))
            if live.snapshot.ended:
                _, state = await self._flows.newest(live.flow.name)
                request = replace(request, paused=wider_pauses(state))
            if await self._commands.ask(run, request) == "accepted":
                return
            self._flows.forget()  # a pause came or went meanwhile, or the run advanced
        raise pause_flapping_error(live.flow.name)

    async def _reject_approval_bypass(
        self, live: CachedRun, steps: Sequence[str], begins: bool = False
    ) -> None:
        await reject_approval_bypass(self._store, live, steps, begins)

    def _validate_skip(self, live: CachedRun, request: Skipped) -> None:
        self._owners.authorize(live.flow.name)
        known = live.flow.steps.get(request.step)
        if known is None:
            raise UnknownStep(live.flow.name, request.step, live.flow.steps)
        misnamed = no_way(known, request)
        if misnamed is not None:
            raise Invalid(f"step '{request.step}' cannot be skipped so: {misnamed}")
        wrong = unskippable(DecisionState(live.flow, live.snapshot, self._clock.now()), known, request)
        if wrong is not None:
            raise NotSkippable(live.snapshot.run.id, request.step, wrong)

    async def rerun(
        self, store: Runs, run: str, step: str, version: int | None = None, input: Any = None
    ) -> RunId:
        """A new run that begins where this one was before `step` began for the last time.

        Earlier steps are not done again: their outputs are those of the old run. What was under way then is.
        Raises UnknownRun, Invalid, NotTheirs, NotSeparate.
        """
        live = await self._commands.look(run)
        header = live.snapshot.run
        self._owners.authorize(header.workflow)
        flow = (await self._flows.newest(header.workflow))[0]
        if version is not None and version != flow.version:
            flow = await self._flows.get(header.workflow, version)
        given = None if input is None else checked_input(flow, plain_payload(input, "the input"))
        fork = await _fork_before(store, live, step, given)
        passed = {*approvals_in(live.flow, fork.outputs), *approvals_left_out(live, fork.puts)}
        await self._reject_approval_bypass(live, sorted(passed), begins=True)
        wrong = repair_error(DecisionState(flow, new_run(header), self._clock.now()), Repaired(put=fork.puts))
        if step not in flow.steps or wrong is not None:
            why = wrong or "it has no such step"
            raise Invalid(f"version {flow.version} of '{flow.name}' cannot begin at step '{step}': {why}")
        tags = visible(live.snapshot.tags)
        begun = BegunFrom(
            step=step, data=fork.data, puts=fork.puts, outputs=fork.outputs, came=fork.came, tags=tags
        )
        return await self._commands.rerun(run, flow.version, input, begun)

    async def fail(self, run: str, reason: str | None = None) -> None:
        """Let a run fail; its clean-up steps still run. Raises UnknownRun, RunEnded."""
        if await self._commands.ask(run, GivenUp(reason)) == "refused":
            raise RunEnded(run, (await self._commands.look(run)).snapshot.status)


async def _fork_before(store: Runs, live: CachedRun, step: str, input: Any) -> Fork:
    """How a run was before `step` began for the last time. Raises Invalid where it never did."""
    run, last = live.snapshot.run.id, 0
    async for entry in read_history(store, run):
        if entry.kind == "fired" and entry.step == step:
            last = entry.seq
    if not last:
        raise Invalid(f"step '{step}' never began in run '{run}': rerun it from the start")
    forking = Forking(live.flow, input)
    async for entry in read_history(store, run, 0, last - 1):
        forking.take(entry)
    return forking.fork()


def _read(items: Sequence[Mapping[str, Any]], kind: type[T]) -> tuple[T, ...]:
    try:
        return convert(list(items), tuple[kind, ...])  # type: ignore[valid-type]
    except ValidationError as error:
        word = kind.__name__.lower()
        raise Invalid(f"`{word}` is a list of what to {word}, each with its step and slot: {error}") from None


def _repair_answer(plan: Plan) -> dict[str, Any]:
    fired = [entry.step for entry in plan.history if entry.kind == "fired"]
    return {"seq": plan.snapshot.seq, "status": plan.snapshot.status, "will_fire": fired}
