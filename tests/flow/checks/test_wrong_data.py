"""Mistakes with settings and data are found before anything runs; what is right is left alone."""

from __future__ import annotations

from typing import Any

import pytest
from tests.flow.checks.wrong_data import (
    RIGHT_STEPS,
    RIGHT_TEXTS,
    WRONG_STEPS,
    WRONG_TEXTS,
    findings,
    reads,
)

WRONG = [*((reads(text), code, variant) for text, code, variant in WRONG_TEXTS), *WRONG_STEPS]


@pytest.mark.parametrize(("step", "code", "variant"), WRONG, ids=lambda each: str(each)[-60:])
def test_a_mistake_with_data_is_found(step: dict[str, Any], code: str, variant: str) -> None:
    found = findings(step)

    assert (code, variant) in [(each.code, each.args.get("variant")) for each in found]
    assert {each.step for each in found} == {"s"}
    assert all(each.path and each.path.startswith("steps.s.") for each in found)


RIGHT = [*(reads(text) for text in RIGHT_TEXTS), *RIGHT_STEPS]


@pytest.mark.parametrize("step", RIGHT, ids=lambda each: str(each)[-60:])
def test_nothing_is_found_where_all_is_right(step: dict[str, Any]) -> None:
    assert findings(step) == []
