"""How long steps wait and run, from histories."""

from __future__ import annotations

from collections import defaultdict
from datetime import timedelta

from penstock.flow.model.run_input import Paused, Resumed
from penstock.runtime.queries.workflow_stats import Spell, StepFigures, add_figures, percentiles
from tests.flow.driver import Drive, flow_of

CHOSEN, OTHER = f"{0:020x}", f"{1:020x}"


def figures(
    drive: Drive, run: str, waits: dict[tuple[str, int], float] | None = None
) -> dict[str, StepFigures]:
    found: dict[str, StepFigures] = defaultdict(StepFigures)
    add_figures(found, run, drive.history, waits or {})
    return dict(found)


def test_a_firing_waits_while_its_events_do_and_runs_until_it_ends() -> None:
    drive = Drive(
        flow_of("a: {task: t}\nb: {task: t, after: a, retries: 1, backoff: {initial: 1s, jitter: 0}}")
    )
    drive.happen(Paused())
    drive.now += timedelta(seconds=2)
    drive.done("a")
    drive.now += timedelta(seconds=3)
    drive.happen(Resumed())
    drive.now += timedelta(seconds=4)
    drive.fail("b")
    drive.ring()
    drive.now += timedelta(seconds=5)
    drive.fail("b")

    assert figures(drive, OTHER) == {
        "a": StepFigures(firings=1, rough=[Spell(0, 2)]),
        "b": StepFigures(firings=1, failed=1, retries=1, rough=[Spell(3, 10)]),
    }


def test_the_wait_for_a_worker_is_no_running() -> None:
    drive = Drive(flow_of("a: {task: t}"))
    firing = drive.step("a").latest
    drive.now += timedelta(seconds=10)
    drive.done("a")

    found = figures(drive, CHOSEN, {(CHOSEN, firing): 4.0})

    assert found == {"a": StepFigures(firings=1, known=[Spell(4, 6)])}


def test_percentiles_are_by_the_nearest_rank() -> None:
    assert percentiles(range(1, 101)) == {"p50": 50, "p90": 90, "p95": 95, "p99": 99, "max": 100}
    assert percentiles([7]) == {"p50": 7, "p90": 7, "p95": 7, "p99": 7, "max": 7}
    assert percentiles([]) is None
