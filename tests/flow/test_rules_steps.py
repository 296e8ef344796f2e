"""R9 to R12: disabled steps, cancel regions, each, and the states of steps."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.flow.model.problems import DefinitionError
from penstock.flow.model.run import Failure
from penstock.flow.model.run_input import Disabled, Paused, Resumed
from penstock.flow.views.run_view import run_view, step_view
from tests.flow.driver import Drive, flow_of


def test_r9_a_disabled_step_is_done_at_once_without_an_attempt() -> None:
    run = Drive(flow_of("a: {task: t, disabled: true}\nb: {task: t, after: a}"))

    assert set(run.tasks) == {"b"}
    assert (run.step("a").status, run.step("a").attempts, run.step("a").output) == ("disabled", 0, None)
    assert run.tasks["b"].taken.tokens()[0].load.data is None


def test_r9_a_port_can_be_named() -> None:
    steps = """
d: {task: decide, disabled: else, with: {if: 'true'}, emits: {then: x, else: y}}
a: {task: t, after: x}
b: {task: t, after: y}
"""
    assert set(Drive(flow_of(steps)).tasks) == {"b"}


def test_r9_a_disabled_step_is_shown_so_before_it_fires() -> None:
    run = Drive(flow_of("a: {task: t}\nb: {task: t, disabled: true, after: a}\nc: {task: t, after: b}"))
    assert [step_view(run.flow, run.snapshot, name)["status"] for name in "bc"] == ["disabled", "blocked"]

    run.happen(Disabled("b", None))
    run.happen(Disabled("c", "done"))

    assert [step_view(run.flow, run.snapshot, name)["status"] for name in "bc"] == ["blocked", "disabled"]


def test_r9_a_step_without_that_port_cannot_be_disabled_to_it() -> None:
    with pytest.raises(
        DefinitionError, match=r"step 'd' cannot be disabled to port 'done': its ports are then, else"
    ):
        flow_of("d: {task: decide, disabled: true, with: {if: 'true'}}")


def test_r9_it_can_be_set_for_one_run_and_taken_back() -> None:
    flow = flow_of("a: {task: t}\nb: {task: t, after: a}\nc: {task: t, after: b}")
    run = Drive(flow)

    assert run.happen(Disabled("b")) == "accepted"
    assert run.happen(Disabled("b", "elsewhere")) == "refused"
    run.done("a")
    assert (set(run.tasks), run.step("b").status) == ({"c"}, "disabled")

    other = Drive(flow_of("a: {task: t}\nb: {task: t, disabled: true, after: a}\nc: {task: t, after: b}"))
    other.happen(Disabled("b", None))
    other.done("a")
    assert set(other.tasks) == {"b"}


REGION = """
a: {task: t}
slow: {task: t, after: a}
join: {task: t, after: [a, never]}
stop: {task: t, after: halt, cancels: [slow, join]}
never: {task: t, after: halt2}
"""


def test_r10_a_cancel_region_withdraws_firings_and_waiting_events_when_the_step_begins() -> None:
    run = Drive(flow_of(REGION, "external: [halt, {name: halt2, optional: true}]"))
    run.done("a")
    assert set(run.tasks) == {"slow"}

    run.event("halt")

    assert set(run.tasks) == {"stop"}
    assert run.step("slow").status == "canceled"
    assert [(entry.step, entry.firing is not None) for entry in run.entries("withdrawn")] == [
        ("slow", True),
        ("join", False),
    ]
    run.done("stop")
    assert run.status == "succeeded"


def test_r10_a_withdrawn_firing_fires_nothing_and_its_report_is_superseded() -> None:
    run = Drive(flow_of(REGION, "external: [halt, {name: halt2, optional: true}]"))
    run.done("a")
    late = run.tasks["slow"]
    run.event("halt")
    run.tasks["slow"] = late

    assert run.done("slow") == "superseded"
    assert "slow" not in run.events()


def test_r10_a_step_that_cancels_itself_keeps_its_own_firing() -> None:
    steps = "x: {task: t, after: e, cancels: [x], parallel: 2}"
    run = Drive(flow_of(steps, "external: [{name: e, many: true}]"))

    run.event("e")
    run.event("e")

    assert len(run.snapshot.firings) == 1
    assert run.tasks["x"].taken.tokens()[0].number == run.entries("event")[-1].seq


def test_r10_keys_of_withdrawn_firings_are_freed() -> None:
    steps = "x: {task: t, serialize: '1'}\nstop: {task: t, after: halt, cancels: [x]}"
    run = Drive(flow_of(steps, "external: [halt]"))
    assert run.locks.holders("x/1")

    run.event("halt")

    assert not run.locks.holders("x/1")


EACH = "e: {task: t, each: data.files, with: {file: '${ item }', n: '${ index }'}}\nnext: {task: t, after: e}"


def test_r11_each_is_one_firing_with_an_element_for_each_item() -> None:
    run = Drive(flow_of(EACH), {"files": ["a", "b"]})

    assert run.fired("e") == 1
    assert [task.params for task in run.tasks.values()] == [{"file": "a", "n": 0}, {"file": "b", "n": 1}]
    run.done("e[1]", "B")
    assert run.step("e").elements == (2, 1, 0)
    run.done("e[0]", "A")

    assert run.tasks["next"].taken.tokens()[0].load.data == ["A", "B"]


@pytest.mark.parametrize(
    ("files", "what"),
    [
        (None, "null"),
        ({"a": 1}, "a map"),
        ("a", "the text 'a'"),
        (5, "the number 5"),
        (True, "true"),
    ],
)
def test_r11_what_is_no_list_is_told_in_words_of_the_format(files: Any, what: str) -> None:
    run = Drive(flow_of(EACH), {"files": files})

    assert run.step("e").error == Failure("expression", f"`each` must give a list; it gave {what}")


def test_r11_no_items_is_done_at_once() -> None:
    run = Drive(flow_of(EACH), {"files": []})

    assert run.tasks["next"].taken.tokens()[0].load.data == []


@pytest.mark.parametrize("files", ["text", 3, {"a": 1}])
def test_r11_what_is_not_a_list_is_a_failure(files: Any) -> None:
    run = Drive(flow_of(EACH), {"files": files})

    assert run.status == "failed"
    assert run.snapshot.error is not None
    assert run.snapshot.error.kind == "expression"


def test_r11_parallel_bounds_the_elements() -> None:
    run = Drive(flow_of(EACH.replace("each:", "parallel: 2, each:")), {"files": list("abcde")})

    assert set(run.tasks) == {"e[0]", "e[1]"}
    run.done("e[1]")
    assert set(run.tasks) == {"e[0]", "e[2]"}
    for index in (0, 2, 3, 4):
        run.done(f"e[{index}]", index)

    assert run.tasks["next"].taken.tokens()[0].load.data == [0, None, 2, 3, 4]


def test_r11_the_first_failure_decides_and_the_rest_are_withdrawn() -> None:
    run = Drive(flow_of(EACH + "\nmend: {task: t, after: e.failed}"), {"files": list("abc")})
    run.done("e[0]")

    run.fail("e[2]", "bad")

    assert set(run.tasks) == {"mend"}
    data = run.tasks["mend"].taken.tokens()[0].load.data
    assert (data["index"], data["item"], data["error"]["message"]) == (2, "c", "bad")
    assert run.step("e").elements == (3, 1, 1)
    assert run.fired("next") == 0


def test_r11_another_port_decides_too() -> None:
    steps = """
e: {task: t, each: data.files, emits: {done: all, odd: strange}}
s: {task: t, after: strange}
"""
    run = Drive(flow_of(steps), {"files": list("ab")})

    run.done("e[1]", {"x": 1}, port="odd")

    assert run.tasks["s"].taken.tokens()[0].load.data == {"item": "b", "index": 1, "output": {"x": 1}}


def test_r11_collect_lets_all_run_and_lists_the_failures() -> None:
    run = Drive(flow_of(EACH.replace("each:", "each_failure: collect, each:")), {"files": list("ab")})

    run.fail("e[0]", "bad")
    run.done("e[1]", "B")

    assert run.step("e").elements == (2, 1, 1)
    assert run.tasks["next"].taken.tokens()[0].load.data == [
        {"error": {"kind": "error", "message": "bad", "detail": None}},
        "B",
    ]


def test_r11_attempts_and_budgets_are_an_elements() -> None:
    run = Drive(flow_of(EACH.replace("each:", "retries: 1, each:")), {"files": list("ab")})

    run.fail("e[0]")
    run.fail("e[1]")
    run.ring()
    run.ring()
    run.done("e[0]")
    run.done("e[1]")

    assert run.fired("next") == 1
    assert [attempt.attempt for attempt in run.dispatched if attempt.step == "e"] == [1, 1, 2, 2]


def test_r11_an_element_whose_parameters_cannot_be_told_fails_alone_when_collected() -> None:
    steps = """
e: {task: t, each: data.files, each_failure: collect, with: {n: '${ 10 / item }'}}
next: {task: t, after: e}
"""
    run = Drive(flow_of(steps), {"files": [1, 0, 5]})

    run.done("e[0]", "x")
    run.done("e[2]", "y")

    output = run.tasks["next"].taken.tokens()[0].load.data
    assert (output[0], output[1]["error"]["kind"], output[2]) == ("x", "expression", "y")


def test_r11_each_over_boxes_that_need_no_worker() -> None:
    steps = "e: {task: set, each: data.files, with: {last: '${ item }'}}"
    run = Drive(flow_of(steps), {"files": list("abc")})

    assert (run.status, run.snapshot.data["last"]) == ("succeeded", "c")
    assert run.step("e").output == [{"last": "a"}, {"last": "b"}, {"last": "c"}]


def test_r11_ten_thousand_elements_are_nothing_special() -> None:
    flow = flow_of("e: {task: t, each: data.files}")
    run = Drive(flow, {"files": list(range(1000))})

    for index in (0, 999, 500):
        run.done(f"e[{index}]", index)

    assert run.step("e").elements == (1000, 3, 0)
    assert len(run.tasks) == 997


def test_r12_a_step_shows_its_latest_firing_and_counts_them() -> None:
    run = Drive(flow_of("x: {task: t, after: e, retries: 1}", "external: [{name: e, many: true}]"))

    run.event("e")
    assert (run.step("x").status, run.step("x").firings) == ("running", 1)
    run.fail("x")
    assert (run.step("x").status, run.step("x").reason) == ("ready", "backoff")
    run.ring()
    run.done("x", 1)
    assert (run.step("x").status, run.step("x").output, run.step("x").attempts) == ("complete", 1, 2)
    run.event("e")

    assert (run.step("x").status, run.step("x").firings) == ("running", 2)
    assert step_view(run.flow, run.snapshot, "x")["attempts"] == 1


def test_r12_a_step_behind_a_key_is_ready_for_that_reason() -> None:
    steps = "x: {task: t, serialize: '\"k\"'}\ny: {task: t, serialize: '\"k\"', serialize_scope: x}"
    run = Drive(flow_of(steps))

    assert set(run.tasks) == {"x"}
    assert (run.step("y").status, run.step("y").reason) == ("ready", "key")
    run.done("x")
    assert set(run.tasks) == {"y"}


def test_r12_a_pause_holds_what_would_be_dispatched_and_keeps_its_order() -> None:
    steps = "a: {task: t}\nb: {task: t, retries: 1}\nc: {task: t, after: a}\nd: {task: t, after: a}"
    run = Drive(flow_of(steps))
    run.fail("b")
    assert run.happen(Paused()) == "accepted"

    run.done("a")
    run.ring()
    assert (run.status, run.tasks, run.step("b").reason) == ("paused", {}, "pause")
    shown = run_view(run.flow, run.snapshot)["steps"]["c"]
    assert (shown["status"], shown["reason"]) == ("ready", "pause")
    assert run.happen(Resumed()) == "accepted"

    assert (run.status, list(run.tasks)) == ("running", ["b", "c", "d"])


def test_r11_each_needs_a_task_that_can_be_done() -> None:
    with pytest.raises(
        DefinitionError, match=r"step 'd' cannot have `each`: task 'decide' has no port `done`"
    ):
        flow_of("d: {task: decide, each: '[1]', with: {if: 'true'}}")


def test_an_attempt_that_is_withdrawn_in_the_decision_that_made_it_reaches_no_worker() -> None:
    run = Drive(flow_of("a: {task: t}\nb: {task: fail}"))

    assert (run.status, run.dispatched) == ("failed", [])


def test_r9_a_step_enabled_for_one_run_has_all_its_ports() -> None:
    run = Drive(
        flow_of("a: {task: t, disabled: true, after: e}\nmend: {task: t, after: a.failed}", "external: [e]")
    )
    run.happen(Disabled("a", None))
    run.event("e")

    run.fail("a")

    assert set(run.tasks) == {"mend"}


def test_the_message_of_a_fail_step_is_why_the_run_failed_also_right_after_a_failure() -> None:
    said = Drive(flow_of("a: {task: t, fails: bad}\nh: {task: fail, after: bad, with: {message: sorry}}"))
    silent = Drive(flow_of("a: {task: t, fails: bad}\nh: {task: fail, after: bad}"))
    for run in (said, silent):
        run.fail("a")

    errors = [run.snapshot.error for run in (said, silent)]
    assert [error and error.message for error in errors] == ["sorry", "no"]
    assert errors[0] is not None and errors[0].detail["after"]["message"] == "no"
