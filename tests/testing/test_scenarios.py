"""Generated scenarios: every step and every port that can be reached, in few runs, the same each time."""

from __future__ import annotations

import time
from collections.abc import Hashable
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from penstock import DefinitionError
from penstock.engine.authoring.loader import load
from penstock.testing import Play, Scenarios, Uncovered, scenarios
from penstock.testing.exploration import Node, Pair, begin, follow, moves
from penstock.testing.stubbed_flow import relaxed

MEDIA = """
penstock: 1
name: media
external: [et_finished, {name: note, optional: true}]
timeout: 2d
steps:
  probe: {task: probe, fails: failed}
  encode: {task: encode, fails: failed, retries: 3, timeouts: {start_to_close: 1h}}
  thumbs: {task: thumbs, after: et_finished, each: data.sizes, fails: failed}
  check: {task: decide, after: [probe, encode, thumbs], with: {if: data.ok}, emits: {then: good, else: bad}}
  publish: {task: publish, after: good, emits: OK, serialize: data.user}
  refuse: {task: fail, after: bad}
  annotate: {task: annotate, after: note}
  tell: {task: mail, after: failed, emits: FAIL, fails: FAIL}
  clean: {task: clean, after: CANCEL | TIMEOUT}
"""


def ended(run: Play) -> dict[str, list[str | None]]:
    ports: dict[str, list[str | None]] = {}
    for step, port in run.ports:
        ports.setdefault(step, []).append(port)
    return ports


def covered(found: Scenarios) -> set[Pair]:
    return {(step, port) for scenario in found for step, ports in scenario.outcomes.items() for port in ports}


def test_scenarios_cover_every_step_and_every_failure_port() -> None:
    found = scenarios(MEDIA)

    flow = load(MEDIA).flow
    assert found.uncovered == ()
    assert covered(found) == {(name, port) for name, step in flow.steps.items() for port in step.ways}
    assert [scenario.name for scenario in found] == [
        "as it should go",
        "probe fails",
        "encode fails",
        "thumbs fails",
        "check ends on else",
        "check fails",
        "publish fails",
        "tell fails",
        "annotate ends on done",
        "annotate fails",
        "clean ends on done",
        "clean fails",
    ]


def test_the_first_scenario_is_how_it_should_go() -> None:
    first = scenarios(MEDIA)[0]

    assert (first.name, first.status, first.events) == ("as it should go", "succeeded", ["et_finished"])
    assert first.outcomes == {
        "probe": ["done"],
        "encode": ["done"],
        "thumbs": ["done"],
        "check": ["then"],
        "publish": ["done"],
    }


def test_every_scenario_plays_as_it_says() -> None:
    for scenario in scenarios(MEDIA):
        run = scenario.play()

        assert (run.status, ended(run)) == (scenario.status, scenario.outcomes), scenario.name


def test_a_clean_up_is_reached_by_cancelling_or_by_the_time_out() -> None:
    source = """
        penstock: 1
        name: w
        timeout: 30s
        cleanup_timeout: 1s
        steps:
          work: {task: t}
          undo: {task: t, after: CANCEL}
          late: {task: t, after: TIMEOUT}
    """

    found = scenarios(source)

    assert {scenario.name: (scenario.status, scenario.events) for scenario in found} == {
        "as it should go": ("succeeded", []),
        "work fails": ("failed", []),
        "undo ends on done": ("canceled", ["CANCEL"]),
        "undo fails": ("canceled", ["CANCEL"]),
        "late ends on done": ("timed_out", ["TIMEOUT"]),
        "late fails": ("timed_out", ["TIMEOUT"]),
    }
    assert [scenario.play().status for scenario in found] == [scenario.status for scenario in found]


def test_what_cannot_be_reached_is_told() -> None:
    source = """
        penstock: 1
        name: w
        steps:
          choose: {task: decide, with: {if: data.x}, emits: {then: a, else: b}}
          both: {task: wait, after: [a, b], with: {for: 1s}}
          dead: {task: wait, after: nothing, with: {for: 1s}}
    """

    assert scenarios(source).uncovered == (
        Uncovered("both", "done", "cannot be reached"),
        Uncovered("dead", "done", "cannot be reached"),
    )


def test_a_search_that_is_cut_short_says_so() -> None:
    assert [each.reason for each in scenarios(MEDIA, budget=0).uncovered] == [
        "was not found within the budget"
    ] * 4


def test_a_loop_is_left_by_itself_and_one_without_end_is_cut_off() -> None:
    poll = "penstock: 1\nname: w\nsteps: {look: {task: look, after: [START | again], emits: {again: again, ready: OK}}}"
    tick = "penstock: 1\nname: w\nendless: true\nsteps: {tick: {task: wait, after: [START | tick], with: {for: 1d}}}"

    assert scenarios(poll)[0].outcomes == {"look": ["again", "ready"]}
    assert [scenario.status for scenario in scenarios(tick)] == ["running"]
    assert scenarios(tick)[0].play().status == "running"


def test_an_event_that_may_come_again_comes_as_often_as_it_is_needed() -> None:
    source = """
        penstock: 1
        name: w
        external: [{name: page, many: true}]
        steps: {count: {task: count, after: page, emits: {more: noted, enough: OK}}}
    """

    first = scenarios(source)[0]

    assert (first.events, first.outcomes) == (["page", "page"], {"count": ["more", "enough"]})
    assert first.play().status == first.status == "succeeded"


def test_ports_come_from_the_tasks_that_are_given() -> None:
    source = "penstock: 1\nname: w\nsteps: {s: {task: t}}"

    assert [scenario.name for scenario in scenarios(source, tasks={"t": lambda: 1})] == [
        "as it should go",
        "s fails",
    ]


def test_schemas_of_inputs_and_events_are_no_hindrance() -> None:
    schema = {"type": "object", "required": ["x"]}
    source = {
        "penstock": 1,
        "name": "strict",
        "params": schema,
        "external": [{"name": "go", "schema": schema}],
        "result": "data.x",
        "steps": {"s": {"task": "t", "after": "go", "match": "event.data.x", "with": {"y": "${ data.x }"}}},
    }

    assert [scenario.play().status for scenario in scenarios(source)] == ["succeeded", "failed"]


def test_the_same_workflow_gives_the_same_scenarios() -> None:
    assert [scenario.moves for scenario in scenarios(MEDIA)] == [
        scenario.moves for scenario in scenarios(MEDIA)
    ]


def test_a_scenario_is_found_by_its_name() -> None:
    found = scenarios(MEDIA)

    assert found.named("encode fails").status == "failed"
    with pytest.raises(KeyError, match="there is no scenario 'x'; there are as it should go, probe fails"):
        found.named("x")


def test_sixty_steps_take_less_than_a_second() -> None:
    steps: dict[str, Any] = {
        f"s{n}": {"task": "t", "after": [f"s{n - 5}", f"s{n - 3}"]} for n in range(5, 60)
    }
    steps |= {f"s{n}": {"task": "t"} for n in range(5)}
    begun = time.process_time()

    found = scenarios({"penstock": 1, "name": "wide", "steps": steps})

    assert (found.uncovered, len(found)) == ((), 61)
    assert time.process_time() - begun < 1


def test_a_join_of_many_decisions_is_found_among_a_million_ways() -> None:
    steps: dict[str, Any] = {
        f"d{n}": {"task": "decide", "with": {"if": "data.x"}, "emits": {"then": f"t{n}", "else": f"e{n}"}}
        for n in range(20)
    }
    steps["join"] = {"task": "t", "after": [f"{'te'[n % 2]}{n}" for n in range(20)]}

    found = scenarios({"penstock": 1, "name": "wide", "steps": steps})

    assert found.uncovered == ()
    assert [scenario.name for scenario in found if "join" in scenario.outcomes] == [
        "join ends on done",
        "join fails",
    ]


# -- against brute force -----------------------------------------------------------------------------------

NAMES = ["a", "b", "c", "d"]
EVENTS = [*NAMES, *(f"{name}.failed" for name in NAMES), "START", "x", "CANCEL", "FAIL", "e"]
MANY = 300

slots = st.one_of(
    st.sampled_from(EVENTS),
    st.lists(st.sampled_from(EVENTS), min_size=2, max_size=2, unique=True).map(" | ".join),
    st.lists(st.sampled_from(EVENTS), min_size=3, max_size=3, unique=True).map(
        lambda of: {"need": 2, "of": of}
    ),
)
steps = st.fixed_dictionaries(
    {"task": st.just("t"), "after": st.lists(slots, max_size=2)},
    optional={
        "emits": st.sampled_from(["e", "OK", {"done": "e", "else": "OK"}]),
        "cancels": st.sampled_from(NAMES[:2]).map(lambda name: [name]),
    },
)
workflows = st.fixed_dictionaries(
    {
        "penstock": st.just(1),
        "name": st.just("w"),
        "external": st.just([{"name": "x", "optional": True}]),
        "on_failure": st.sampled_from(["fail", "continue"]),
        "steps": st.lists(steps, min_size=1, max_size=4).map(
            lambda some: dict(zip(NAMES, some, strict=False))
        ),
    }
)


def everything(definition: Any) -> set[Pair] | None:
    """All pairs of step and port that any order of moves reaches; None where there are too many states."""
    flow = relaxed(load(definition).flow)
    root = begin(flow)
    todo, seen, pairs = [root], {whole(root)}, set(root.ended)
    while todo:
        node = todo.pop()
        for move in moves(flow, node):
            child = follow(flow, node, move)
            pairs.update(child.ended)
            if whole(child) not in seen:
                seen.add(whole(child))
                todo.append(child)
        if len(seen) > MANY:
            return None
    return pairs


def whole(node: Node) -> Hashable:
    """Everything about a run but its history numbers."""
    snapshot = node.snapshot
    return (
        snapshot.status,
        snapshot.ending,
        snapshot.ok,
        bool(snapshot.put_off),
        frozenset(snapshot.came.items()),
        frozenset(
            (place, tuple(token.name for token in queue)) for place, queue in snapshot.marking.tokens.items()
        ),
        frozenset(snapshot.marking.owed.items()),
        tuple(sorted(firing.step for firing in snapshot.firings.values())),
    )


@given(workflows)
@settings(max_examples=120, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
def test_scenarios_cover_all_that_brute_force_reaches(definition: dict[str, Any]) -> None:
    try:
        reachable = everything(definition)
    except DefinitionError:
        assume(False)
    assume(reachable is not None)

    found = scenarios(definition)

    assert covered(found) == reachable
    assert {each.reason for each in found.uncovered} <= {"cannot be reached"}
    for scenario in found:
        run = scenario.play()
        assert (run.status, ended(run)) == (scenario.status, scenario.outcomes)
