"""What is decided together is written together, and means the same as if it had come one by one."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from msgspec import structs

from penstock.engine.loading import load
from penstock.flow.advance import new_run
from penstock.flow.occurrence import Begun, Paused, Resumed
from penstock.flow.plan import Attempt
from penstock.flow.run import Header, Pauser, RunId
from penstock.runtime.deciding import Decision, Desk, decide, write_down
from penstock.runtime.memory import Live
from penstock.runtime.request import Request

RUN = RunId("0" * 20)
FLOW = load("penstock: 1\nname: one\nsteps:\n  a: {task: t}\n").flow


class _Desk:
    worker = "w"


class _Desks:
    def reserve(self, attempt: Attempt) -> Desk | None:
        return _Desk()

    def free(self, desks: Sequence[tuple[Attempt, Desk]]) -> None:
        """Nothing was promised."""


def _decide(*occurrences: Paused | Resumed, paused: tuple[Pauser, ...] = ()) -> Decision:
    """A run that begins, and whatever happens to it before that is written."""
    header = Header(
        id=RUN, workflow="one", version=1, subject=None, labels={}, input=None, parent=None, rerun_of=None
    )
    snapshot = structs.replace(new_run(header), paused=paused)
    requests = [Request(RUN, Begun(), new=snapshot), *(Request(RUN, each) for each in occurrences)]
    decision = decide(Live(FLOW, snapshot), requests, datetime(2026, 1, 1, tzinfo=UTC))
    write_down(decision, _Desks())
    return decision


def _handed(decision: Decision) -> list[tuple[str | None, bool]]:
    assert decision.change is not None
    return [(task.worker, task.held) for task in decision.change.tasks]


def test_a_task_goes_to_the_desk_that_waits_for_it() -> None:
    assert _handed(_decide()) == [("w", False)]


def test_a_task_that_is_made_together_with_a_pause_is_held() -> None:
    assert _handed(_decide(Paused())) == [(None, True)]


def test_a_pause_that_is_over_before_it_is_written_holds_nothing() -> None:
    assert _handed(_decide(Paused(), Resumed())) == [("w", False)]


def test_a_task_between_the_end_of_one_pause_and_the_next_is_held() -> None:
    assert _handed(_decide(Paused("workflow"), Resumed("workflow"), Paused())) == [(None, True)]
    assert _handed(_decide(Resumed("workflow"), Paused(), paused=("workflow",))) == [(None, True)]
