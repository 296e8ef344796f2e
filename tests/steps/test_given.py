"""What a box that acts on the world is given is looked at before anything runs."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.flow.model.box import BadParameter
from penstock.steps.io_steps import check
from penstock.steps.kinds import IO_TASKS


@pytest.mark.parametrize(
    ("task", "params", "says"),
    [
        ("service", {"url": "http://s.example", "poll": "0s"}, "`poll` must be longer than 0s"),
    ],
)
def test_what_cannot_be_is_told(task: str, params: dict[str, Any], says: str) -> None:
    with pytest.raises(BadParameter, match=says):
        check(IO_TASKS[task], params)


@pytest.mark.parametrize(
    ("task", "params"),
    [
        ("http", {"url": "${ data.url }"}),
        ("http", {"kind": "lambda-invoke", "function": "f", "region": "eu-central-1"}),
        ("mail", {}),  # what is missing is told in the run: drafts and tests with stubs are without it
        ("update", {}),
        ("approval", {}),
    ],
)
def test_what_is_there_or_not_needed_is_fine(task: str, params: dict[str, Any]) -> None:
    check(IO_TASKS[task], params)
