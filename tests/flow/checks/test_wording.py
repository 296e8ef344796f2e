"""Findings are data: their sentences are made from code and arguments, from one table that the pages have too."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from scripts.reference.check_texts import page_texts
from tests.flow.checks.test_findings import CASES
from tests.flow.checks.test_settings import BAD_DEFAULTS, found
from tests.flow.checks.test_settings import WRONG as WRONG_SETTINGS
from tests.flow.checks.test_wrong_data import WRONG as WRONG_DATA
from tests.flow.checks.workflows import report
from tests.flow.checks.wrong_data import RIGHT_STEPS, findings

from penstock.flow.checks.findings import Finding
from penstock.flow.checks.wording import PLACE, TEXTS, filled, worded

PAGES = Path(__file__).parents[3] / "web" / "src" / "messages" / "en" / "findings.json"
HOOKED = """
external:
  - {name: told, from: {kind: webhook, verify: {method: token, secret: t}, key: {id: body.id}}}
steps: {a: {task: job, after: told, emits: OK}}
"""
OTHERS = """
external: [late]
steps: {a: {task: job, emits: OK}}
---
steps: {j: {task: job, after: "x | y"}}
---
steps: {a: {task: job, fails: OK}, j: {task: job, after: FAIL, fails: OK}}
---
steps: {a: {task: job}, j: {task: job, after: OK}}
---
steps:
  a: {task: job, after: m, emits: p}
  b: {task: job, after: n, emits: p}
  j: {task: job, after: p}
---
steps:
  d: {task: decide, with: {if: "data.x"}, emits: {then: p, else: q}}
  j: {task: job, after: [{need: 2, of: [p, q]}]}
---
steps: {a: {task: job, emits: p}, b: {task: job, emits: p}, j: {task: job, after: p}}
---
steps: {a: {task: job, emits: p}, b: {task: job, emits: p}, c: {task: job, emits: p}, d: {task: job, emits: p}}
---
steps: {a: {task: mail}}
---
result: steps.nope.output
steps: {a: {task: job}}
---
params: {properties: {user: {type: string}}}
result: data.usr
steps: {a: {task: wait, with: {for: 1s}}}
"""
"""What no other test has word for word."""


def every_finding() -> list[Finding]:
    others = [each for text in OTHERS.split("---\n") for each in report(text).findings]
    hooked = [
        each
        for name in ("callback", "s3")
        for each in report(HOOKED, head=f"penstock: 1\nname: {name}\n").findings
    ]
    words = [each for _, expected in CASES.values() for each in expected]
    settings = [each for task, given, *_ in WRONG_SETTINGS for each in found({"task": task, "with": given})]
    data = [each for step, *_ in WRONG_DATA for each in findings(step)]
    shown = [each for params in BAD_DEFAULTS for each in findings(RIGHT_STEPS[0], {"params": params})]
    results = findings(RIGHT_STEPS[0], {"result": "data.usr"})
    return [*words, *others, *hooked, *settings, *data, *shown, *results]


FINDINGS = every_finding()
PARTS = ("near", "in-step", "in-workflow")
"""What is added before and after sentences."""


def says(finding: Finding, key: str) -> bool:
    """Whether a finding was worded with a text of the table."""
    text, said = TEXTS[key], finding.hint if key.endswith(".hint") else finding.message
    if key.split(".")[0] != finding.code or {place[1] for place in PLACE.finditer(text)} - set(finding.args):
        return False
    return said.split(" Did you mean")[0].endswith(filled(text, finding.args))


@pytest.mark.parametrize("key", [key for key in TEXTS if key not in PARTS])
def test_every_text_of_the_table_is_one_of_a_finding(key: str) -> None:
    assert [each for each in FINDINGS if says(each, key)]


def test_a_finding_is_worded_from_its_code_and_arguments_alone() -> None:
    for each in FINDINGS:
        args = msgspec.json.decode(msgspec.json.encode(each.args))

        assert worded(each.code, args) == (each.message, each.hint)


def test_the_step_and_the_event_of_a_finding_are_arguments() -> None:
    for each in FINDINGS:
        assert (each.args.get("step"), each.args.get("event")) == (each.step, each.event)


def test_the_pages_have_every_text() -> None:
    assert PAGES.read_text(encoding="utf-8") == page_texts(), "run `make reference`"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{names, and}", "'a', 'b' and either 'c' or 'd'"),
        ("{names, or}", "'a', 'b' or either 'c' or 'd'"),
        ("{names, list}", "a, b, c, d"),
        ("{names, either}", "a | b | c | d"),
        ("{one} of {n}: [{need: 1}]", "'{n}' of 3: [{need: 1}]"),
    ],
)
def test_a_place_is_filled_in_as_text(text: str, said: str) -> None:
    assert filled(text, {"names": ["a", "b", ["c", "d"]], "one": "'{n}'", "n": 3}) == said


def test_of_alternatives_that_are_missing_either_is_enough() -> None:
    [found] = [
        each
        for each in report("""
steps:
  d: {task: decide, with: {if: "data.x"}, emits: {then: [p, t], else: [s, u]}}
  x: {task: job, after: u, emits: [q, r]}
  y: {task: job, after: t, emits: v}
  j: {task: job, after: [s, v, "q | r"]}
""").findings
        if each.code == "deadlock"
    ]

    assert found.args["events"] == ["s", ["q", "r"]]
    assert "'j' still waits for 's' and either 'q' or 'r', which will not come" in found.message
