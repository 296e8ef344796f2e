"""Drives `advance` by hand: one thing happens at a time, and every plan is checked for what must always hold."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from penstock.flow.compile.compile import Flow, compile_flow
from penstock.flow.decisions.advance import advance
from penstock.flow.decisions.creation import new_run
from penstock.flow.format.definition_parser import read_definition
from penstock.flow.model.plan import Attempt, Entry, Plan, Timer
from penstock.flow.model.problems import DefinitionError
from penstock.flow.model.run import Failure, Header, RunId, Snapshot
from penstock.flow.model.run_input import (
    Begun,
    Canceled,
    Continued,
    Done,
    Failed,
    Granted,
    Outside,
    Reported,
    RunInput,
    TimedOut,
)
from penstock.flow.views.replay import fold
from penstock.kernel.marking import Marking
from penstock.runtime.inmemory.locks import Locks
from penstock.steps.kinds import IO_TASKS, kinds_with

START_TIME = datetime(2026, 3, 1, 12, tzinfo=UTC)


def flow_of(steps: str, head: str = "") -> Flow:
    """The flow of a few lines of YAML: the steps, and what stands above them."""
    text = f"penstock: 1\nname: w\n{head}\nsteps:\n" + "\n".join(
        "  " + line for line in steps.strip().splitlines()
    )
    return compile_flow(read_definition(text), kinds_with(IO_TASKS), IO_TASKS)


def complaints(steps: str) -> list[str]:
    """What is wrong with the settings of some steps, whether they can be kept or not."""
    try:
        return [problem.message for problem in flow_of(steps).bad_settings.values()]
    except DefinitionError as error:
        return [problem.message for problem in error.problems]


def plain(marking: Marking) -> dict[Any, list[tuple[int, str]]]:
    return {
        place: [(token.number, token.name) for token in tokens] for place, tokens in marking.tokens.items()
    }


class Drive:
    """One run in the hand of a test. `tasks` are the attempts under way, by step (and index)."""

    def __init__(self, flow: Flow, input: Any = None, begin: bool = True, **tags: Any) -> None:
        self.flow = flow
        self.now = START_TIME
        self.snapshot: Snapshot = new_run(Header(id=RunId("run"), workflow=flow.name, input=input))
        self.history: list[Entry] = []
        self.tasks: dict[str, Attempt] = {}
        self.dispatched: list[Attempt] = []
        self.timers: list[Timer] = []
        self.locks = Locks()
        self.plans: list[Plan] = []
        self.patience = 100  # a loop of boxes alone may never end
        if begin:
            self.happen(Begun(tags))

    # -- what happens ---------------------------------------------------------------------------------------

    def happen(self, *occurrences: RunInput) -> str:
        plan = advance(self.flow, self.snapshot, occurrences, self.now)
        again = advance(self.flow, self.snapshot, occurrences, self.now)
        assert again == plan, "the same arguments gave another plan"
        assert [entry.seq for entry in plan.history] == list(
            range(self.snapshot.seq + 1, plan.snapshot.seq + 1)
        )
        assert plan.base == self.snapshot.revision
        self.snapshot = plan.snapshot
        self.history += plan.history
        self.plans.append(plan)
        assert plain(fold(self.flow, self.history)) == plain(plan.snapshot.marking), (
            "the fold is another marking"
        )
        self._act(plan)
        return plan.answers[0]

    def _act(self, plan: Plan) -> None:
        for element in plan.withdrawn:
            self.tasks = {
                name: task for name, task in self.tasks.items() if (task.firing, task.index) != element
            }
        for attempt in plan.attempts:
            other = self.tasks.get(_name(attempt))
            twin = other is not None and other.firing != attempt.firing
            self.tasks[f"{_name(attempt)}#{attempt.firing}" if twin else _name(attempt)] = attempt
            self.dispatched.append(attempt)
        self.timers += plan.timers
        granted = []
        for wish in plan.acquires:
            if self.locks.acquire(wish.key, wish.limit, (RunId("run"), wish.element)):
                granted.append(wish.element)
        for release in plan.releases:
            granted += [
                element for _, element in self.locks.release(release.key, (RunId("run"), release.element))
            ]
        if plan.unfinished and len(self.plans) < self.patience:
            self.happen(Continued())
        for element in granted:
            self.happen(Granted(*element))

    def done(self, task: str, output: Any = None, **more: Any) -> str:
        return self.report(task, Done(output=output, **more))

    def fail(self, task: str, message: str = "no", retry: bool = True, **more: Any) -> str:
        return self.report(task, Failed(error=Failure("error", message), retry=retry, **more))

    def time_out(self, task: str, limit: str = "start_to_close") -> str:
        return self.report(task, TimedOut(limit))

    def report(self, task: str, outcome: Done | Failed | TimedOut) -> str:
        attempt = self.tasks.pop(task)
        return self.happen(Reported(attempt.firing, attempt.index, attempt.attempt, outcome))

    def event(self, name: str, data: Any = None, **more: Any) -> str:
        return self.happen(Outside(event=name, data=data, **more))

    def cancel(self, force: bool = False) -> str:
        return self.happen(Canceled(force))

    def ring(self) -> str:
        """Let time pass to the next timer."""
        timer = min(self.timers, key=lambda each: each.due)
        self.timers.remove(timer)
        self.now = max(self.now, timer.due)
        return self.happen(timer.input)

    # -- what is seen ---------------------------------------------------------------------------------------

    @property
    def status(self) -> str:
        return self.snapshot.status

    @property
    def waited(self) -> timedelta:
        return self.now - START_TIME

    def fired(self, step: str) -> int:
        return sum(entry.kind == "fired" and entry.step == step for entry in self.history)

    def events(self) -> list[str]:
        return [entry.event or "" for entry in self.history if entry.kind == "event"]

    def entries(self, kind: str) -> list[Entry]:
        return [entry for entry in self.history if entry.kind == kind]

    def step(self, name: str) -> Any:
        return self.snapshot.steps[name]


def _name(attempt: Attempt) -> str:
    return attempt.step if attempt.index is None else f"{attempt.step}[{attempt.index}]"
