"""The built-in boxes: what each does, and the one sentence for each wrong parameter."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from penstock.flow.model.problems import DefinitionError
from penstock.steps.kinds import IO_TASKS, KINDS, OFFERS
from tests.flow.driver import START_TIME, Drive, complaints, flow_of


def test_decide_goes_then_or_else() -> None:
    flow = flow_of(
        "d: {task: decide, with: {if: 'data.n > 1'}, emits: {then: x, else: y}}\na: {task: t, after: x | y}"
    )

    assert Drive(flow, {"n": 2}).step("d").port == "then"
    assert Drive(flow, {"n": 1}).step("d").port == "else"


def test_switch_takes_the_first_case_that_holds() -> None:
    flow = flow_of("s: {task: switch, with: {cases: {big: data.n > 10, some: data.n > 0}}}")

    assert [Drive(flow, {"n": n}).step("s").port for n in (11, 5, 0)] == ["big", "some", "else"]


def test_set_sets_its_parameters_on_the_data() -> None:
    run = Drive(
        flow_of("s: {task: set, with: {a: '${ data.n + 1 }', b: {c: null}, gone: null}}"), {"n": 1, "gone": 2}
    )

    assert run.snapshot.data == {"n": 1, "a": 2, "b": {}}


def test_terminate_ends_its_branch_and_nothing_follows() -> None:
    run = Drive(flow_of("a: {task: terminate}\nb: {task: t}"))

    assert (run.step("a").status, run.step("a").port, set(run.tasks)) == ("complete", None, {"b"})


def test_fail_ends_the_run_with_a_message() -> None:
    run = Drive(
        flow_of("a: {task: fail, with: {message: 'no ${ data.what }'}}\nb: {task: t}"), {"what": "space"}
    )

    assert run.status == "failed"
    assert run.snapshot.error is not None
    assert run.snapshot.error.message == "no space"


@pytest.mark.parametrize(
    ("params", "until"),
    [
        ("for: 90s", START_TIME + timedelta(seconds=90)),
        ("for: 2", START_TIME + timedelta(seconds=2)),
        ("for: '${ data.minutes }m'", START_TIME + timedelta(minutes=5)),
        ("until: '2026-03-02T00:00:00Z'", datetime(2026, 3, 2, tzinfo=UTC)),
        ("until: '2026-03-02T01:00:00+01:00'", datetime(2026, 3, 2, tzinfo=UTC)),
        ("until: '${ data.at }'", datetime(2026, 3, 3, tzinfo=UTC)),
    ],
)
def test_wait_is_done_when_its_time_has_come(params: str, until: datetime) -> None:
    run = Drive(
        flow_of(f"w: {{task: wait, with: {{{params}}}}}"), {"minutes": 5, "at": "2026-03-03T00:00:00Z"}
    )

    assert (run.status, run.step("w").status) == ("running", "running")
    run.ring()

    assert (run.status, run.now) == ("succeeded", until)


def test_a_time_that_has_passed_is_no_wait() -> None:
    run = Drive(flow_of("w: {task: wait, with: {until: '2020-01-01T00:00:00Z'}}"))

    run.ring()

    assert (run.status, run.waited) == ("succeeded", timedelta(0))


def test_a_time_that_cannot_be_read_is_a_failure() -> None:
    run = Drive(flow_of("w: {task: wait, with: {for: '${ data.n }'}}"), {"n": "soon"})

    assert run.status == "failed"
    assert run.snapshot.error is not None
    assert (run.snapshot.error.kind, run.snapshot.error.message.startswith("`for` ")) == ("expression", True)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("event: '${ data.n }', key: {j: a}", "`event` must be the name of an event, it is a number"),
        ("event: e, key: '${ data.n }'", "`key` must be a map of correlation keys to texts"),
        ("event: e, key: {j: '${ [1] }'}", "`key` must be a map of correlation keys to texts, 'j' is a list"),
        (
            "event: e, key: {j: a}, set: '${ \"x\" }'",
            "`set` must be a map of what to change in the data, it is a text",
        ),
        ("event: e, key: {j: a}, id: '${ data.n }'", "`id` must be a text, it is a number"),
    ],
)
def test_emit_says_what_it_cannot_use(given: str, message: str) -> None:
    run = Drive(flow_of(f"s: {{task: emit, with: {{{given}}}}}"), {"n": 1})

    error = run.snapshot.steps["s"].error
    assert error is not None
    assert (error.kind, error.message) == ("expression", message)


def test_emit_hands_an_event_over_and_is_done() -> None:
    steps = "e: {task: emit, with: {event: job done, key: {job: '${ data.job }'}, data: {x: 1}, id: '7'}}"
    run = Drive(flow_of(steps), {"job": 12})

    [emission] = run.plans[0].emissions
    assert (emission.event, emission.key, emission.data, emission.id) == (
        "job done",
        {"job": "12"},
        {"x": 1},
        "7",
    )
    assert run.status == "succeeded"


def test_boxes_need_no_attempt() -> None:
    assert (
        Drive(flow_of("a: {task: set}\nb: {task: tag, after: a}\nc: {task: terminate, after: b}")).dispatched
        == []
    )


WRONG = [
    ("decide", "{}", "`decide` needs a condition: with: {if: data.size > 1000}"),
    ("decide", "{iff: 'true'}", "`decide` has no parameter `iff`; did you mean `if`?"),
    ("decide", "{if: '${ data.n }'}", "step 'x': `if` is an expression already: write it without ${ }"),
    ("decide", "{if: 3}", "`if` must be a condition, such as data.size > 1000"),
    ("switch", "{}", "`switch` needs cases: with: {cases: {big: data.size > 1000}}"),
    (
        "switch",
        "{cases: {else: 'true'}}",
        "step 'x': a case cannot be called 'else': every switch has that port",
    ),
    ("tag", "{set: [1]}", "`set` must be a map of tags, such as {mime: video/mp4}"),
    ("tag", "{tags_mode: both}", "`tags_mode` must be one of merge, replace, not 'both'"),
    ("wait", "{}", "`wait` needs either `for` a duration or `until` a time"),
    (
        "wait",
        "{until: tomorrow}",
        "`until` must be a time such as 2026-05-01T12:00:00Z, not 'tomorrow'",
    ),
    ("emit", "{events: e}", "`emit` has no parameter `events`; did you mean `event`?"),
    ("terminate", "{why: x}", "`terminate` has no parameter `why`; it takes none"),
]


@pytest.mark.parametrize(("task", "params", "sentence"), WRONG)
def test_a_wrong_parameter_gets_one_sentence(task: str, params: str, sentence: str) -> None:
    assert complaints(f"x: {{task: {task}, with: {params}}}") == [sentence]


@pytest.mark.parametrize(
    "line",
    [
        "x: {task: decide, with: {if: 'data.'}}",
        "x: {task: t, with: {a: '${ data. }'}}",
        "x: {task: t, each: 'data['}",
        "x: {task: t, serialize: nobody.knows}",
        "x: {task: t, match: tags.x}",
    ],
)
def test_a_wrong_expression_is_found_before_anything_runs(line: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        flow_of(line)

    [problem] = caught.value.problems
    assert problem.code == "bad_expression"
    assert "column" in problem.message


def test_all_problems_are_told_at_once() -> None:
    with pytest.raises(DefinitionError) as caught:
        flow_of("a: {task: decide, with: {if: '('}}\nb: {task: t, each: '('}\nc: {task: t, serialize: ')'}")

    assert len(caught.value.problems) == 3


def test_a_step_whose_settings_are_wrong_fails_when_it_fires() -> None:
    run = Drive(flow_of("w: {task: wait, with: {secs: 3}}"))

    assert run.status == "failed"
    assert run.snapshot.error is not None
    said = "`wait` has no parameter `secs`; it takes for, until"
    assert (run.snapshot.error.kind, run.snapshot.error.message) == ("expression", said)


def test_every_built_in_task_of_the_format_has_an_offer() -> None:
    assert set(KINDS) == {"decide", "switch", "tag", "set", "terminate", "fail", "wait", "emit"}
    assert set(IO_TASKS) == {"http", "update", "approval", "workflow", "service", "mail", "shell"}
    assert all(offer.title and offer.doc and offer.name == name for name, offer in OFFERS.items())


@pytest.mark.parametrize(
    ("step", "problem"),
    [
        ("{task: switch, with: {cases: {big: 5}}, emits: {big: x}}", "`cases.big` must be a condition"),
        ("{task: approval, with: {role: king}, emits: {approved: x}}", "`role` of `approval` does not fit"),
        ("{task: decide, with: {if: 'data.'}, emits: {then: x}, disabled: else}", "step 's'"),
    ],
)
def test_what_is_wrong_with_a_parameter_is_told_and_nothing_of_the_ports_of_a_box_that_cannot_be(
    step: str, problem: str
) -> None:
    [said] = complaints(f"s: {step}\na: {{task: t, after: x}}\nb: {{task: t, after: s.more}}")

    assert problem in said


def test_a_wait_that_cannot_be_is_told_with_its_value() -> None:
    [said] = complaints("w: {task: wait, with: {for: -5s}}")

    assert said.startswith("`for` '-5s' is no duration")
