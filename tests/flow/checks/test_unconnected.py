"""What is connected to nothing: events from outside that no step waits for, and steps that stand alone."""

from __future__ import annotations

from tests.flow.checks.workflows import report


def test_an_event_from_outside_that_no_step_waits_for_is_a_warning() -> None:
    text = """
external:
  - late
  - wanted
  - {name: noted, from: {kind: webhook, verify: sns, set: "{'a': body.a}"}}
steps:
  a: {task: job, after: wanted, emits: OK}
"""

    assert [(one.code, one.severity, one.event, one.message) for one in report(text).findings] == [
        (
            "unused-external",
            "warning",
            "late",
            "Event 'late' may come from outside, but no step waits for it.",
        )
    ]


def test_a_step_that_is_wired_to_nothing_beside_others_is_a_warning() -> None:
    text = """
steps:
  a: {task: job}
  b: {task: job, after: a}
  alone: {task: job}
  ends: {task: job, emits: OK}
  heard: {task: job, fails: lost}
  hears: {task: job, after: lost, fails: FAIL}
"""

    found = [one for one in report(text).findings if one.code == "isolated-step"]
    assert [(one.severity, one.step, one.message) for one in found] == [
        ("warning", "alone", "Step 'alone' waits for nothing, and no step waits for it.")
    ]
