"""`simulate`: many random runs, seeded, and what they came to in numbers."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from penstock.flow.model.plan import Entry
from penstock.runtime.errors import Invalid
from penstock.testing import Chances, Summary, simulate
from penstock.testing.chain import Link, critical_chain
from penstock.testing.summary import Share, Stall, Starved

SURE = Chances(failure=0, event=1)
FORK = """
penstock: 1
name: fork
steps:
  begin: {task: wait, with: {for: 1s}}
  slow: {task: wait, after: begin, with: {for: 8s}}
  quick: {task: wait, after: begin, with: {for: 2s}}
  join: {task: wait, after: [slow, quick], with: {for: 1s}}
"""


def ends(summary: Summary) -> dict[str, int]:
    return {end: share.runs for end, share in summary.ends.items()}


def test_the_critical_path_is_the_chain_that_decides_the_end() -> None:
    summary = simulate(FORK, 20)

    path = summary.critical_path
    assert path is not None
    assert [(stretch.step, stretch.share) for stretch in path.steps] == [
        ("begin", 0.1),
        ("slow", 0.8),
        ("join", 0.1),
    ]
    assert (path.runs, path.share, path.outside) == (20, 1.0, 0.0)
    assert {name: step.critical for name, step in summary.steps.items()} == {
        "begin": 1.0,
        "slow": 1.0,
        "quick": 0.0,
        "join": 1.0,
    }
    assert summary.seconds is not None
    assert (summary.seconds.least, summary.seconds.p99, summary.seconds.most) == (10.0, 10.0, 10.0)


def test_ends_firings_and_ports_are_counted() -> None:
    source = "penstock: 1\nname: w\nsteps: {a: {task: t}, b: {task: t, after: a}}"

    summary = simulate(source, 400, chances=Chances(failure=0.5))

    counts = ends(summary)
    assert counts["succeeded"] + counts["failed"] == summary.runs == 400
    assert summary.steps["b"].ports["done"] == counts["succeeded"]
    assert summary.steps["a"].ports["failed"] + summary.steps["b"].ports["failed"] == counts["failed"]
    assert (summary.steps["a"].least, summary.steps["a"].mean, summary.steps["b"].least) == (1, 1.0, 0)
    assert 60 < counts["succeeded"] < 140
    assert summary.ends["succeeded"] == Share(counts["succeeded"], counts["succeeded"] / 400)


def test_the_same_seed_gives_the_same_summary_and_another_seed_another() -> None:
    source = "penstock: 1\nname: w\nsteps: {a: {task: t}}"

    assert simulate(source, 50, 7) == simulate(source, 50, 7)
    assert simulate(source, 50, 7).seconds != simulate(source, 50, 8).seconds


def test_stalled_runs_name_the_steps_that_starve() -> None:
    source = """
        penstock: 1
        name: w
        steps:
          choose: {task: decide, with: {if: data.x}, emits: {then: a, else: b}}
          both: {task: t, after: [a, b]}
    """

    summary = simulate(source, 60, chances=SURE)

    assert ends(summary) == {"stalled": 60}
    ways = {stall.starving: stall.runs for stall in summary.stalls}
    assert set(ways) == {(Starved("both", ("a",)),), (Starved("both", ("b",)),)}
    assert sum(ways.values()) == 60
    assert isinstance(summary.stalls[0], Stall)
    assert (summary.seconds, summary.critical_path) == (None, None)


def test_a_loop_without_end_is_cut_off() -> None:
    source = "penstock: 1\nname: w\nendless: true\nsteps: {tick: {task: t, after: [START | tick]}}"

    summary = simulate(source, 2, chances=Chances(failure=0, firings=30))

    assert (ends(summary), summary.steps["tick"].most) == ({"cut off": 2}, 31)


def test_outside_events_come_or_do_not() -> None:
    source = "penstock: 1\nname: w\nexternal: [go]\nsteps: {a: {task: t, after: go}}"
    optional = source.replace("[go]", "[{name: go, optional: true}]")
    optional = optional.replace("steps: {", "steps: {nap: {task: wait, with: {for: 1h}}, ")
    many = source.replace("[go]", "[{name: go, many: true}]")

    assert ends(simulate(source, 20, chances=SURE)) == {"succeeded": 20}
    assert ends(simulate(source, 20, chances=Chances(event=0))) == {"waiting": 20}
    assert 0 < simulate(optional, 40, chances=SURE).steps["a"].mean < 1
    assert simulate(many, 40, chances=SURE).steps["a"].most > 1


def test_a_run_that_waits_for_what_does_not_come_is_timed_out() -> None:
    source = "penstock: 1\nname: w\ntimeout: 1h\nexternal: [go]\nsteps: {a: {task: t, after: go}}"

    summary = simulate(source, 3, chances=Chances(event=0))

    assert ends(summary) == {"timed_out": 3}
    assert summary.seconds is not None
    assert summary.seconds.p50 == 3600


def test_waiting_for_outside_has_its_share_of_the_critical_path() -> None:
    source = "penstock: 1\nname: w\nexternal: [go]\nsteps: {a: {task: wait, after: go, with: {for: 1s}}}"

    path = simulate(source, 50, chances=SURE).critical_path

    assert path is not None
    assert 0.5 < path.outside < 1
    assert path.outside + path.steps[0].share == pytest.approx(1, abs=1e-5)


def test_ports_can_be_weighted() -> None:
    source = "penstock: 1\nname: w\nsteps: {ask: {task: approval, emits: {approved: OK, rejected: OK}}}"

    assert simulate(source, 30, ports={"ask": {"rejected": 1}}).steps["ask"].ports == {"rejected": 30}
    with pytest.raises(Invalid, match="the weights of step 'ask' must be 0 or more"):
        simulate(source, 30, ports={"ask": {"maybe": 1}})
    with pytest.raises(Invalid, match="'w' has no step 'aks'; its steps are ask"):
        simulate(source, 30, ports={"aks": {"rejected": 1}})
    with pytest.raises(Invalid, match="runs=0 is no number of runs"):
        simulate(source, 0)


def test_a_workflow_that_wants_an_input_can_be_simulated_without_one() -> None:
    params = {"type": "object", "required": ["x"]}
    steps = {"a": {"task": "t", "with": {"n": "${ data.x }"}}}
    source = {"penstock": 1, "name": "w", "params": params, "steps": steps}

    assert ends(simulate(source, 3, chances=SURE)) == {"succeeded": 3}


def test_steps_with_time_outs_take_a_part_of_them() -> None:
    source = "penstock: 1\nname: w\nsteps: {a: {task: t, timeouts: {start_to_close: 1h}}}"

    seconds = simulate(source, 200, chances=SURE).seconds

    assert seconds is not None
    assert 600 < seconds.mean < 1200
    assert seconds.most <= 3600


def test_a_summary_is_plain_json() -> None:
    plain = simulate(FORK, 2).as_dict()

    assert msgspec.json.decode(msgspec.json.encode(plain)) == plain
    assert plain["ends"] == {"succeeded": {"runs": 2, "share": 1.0}}
    assert plain["critical_path"]["steps"][1] == {"step": "slow", "share": 0.8}


def test_the_chain_goes_through_the_step_that_ended_the_run_early() -> None:
    def entry(seq: int, kind: Any, **fields: Any) -> Entry:
        return Entry(seq, datetime(2026, 1, 1, second=seq, tzinfo=UTC), kind, **fields)

    history = [
        entry(1, "event", event="START"),
        entry(2, "fired", step="work", data={"consumed": [1]}),
        entry(5, "ended", step="work", port="failed", firing=2),
        entry(6, "event", step="work", event="FAIL"),
        entry(7, "fired", step="undo", data={"consumed": [6]}),
        entry(9, "ended", step="undo", port="done", firing=7),
    ]

    assert critical_chain(history) == [Link("work", 4.0), Link("undo", 3.0)]
    assert critical_chain([]) == []


def test_a_thousand_runs_of_ten_steps_take_a_few_seconds() -> None:
    steps: dict[str, Any] = {f"s{n}": {"task": "t", "after": [f"s{n - 1}"] if n else []} for n in range(10)}
    begun = time.process_time()

    simulate({"penstock": 1, "name": "w", "steps": steps}, 1_000)

    assert time.process_time() - begun < 8
