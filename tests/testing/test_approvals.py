"""Approvals in a test: they wait until the test decides them, and fall due on the virtual clock."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.runtime.errors import Invalid, InvalidFields, NotSeparate
from penstock.testing import World, play

RELEASE = """
penstock: 1
name: release
steps:
  build: {task: build}
  ask:
    task: approval
    after: build
    with:
      text: "Release ${ data.version }?"
      role: author
      due: 2d
      remind: 1d
      separate: true
      fields: {type: object, required: [why], properties: {why: {type: string}}}
    emits: {approved: go, rejected: stop}
  ship: {task: ship, after: go, emits: OK}
  tell: {task: tell, after: stop | ask.failed, emits: OK}
"""


def ask(**more: Any) -> Any:
    return play(RELEASE, input={"version": "1.2"}, approvals="wait", **more)


def test_an_approval_waits_and_says_what_it_asks() -> None:
    run = ask()

    assert (run.status, run.order) == ("waiting", ["build"])
    [asked] = run.approvals
    assert (asked["step"], asked["text"], asked["role"]) == ("ask", "Release 1.2?", "author")


def test_a_decision_goes_on_with_its_fields() -> None:
    run = ask().decide("ask", "approved", fields={"why": "it is good"}, by="ann")

    run.expect("succeeded", fired=["ship"], never=["tell"])
    output = run.steps["ask"].output
    assert (output["decision"], output["fields"], output["by"]) == ("approved", {"why": "it is good"}, "ann")
    assert run.approvals == []


def test_a_rejection_ends_on_its_own_port() -> None:
    ask().decide("ask", "reject").expect("succeeded", fired=["tell"], never=["ship"])


def test_nobody_decides_in_time() -> None:
    run = ask().advance("47h")
    assert run.status == "waiting"
    assert [entry.data["reminded"] for entry in run.history if "reminded" in (entry.data or {})] == [True]

    run.advance("1h")

    run.expect("succeeded", fired=["tell"], never=["ship"])
    assert run.steps["ask"].error.kind == "timeout"


def test_a_run_that_is_canceled_asks_nothing_more() -> None:
    run = ask().cancel()

    assert (run.status, run.approvals) == ("canceled", [])
    with pytest.raises(Invalid, match="does not wait for a decision"):
        run.decide("ask")


def test_what_cannot_be_decided_so_is_refused_and_changes_nothing() -> None:
    run = ask()

    with pytest.raises(InvalidFields, match="why"):
        run.decide("ask", "approved")
    with pytest.raises(Invalid, match="approved or rejected"):
        run.decide("ask", "perhaps")
    with pytest.raises(Invalid, match="no step 'asks'"):
        run.decide("asks")

    assert run.status == "waiting"


FORM = """
penstock: 1
name: faces
steps:
  ask:
    task: approval
    with:
      fields:
        type: object
        required: [names, note]
        properties: {names: {type: array, items: {type: string}}, note: {type: string, minLength: 0}}
    emits: {approved: OK}
"""


@pytest.mark.parametrize("names", [[], ["", " "]])
def test_what_is_required_is_not_left_empty(names: list[str]) -> None:
    run = play(FORM, approvals="wait")

    with pytest.raises(InvalidFields, match="names: it is required and was left empty"):
        run.decide("ask", fields={"names": names, "note": "x"})

    assert run.status == "waiting"


def test_a_form_can_let_be_empty_what_is_required() -> None:
    play(FORM, approvals="wait").decide("ask", fields={"names": ["Ada"], "note": ""}).expect("succeeded")


def test_two_who_must_decide_are_two() -> None:
    twice = """
    penstock: 1
    name: twice
    steps:
      one: {task: approval, with: {separate: true}}
      two: {task: approval, with: {separate: true}, after: one.approved, emits: {approved: OK}}
    """
    run = play(twice, approvals="wait").decide("one", by="ann")

    with pytest.raises(NotSeparate, match="leave `separate` out of the step"):
        run.decide("two", by="ann")
    assert run.decide("two", by="bob").status == "succeeded"


def test_in_a_world_it_goes_on_when_the_test_says() -> None:
    world = World()
    run = world.start(RELEASE, input={"version": "1"}, approvals="wait")
    world.run()

    run.decide("ask", fields={"why": "x"})
    world.run()

    assert run.status == "succeeded"


def test_without_asking_every_approval_is_given_at_once() -> None:
    play(RELEASE, input={"version": "1"}).expect("succeeded", fired=["ship"])


QUEUED = """
penstock: 1
name: queued
steps:
  ask: {task: approval, serialize: "'one'", with: {due: 2h, remind: 1h}, emits: {approved: OK, rejected: OK}}
"""


def test_the_time_of_a_question_that_queues_for_its_key_counts_from_when_it_is_asked() -> None:
    world = World()
    first, second = (world.start(QUEUED, approvals="wait") for _ in range(2))
    world.advance("2h")

    assert (first.status, second.status) == ("failed", "waiting")
    assert [each["step"] for each in second.approvals] == ["ask"]
    world.advance("61m")
    assert [entry.data["reminded"] for entry in second.history if "reminded" in (entry.data or {})] == [True]
    second.decide("ask")
    world.run()
    assert second.status == "succeeded"
