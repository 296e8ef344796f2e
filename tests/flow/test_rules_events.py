"""R1 to R5: when steps fire, what they fire, what runs at once, loops."""

from __future__ import annotations

from itertools import permutations

import pytest

from penstock.flow.model.definition import Definition
from penstock.flow.model.problems import DefinitionError
from tests.flow.driver import Drive, flow_of

JOIN = """
a: {task: t}
b: {task: t}
c: {task: t}
join: {task: t, after: [a, b, c]}
"""


@pytest.mark.parametrize("order", list(permutations("abc")))
def test_r1_a_join_fires_once_on_the_last_of_its_events(order: tuple[str, ...]) -> None:
    run = Drive(flow_of(JOIN))

    for step in order[:2]:
        run.done(step)
        assert run.fired("join") == 0
    run.done(order[2])

    assert run.fired("join") == 1
    assert run.tasks.keys() == {"join"}


def test_r1_an_either_or_slot_fires_for_each_event() -> None:
    run = Drive(flow_of("a: {task: t}\nb: {task: t}\nafter: {task: t, after: a | b}"))

    run.done("a")
    run.done("b")
    run.done("after")

    assert run.fired("after") == 2


def test_r1_two_of_three_takes_the_first_two_and_swallows_the_third() -> None:
    run = Drive(
        flow_of("a: {task: t}\nb: {task: t}\nc: {task: t}\nd: {task: t, after: {need: 2, of: [a, b, c]}}")
    )

    run.done("c")
    run.done("a")
    assert run.fired("d") == 1
    run.done("d")
    run.done("b")

    assert run.fired("d") == 1
    assert run.status == "succeeded"
    [dropped] = run.entries("withdrawn")
    assert (dropped.step, dropped.event, dropped.data["reason"]) == ("d", "b", "not needed")


MATCH = "x: {task: t, after: [left, right], match: event.data.id}"
MATCH_HEAD = "external: [{name: left, many: true}, {name: right, many: true}]"


def test_r1_match_joins_only_events_with_the_same_key() -> None:
    run = Drive(flow_of(MATCH, MATCH_HEAD))

    run.event("left", {"id": 1})
    run.event("right", {"id": 2})
    assert run.fired("x") == 0
    run.event("right", {"id": 1.0})

    assert run.fired("x") == 1
    assert run.tasks["x"].taken.key == "1"


def test_r1_an_event_whose_key_fails_or_is_null_is_set_aside_and_shown() -> None:
    run = Drive(flow_of(MATCH, MATCH_HEAD))

    run.event("left", {"other": 1})
    run.event("left", {"id": None})

    assert [(aside.step, aside.token.name) for aside in run.snapshot.aside] == [("x", "left"), ("x", "left")]
    assert "id" in run.snapshot.aside[0].reason
    assert run.snapshot.aside[1].reason == "its key is null"


def test_r2_every_step_that_waits_gets_its_own_copy() -> None:
    run = Drive(
        flow_of("a: {task: t}\nb: {task: t, after: a}\nc: {task: t, after: a}\nd: {task: t, after: [a, c]}")
    )

    run.done("a", {"n": 1})

    assert run.tasks.keys() == {"b", "c"}
    run.done("c")
    assert run.tasks.keys() == {"b", "d"}
    assert run.tasks["d"].taken.tokens()[0].load.data == {"n": 1}


def test_r3_a_port_fires_its_events_the_port_and_the_step() -> None:
    steps = """
a: {task: t, emits: [x, y, x]}
b: {task: t, after: [x, y, a, a.done]}
"""
    run = Drive(flow_of(steps))

    run.done("a")

    assert run.events() == ["START", "x", "y", "a.done", "a"]
    assert run.fired("b") == 1


def test_r3_only_the_port_it_ended_on_is_fired() -> None:
    steps = """
d: {task: decide, with: {if: "data.n > 1"}, emits: {then: big, else: small}}
b: {task: t, after: big}
s: {task: t, after: small}
"""
    assert Drive(flow_of(steps), {"n": 2}).tasks.keys() == {"b"}
    assert Drive(flow_of(steps), {"n": 1}).tasks.keys() == {"s"}


def test_r3_a_failure_carries_what_went_wrong() -> None:
    run = Drive(flow_of("a: {task: t, fails: broken}\nb: {task: t, after: broken}"))

    run.fail("a", "disk full")

    [broken] = run.tasks["b"].taken.tokens()
    assert broken.load.data == {
        "step": "a",
        "error": {"kind": "error", "message": "disk full", "detail": None},
        "attempts": 1,
        "index": None,
    }


@pytest.mark.parametrize("condition", ["data.missing", "1", "'yes'", "1 / 0 == 1"])
def test_r3_a_condition_that_fails_or_is_no_bool_is_a_failure_never_a_branch(condition: str) -> None:
    steps = f"""
d: {{task: decide, with: {{if: "{condition}"}}, emits: {{then: x, else: y}}}}
b: {{task: t, after: x | y}}
"""
    run = Drive(flow_of(steps))

    assert run.status == "failed"
    assert run.snapshot.error is not None
    assert run.snapshot.error.kind == "expression"
    assert run.fired("b") == 0


def test_r3_a_port_that_the_step_does_not_have_is_a_failure() -> None:
    run = Drive(flow_of("a: {task: t}"))

    run.done("a", port="elsewhere")

    assert run.status == "failed"
    assert run.snapshot.error is not None
    assert run.snapshot.error.message == (
        "the task ended on a port that step 'a' does not have; it has done, failed"
    )


def test_r3_emits_of_a_port_that_the_task_does_not_offer_is_refused() -> None:
    with pytest.raises(
        DefinitionError, match=r"step 'd' has no port 'thn': task 'decide' ends on then, else, failed"
    ):
        flow_of("d: {task: decide, with: {if: 'true'}, emits: {thn: x}}")


def test_r4_steps_run_at_once_wherever_events_allow() -> None:
    assert Drive(flow_of("a: {task: t}\nb: {task: t}\nc: {task: t, after: START}")).tasks.keys() == {
        "a",
        "b",
        "c",
    }


def test_r4_two_firings_of_one_step_do_not_overlap() -> None:
    run = Drive(flow_of("x: {task: t, after: e}", "external: [{name: e, many: true}]"))

    for number in range(3):
        run.event("e", number)
    assert [attempt.taken.tokens()[0].load.data for attempt in run.dispatched] == [0]
    run.done("x")
    run.done("x")

    assert [attempt.taken.tokens()[0].load.data for attempt in run.dispatched] == [0, 1, 2]


def test_r4_parallel_lets_firings_overlap() -> None:
    run = Drive(flow_of("x: {task: t, after: e, parallel: 2}", "external: [{name: e, many: true}]"))

    for number in range(3):
        run.event("e", number)

    assert len(run.snapshot.firings) == 2


LOOP = """
work: {task: t, after: START | again}
check: {task: decide, after: work, with: {if: "data.n < 3"}, emits: {then: again, else: enough}}
end: {task: t, after: enough, emits: OK}
"""


def test_r5_a_loop_turns_until_it_is_enough() -> None:
    run = Drive(flow_of(LOOP), {"n": 0})

    for turn in range(1, 4):
        run.done("work", set={"n": turn})
    run.done("end")

    assert (run.fired("work"), run.fired("check"), run.status) == (3, 3, "succeeded")


def test_r5_a_loop_of_decisions_alone_does_not_hold_the_engine() -> None:
    steps = """
a: {task: set, after: START | b, with: {n: "${ data.n + 1 }"}}
b: {task: decide, after: a.done, with: {if: "data.n < 5000"}, emits: {then: b, else: OK}}
"""
    flow = flow_of(
        steps.replace("after: START | b,", "after: START | again,").replace("then: b", "then: again")
    )
    assert isinstance(flow.definition, Definition)

    run = Drive(flow, {"n": 0})

    assert (run.status, run.snapshot.data) == ("succeeded", {"n": 5000})
    assert len(run.plans) > 5
