"""`missing-data`: a built-in task that is not given what it needs is told before it fails."""

from __future__ import annotations

import time
from typing import Any

import pytest

from penstock.flow.checks.checks import check_flow
from penstock.flow.checks.findings import Finding
from penstock.flow.compile.compile import compile_flow
from penstock.flow.format.reading import from_plain
from penstock.flow.model.offer import Offer
from penstock.steps.kinds import OFFERS, kinds_with


def found(
    step: dict[str, Any], offers: dict[str, Offer] | None = None, verdict: str = "proved"
) -> list[Finding]:
    known = {**OFFERS, **(offers or {})}
    definition = from_plain({"penstock": 1, "name": "w", "steps": {"s": step}})
    report = check_flow(compile_flow(definition, kinds_with(known)), known, clock=time.monotonic)
    assert report.verdict == verdict
    return [each for each in report.findings if each.code in ("missing-data", "time-outs")]


@pytest.mark.parametrize(
    ("step", "wanted"),
    [
        ({"task": "mail"}, "'to'"),
        ({"task": "mail", "with": {"subject": "Hi"}}, "'to'"),
        ({"task": "http"}, "'url'"),
        ({"task": "http", "with": {"kind": "lambda-invoke"}}, "'function'"),
        ({"task": "service", "with": {"action": "start"}}, "'url'"),
    ],
)
def test_what_a_built_in_task_needs_and_is_not_given_is_a_warning(step: dict[str, Any], wanted: str) -> None:
    [finding] = found(step)

    assert (finding.severity, finding.step) == ("warning", "s")
    assert finding.message == f"Step 's' is not filled in: `{step['task']}` needs {wanted}."


@pytest.mark.parametrize(
    ("params", "wanted"),
    [({}, "'event' and 'key'"), ({"event": "e"}, "'key'"), ({"key": {"k": "1"}}, "'event'")],
)
def test_an_emit_that_says_nothing_can_be_kept_but_not_published(params: dict[str, Any], wanted: str) -> None:
    [finding] = found({"task": "emit", "with": params}, verdict="refuted")

    assert (finding.severity, finding.step) == ("error", "s")
    assert finding.message == f"Step 's' is not filled in: `emit` needs {wanted}."


@pytest.mark.parametrize(
    "step",
    [
        {"task": "mail", "with": {"to": "${ run.subject }"}},
        {"task": "http", "with": {"url": "https://f.example"}},
        {"task": "http", "with": {"kind": "lambda-invoke", "function": "f"}},
        {"task": "update"},
        {"task": "emit", "with": {"event": "e", "key": {"k": "1"}}},
        {"task": "emit", "disabled": True},
        {"task": "mail", "disabled": True},
    ],
)
def test_what_is_given_or_not_needed_is_not_told(step: dict[str, Any]) -> None:
    assert found(step) == []


def test_a_task_of_a_user_under_a_built_in_name_is_not_held_to_it() -> None:
    assert found({"task": "mail"}, {"mail": Offer(name="mail")}) == []


def test_a_reminder_that_would_come_after_the_end_is_told() -> None:
    def said(**times: Any) -> list[str]:
        approval = {"task": "approval", "with": {"text": "Well?", **times}}
        return [
            each.message for each in found({**approval, "emits": {"approved": "OK", "rejected": "CANCEL"}})
        ]

    late = "Step 's': `remind` (3d) never matters, because `due` (2d) ends first."
    assert said(due="2d", remind="3d") == [late]
    assert said(due="2d", remind="1d") == said(due="2d", remind="${ data.when }") == said(remind="3d") == []
