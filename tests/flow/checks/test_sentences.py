"""The pages know the sentences of the checks by their shape, to say them in other languages: these must not drift."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.flow.checks.test_findings import CASES
from tests.flow.checks.workflows import report

from penstock.flow.checks.findings import Finding

ROOT = Path(__file__).parents[3]
SHAPES: dict[str, str] = json.loads((ROOT / "web/src/editor/problems/sentences.json").read_text())
NAMES = "'[^']+'(?:(?:, | and | or )'[^']+')*"
PARTS = {"names": NAMES, "others": NAMES, "n": r"\d+", "text": ".+", "where": "[^`]+"}
DETAILED = {"dead-step", "missing-data", "time-outs"}
"""Here the sentence says more than its code does."""

OTHERS = """
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
result: steps.nope.output
steps: {a: {task: job}}
---
params: {properties: {user: {type: string}}}
result: data.usr
steps: {a: {task: wait, with: {for: 1s}}}
"""
"""What no other test has word for word."""


def every_finding() -> list[Finding]:
    others = [finding for text in OTHERS.split("---\n") for finding in report(text).findings]
    return [*(each for _, found in CASES.values() for each in found), *others]


FINDINGS = every_finding()


def said(code: str, *, hint: bool) -> set[str]:
    """What the checks say about a code, or propose."""
    texts = {each.hint if hint else each.message for each in FINDINGS if each.code == code}
    return {re.sub(r" ?Did you mean ['`][^'`]+['`]\?$", "", text) for text in texts} - {""}


def fits(shape: str, text: str) -> bool:
    """Whether a sentence has that shape; a part that is named twice says the same twice."""
    pattern, seen = "", set()
    for at, part in enumerate(re.split(r"\{(\w+)\}", shape)):
        if at % 2 == 0:
            pattern += re.escape(part)
        elif part in seen:
            pattern += f"(?P={part})"
        else:
            seen.add(part)
            pattern += f"(?P<{part}>{PARTS.get(part, '[^`]+')})"
    return re.fullmatch(pattern, text) is not None


@pytest.mark.parametrize("name", SHAPES)
def test_every_shape_that_the_pages_know_is_one_of_a_sentence(name: str) -> None:
    texts = said(name.split(".")[0], hint=name.endswith(".hint"))

    assert [text for text in texts if fits(SHAPES[name], text)], sorted(texts)


@pytest.mark.parametrize("code", sorted(DETAILED))
@pytest.mark.parametrize("hint", [False, True])
def test_every_sentence_with_details_has_a_shape_that_the_pages_know(code: str, hint: bool) -> None:
    shapes = [
        SHAPES[name] for name in SHAPES if name.startswith(f"{code}.") and name.endswith(".hint") == hint
    ]

    assert [text for text in said(code, hint=hint) if not any(fits(shape, text) for shape in shapes)] == []
