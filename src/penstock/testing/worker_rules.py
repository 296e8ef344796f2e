"""What every worker promises, behind any gate and in any language: rules WK1 to WK16, each a test.

The worker under test must offer these tasks; paths are those of files that it and the rules both see:

    echo(value)              answers `value`
    fail(message)            raises an ordinary error
    fail_for_good(message)   raises Fatal
    hold(begun, go)          makes the file `begun`, waits until there is a file `go`, answers "held"
    until_canceled(begun, seen)
                             makes `begun`, waits until it is no longer wanted, then makes `seen`
    tell(lines, progress, go)
                             logs each line, says its progress, waits until there is `go`, answers "told"
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec

from penstock.flow.model.retry_policy import Timeouts
from penstock.flow.model.run_input import Done, Failed
from penstock.runtime.dispatch.gate import Gate
from penstock.testing.scripted_gate import USUAL, ScriptedGate

Run = Callable[[asyncio.Event], Awaitable[None]]
Launch = Callable[[Gate, int, timedelta], Run]
"""Gate, concurrency and grace → what runs the worker until the event is set and it has left."""

SHORT = Timeouts(heartbeat=timedelta(seconds=0.9))
LONG = timedelta(seconds=60)


class Stage:
    """One worker under test, and a folder where its tasks leave their marks."""

    def __init__(self, launch: Launch, folder: Path, pace: float = 1.0) -> None:
        self._launch, self._folder = launch, folder
        self.gate = ScriptedGate(pace)
        self.stop = asyncio.Event()

    @asynccontextmanager
    async def worker(self, concurrency: int = 2, grace: timedelta = LONG) -> AsyncIterator[ScriptedGate]:
        """A worker that has done its first task; it is stopped, and has left, at the end."""
        running = asyncio.ensure_future(self._launch(self.gate, concurrency, grace)(self.stop))
        try:
            await self.done(self.gate.give("echo", {"value": "first"}))
            yield self.gate
        finally:
            self.stop.set()
            await asyncio.wait_for(running, 30)

    def mark(self, name: str) -> Path:
        return self._folder / name

    async def done(self, run: str) -> Any:
        """How the attempt of a run ended."""
        await self.gate.until(lambda: run in self.gate.outcomes())
        return self.gate.outcomes()[run]

    async def seen(self, name: str) -> None:
        await self.gate.until(self.mark(name).exists)

    def give_hold(self, begun: str, go: str, timeouts: Timeouts = USUAL) -> str:
        params = {"begun": str(self.mark(begun)), "go": str(self.mark(go))}
        return self.gate.give("hold", params, timeouts)

    async def give_endless(self, name: str, timeouts: Timeouts = SHORT) -> str:
        """Work that only ends when it is no longer wanted; it has begun."""
        params = {"begun": str(self.mark(f"{name} begun")), "seen": str(self.mark(f"{name} stopped"))}
        run = self.gate.give("until_canceled", params, timeouts)
        await self.seen(f"{name} begun")
        return run


async def wk1_what_a_task_answers_is_reported_under_its_lease(stage: Stage) -> None:
    async with stage.worker() as gate:
        outcome = await stage.done(gate.give("echo", {"value": {"a": [1, None, "ü"]}}))

    assert outcome == Done(output={"a": [1, None, "ü"]})
    assert [report.lease for report in gate.reports] == list(gate.leased)


async def wk2_a_task_that_raises_failed_and_fatal_is_not_to_be_tried_again(stage: Stage) -> None:
    async with stage.worker() as gate:
        once = await stage.done(gate.give("fail", {"message": "no disk"}))
        ever = await stage.done(gate.give("fail_for_good", {"message": "no such video"}))

    assert isinstance(once, Failed) and isinstance(ever, Failed)
    assert (once.error.kind, once.retry, "no disk" in once.error.message) == ("error", True, True)
    assert (ever.error.kind, ever.retry, ever.error.message) == ("fatal", False, "no such video")


async def wk3_a_task_that_is_not_offered_fails_for_good(stage: Stage) -> None:
    async with stage.worker() as gate:
        outcome = await stage.done(gate.give("nobody.knows.this"))

    assert isinstance(outcome, Failed)
    assert (outcome.error.kind, outcome.retry) == ("fatal", False)
    assert "nobody.knows.this" in outcome.error.message


async def wk4_no_more_is_claimed_than_there_is_room_for(stage: Stage) -> None:
    async with stage.worker(concurrency=2) as gate:
        runs = [stage.give_hold(f"begun {number}", "go") for number in range(5)]
        await stage.seen("begun 0")
        await stage.seen("begun 1")
        leased = len(gate.leased)
        stage.mark("go").touch()
        outcomes = [await stage.done(run) for run in runs]

    assert leased == 1 + 2  # the first task, and these
    assert outcomes == [Done(output="held")] * 5
    assert max(wish.limit for wish in gate.requests) == 2


async def wk5_a_lease_is_renewed_while_its_task_runs(stage: Stage) -> None:
    async with stage.worker() as gate:
        run = stage.give_hold("begun", "go", SHORT)
        await gate.until(lambda: len(gate.heartbeats_of(run)) >= 4)
        stage.mark("go").touch()
        outcome = await stage.done(run)

    assert outcome == Done(output="held")


async def wk6_one_call_renews_all_leases(stage: Stage) -> None:
    async with stage.worker() as gate:
        runs = {stage.give_hold("begun", "go"), stage.give_hold("begun too", "go", SHORT)}
        await gate.until(lambda: any({beat.lease.run for beat in beats} == runs for beats in gate.heartbeats))
        stage.mark("go").touch()


async def wk7_progress_goes_with_the_renewal(stage: Stage) -> None:
    async with stage.worker() as gate:
        given = {"lines": [], "progress": {"percent": 40}, "go": str(stage.mark("go"))}
        run = gate.give("tell", given, SHORT)
        await gate.until(lambda: any(beat.progress for beat in gate.heartbeats_of(run)))
        stage.mark("go").touch()
        await stage.done(run)

    told = [
        msgspec.json.decode(beat.progress) for beat in gate.heartbeats_of(run) if beat.progress is not None
    ]
    assert told[0] == {"percent": 40}


async def wk8_work_that_is_no_longer_wanted_is_stopped_and_not_reported(stage: Stage) -> None:
    async with stage.worker() as gate:
        run = await stage.give_endless("task")
        gate.lose([run])
        await stage.seen("task stopped")
        after = await stage.done(gate.give("echo", {"value": "after"}))

    assert after == Done(output="after")
    assert run not in gate.outcomes()


async def wk9_work_whose_lease_cannot_be_renewed_is_stopped_and_not_reported(stage: Stage) -> None:
    async with stage.worker() as gate:
        run = await stage.give_endless("task")
        gate.away = {"heartbeat"}
        await stage.seen("task stopped")
        gate.away = set()
        after = await stage.done(gate.give("echo", {"value": "after"}))

    assert after == Done(output="after")
    assert run not in gate.outcomes()


async def wk10_work_is_stopped_at_its_deadline_and_not_reported(stage: Stage) -> None:
    async with stage.worker() as gate:
        limits = Timeouts(start_to_close=timedelta(seconds=0.5))
        run = await stage.give_endless("task", limits)
        await stage.seen("task stopped")

    assert run not in gate.outcomes()


async def wk11_reports_are_kept_while_the_gate_is_away(stage: Stage) -> None:
    async with stage.worker() as gate:
        gate.away = {"report", "log", "register"}
        runs = [gate.give("echo", {"value": number}) for number in range(3)]
        tried = gate.calls.count("report") + 3
        await gate.until(lambda: gate.calls.count("report") >= tried)
        gate.away = set()
        outcomes = [await stage.done(run) for run in runs]

    assert outcomes == [Done(output=number) for number in range(3)]
    assert len(gate.reports) == 1 + 3


async def wk12_claims_go_on_when_the_gate_is_back(stage: Stage) -> None:
    async with stage.worker() as gate:
        gate.away = {"claim"}
        await stage.done(gate.give("echo"))  # by the claim that was under way
        tried = gate.calls.count("claim") + 2
        run = gate.give("echo", {"value": "late"})
        await gate.until(lambda: gate.calls.count("claim") >= tried)
        gate.away = set()
        outcome = await stage.done(run)

    assert outcome == Done(output="late")


async def wk13_a_report_that_came_too_late_stops_nothing(stage: Stage) -> None:
    async with stage.worker() as gate:
        for verdict in ("superseded", "conflict", "repeated"):
            run = stage.give_hold("begun", verdict)
            gate.verdicts[run] = verdict
            stage.mark(verdict).touch()
            await stage.done(run)
        after = await stage.done(gate.give("echo", {"value": "after"}))

    assert after == Done(output="after")
    assert len(gate.reports) == len(gate.leased)


async def wk14_a_stopping_worker_claims_no_more_ends_what_runs_and_leaves(stage: Stage) -> None:
    async with stage.worker() as gate:
        run = stage.give_hold("begun", "go")
        await stage.seen("begun")
        await gate.until(lambda: gate.claiming)
        stage.stop.set()
        await gate.until(lambda: not gate.claiming)
        leased = len(gate.leased)
        unclaimed = gate.give("echo", {"value": "too late"})
        stage.mark("go").touch()

    assert (gate.outcomes()[run], gate.released) == (Done(output="held"), [])
    assert (len(gate.leased), unclaimed in gate.outcomes()) == (leased, False)
    assert (gate.left, gate.calls[-1]) == ([gate.workers[0].id], "deregister")


async def wk15_what_does_not_end_in_the_grace_is_stopped_and_left_to_its_lease(stage: Stage) -> None:
    async with stage.worker(grace=timedelta(seconds=0.1)) as gate:
        run = await stage.give_endless("task", USUAL)
        stage.stop.set()
        await stage.seen("task stopped")

    assert (run in gate.outcomes(), gate.released) == (False, [])
    assert gate.left == [gate.workers[0].id]


async def wk16_lines_come_before_the_report_of_their_attempt(stage: Stage) -> None:
    async with stage.worker() as gate:
        given = {"lines": ["one", "two ü"], "progress": None, "go": str(stage.mark("go"))}
        stage.mark("go").touch()
        run = gate.give("tell", given)
        await stage.done(run)

    bodies = [msgspec.json.decode(line.body) for line in gate.lines if line.run == run]
    shown = [{name: value for name, value in body.items() if name != "at"} for body in bodies]
    where = {"step": "step", "index": None, "attempt": 1, "level": "info"}
    assert shown == [{**where, "text": "one"}, {**where, "text": "two ü"}]
    assert gate.calls.index("log") < len(gate.calls) - 1 - gate.calls[::-1].index("report")


RULES: dict[str, Callable[[Stage], Awaitable[None]]] = {
    name: rule for name, rule in list(globals().items()) if name.startswith("wk")
}
"""All of them, by name."""


def prove(rule: str, launch: Launch, folder: Path, pace: float = 1.0) -> None:
    """Play one rule on a worker. Raises AssertionError or TimeoutError where it is not kept.

    Leases and deadlines of a second or less are made `pace` times as long: for workers whose tasks begin far away.
    """

    async def play() -> None:
        await RULES[rule](Stage(launch, folder, pace))

    asyncio.run(play())
