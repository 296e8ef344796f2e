"""What steps give their tasks: missing, unknown and unfitting settings, and defaults that do not fit themselves."""

from __future__ import annotations

from typing import Any

import pytest
from tests.flow.checks.workflows import report

from penstock.flow.checks.checks import check_flow
from penstock.flow.checks.findings import Finding
from penstock.flow.compile.compile import compile_flow
from penstock.flow.format.definition_parser import from_plain
from penstock.flow.model.offer import Offer
from penstock.steps.kinds import OFFERS, kinds_with
from penstock.workers.task import make_task

CODES = ("missing-setting", "unknown-setting", "wrong-type", "bad-default")


def pack(path: str, count: int = 1, labels: dict[str, str] | None = None) -> str:
    return path


PACK = make_task(pack, "pack").offer


def found(step: dict[str, Any], offers: dict[str, Offer] | None = None) -> list[Finding]:
    """Of the settings and times of one step."""
    known = {**OFFERS, "pack": PACK, **(offers or {})}
    definition = from_plain({"penstock": 1, "name": "w", "steps": {"s": step}})
    findings = check_flow(
        compile_flow(definition, kinds_with(known), known), known, clock=lambda: 0.0
    ).findings
    return [each for each in findings if each.code in (*CODES, "time-outs")]


WRONG: list[tuple[str, dict[str, Any], str, str]] = [
    ("mail", {}, "missing-setting", "with"),
    ("mail", {"subject": "Hi"}, "missing-setting", "with"),
    ("mail", {"to": "", "subject": "Hi"}, "missing-setting", "with"),
    ("mail", {"to": None}, "missing-setting", "with"),
    ("mail", {"to": []}, "missing-setting", "with"),
    ("mail", {"to": 7}, "wrong-type", "with.to"),
    ("mail", {"to": "a@b.example", "subjekt": "Hi"}, "unknown-setting", "with.subjekt"),
    ("http", {}, "missing-setting", "with"),
    ("http", {"kind": "lambda-invoke"}, "missing-setting", "with"),
    ("http", {"url": "https://f.example", "method": "FETCH"}, "wrong-type", "with.method"),
    ("http", {"ulr": "https://f.example", "url": "x"}, "unknown-setting", "with.ulr"),
    ("http", {"url": "x", "timeout": "long"}, "wrong-type", "with.timeout"),
    ("http", {"url": "x", "expect": [20]}, "wrong-type", "with.expect"),
    ("service", {"action": "start"}, "missing-setting", "with"),
    ("service", {"url": "x", "misses": -1}, "wrong-type", "with.misses"),
    ("emit", {}, "missing-setting", "with"),
    ("emit", {"event": "e"}, "missing-setting", "with"),
    ("decide", {}, "missing-setting", "with.if"),
    ("decide", {"iff": "true"}, "missing-setting", "with"),
    ("decide", {"if": 3}, "wrong-type", "with.if"),
    ("switch", {}, "missing-setting", "with"),
    ("switch", {"cases": {}}, "missing-setting", "with.cases"),
    ("switch", {"cases": ["data.n"]}, "wrong-type", "with.cases"),
    ("wait", {}, "missing-setting", "with.for"),
    ("wait", {"secs": 3}, "unknown-setting", "with.secs"),
    ("wait", {"for": "soon"}, "wrong-type", "with.for"),
    ("wait", {"for": "1s", "until": "2026-05-01T12:00:00Z"}, "unknown-setting", "with.for"),
    ("tag", {"set": [1]}, "wrong-type", "with.set"),
    ("workflow", {"nam": "other"}, "missing-setting", "with"),
    ("approval", {"role": "king"}, "wrong-type", "with.role"),
    ("shell", {"command": 7}, "wrong-type", "with.command"),
    ("terminate", {"why": "x"}, "unknown-setting", "with.why"),
    ("update", {"tags": "red"}, "wrong-type", "with.tags"),
    ("pack", {}, "missing-setting", "with"),
    ("pack", {"path": 3}, "wrong-type", "with.path"),
    ("pack", {"path": "a", "count": "abc"}, "wrong-type", "with.count"),
    ("pack", {"path": "a", "labels": {"k": 1}}, "wrong-type", "with.labels"),
    ("pack", {"path": "a", "pth": "b"}, "unknown-setting", "with.pth"),
]


@pytest.mark.parametrize(("task", "params", "code", "path"), WRONG)
def test_a_wrong_setting_is_an_error_at_its_place(
    task: str, params: dict[str, Any], code: str, path: str
) -> None:
    first = found({"task": task, "with": params})[0]

    assert (first.code, first.severity, first.step) == (code, "error", "s")
    assert first.path in (f"steps.s.{path}", "steps.s.with")


@pytest.mark.parametrize(
    "step",
    [
        {"task": "mail", "with": {"to": "${ data.user }"}},
        {"task": "mail", "with": {"to": ["a@b.example", "${ data.user }"]}},
        {"task": "http", "with": {"url": "https://f.example", "headers": {"A": {"secret": "K"}}}},
        {"task": "http", "with": {"kind": "lambda-invoke", "function": "f"}},
        {"task": "service", "with": {"url": "x", "poll": "never"}},
        {"task": "update"},
        {"task": "emit", "with": {"event": "e", "key": {"k": "1"}}},
        {"task": "emit", "disabled": True},
        {"task": "mail", "disabled": True},
        {"task": "set", "with": {"anything": [1, {"a": None}]}},
        {"task": "pack", "with": {"path": "${ data.path }", "count": 2}},
        {"task": "pack", "with": {"path": ""}},
        {"task": "pack", "with": {"path": {"secret": "K"}}},
        {"task": "unheard", "with": {"of": 1}},
    ],
)
def test_what_fits_or_is_filled_in_later_is_not_reported(step: dict[str, Any]) -> None:
    assert found(step) == []


def test_a_task_of_a_user_under_a_built_in_name_is_held_to_its_own_offer() -> None:
    assert found({"task": "mail"}, {"mail": Offer(name="mail")}) == []


def test_the_finding_names_the_nearest_setting_and_its_line_and_column() -> None:
    text = "steps:\n  s:\n    task: mail\n    with:\n      to: a@b.example\n      subjekt: Hi\n"

    [one] = report(text).findings

    assert (one.code, one.line, one.column) == ("unknown-setting", 8, 7)
    assert (one.message, one.hint) == (
        "Step 's' has the setting 'subjekt', which `mail` does not take.",
        "Rename it, or remove it. Did you mean 'subject'?",
    )


def test_every_wrong_setting_of_a_step_is_reported_at_once() -> None:
    step = {"task": "pack", "with": {"pth": "a", "count": "b"}}

    assert [one.code for one in found(step)] == ["missing-setting", "unknown-setting", "wrong-type"]


DEFAULTS = [
    ({"properties": {"n": {"type": "integer", "default": "three"}}}, "params.properties.n.default"),
    (
        {"properties": {"n": {"type": "string", "examples": ["a", 3]}}},
        "params.properties.n.examples[1]",
    ),
    ({"type": "object", "required": ["a"], "default": {}}, "params.default"),
    (
        {"properties": {"n": {"items": {"enum": ["a"], "default": "b"}}}},
        "params.properties.n.items.default",
    ),
    (
        {
            "$defs": {"size": {"minimum": 3}},
            "properties": {"n": {"$ref": "#/$defs/size", "default": 1}},
        },
        "params.properties.n.default",
    ),
]
BAD_DEFAULTS = [params for params, _ in DEFAULTS]


@pytest.mark.parametrize(("params", "path"), DEFAULTS)
def test_a_default_that_its_own_schema_rejects_is_an_error(params: dict[str, Any], path: str) -> None:
    definition = from_plain(
        {"penstock": 1, "name": "w", "params": params, "steps": {"s": {"task": "wait", "with": {"for": 1}}}}
    )
    findings = check_flow(compile_flow(definition, kinds_with(OFFERS)), OFFERS, clock=lambda: 0.0).findings

    assert [(one.code, one.severity, one.path) for one in findings] == [("bad-default", "error", path)]


def test_a_reminder_that_would_come_after_the_end_is_told() -> None:
    def said(**times: Any) -> list[str]:
        approval = {"task": "approval", "with": {"text": "Well?", **times}}
        return [
            each.message for each in found({**approval, "emits": {"approved": "OK", "rejected": "CANCEL"}})
        ]

    late = "Step 's': `remind` (3d) never matters, because `due` (2d) ends first."
    assert said(due="2d", remind="3d") == [late]
    assert said(due="2d", remind="1d") == said(due="2d", remind="${ data.when }") == said(remind="3d") == []
