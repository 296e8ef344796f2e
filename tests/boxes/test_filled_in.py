"""Parameters that expressions fill in with what cannot be are told in one plain sentence."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.boxes.conftest import functions, says, site

HTTP = [
    ("expect", 200, "`expect` of `http` does not fit"),
    ("expect", ["200"], "`expect` of `http` does not fit"),
    ("headers", "X: 1", "`headers` must be a map from names to texts"),
    ("headers", ["X"], "`headers` must be a map from names to texts"),
    ("query", 7, "`query` must be a map from names to texts"),
    ("credentials", "id", "`credentials` must be a map from names to texts"),
    ("poll", "5s", "`poll` of `http` does not fit"),
    ("poll", {"every": []}, "`poll` of `http` does not fit"),
    ("method", 5, "`method` of `http` does not fit"),
    ("method", "FETCH", "`method` of `http` does not fit"),
    ("kind", {}, "`kind` of `http` does not fit"),
    ("mode", ["async"], "`mode` of `http` does not fit"),
    ("timeout", [], "`timeout` of `http` does not fit"),
    ("timeout", "long", "`timeout` 'long' is no duration"),
    ("answer", 1, "`answer` of `http` does not fit"),
    ("presign", True, "`presign` of `http` does not fit"),
    ("url", 5, "`http` needs `url`"),
    ("url", None, "`http` needs `url`"),
]
SERVICE = [
    ("headers", 5, "`headers` must be a map from names to texts"),
    ("accept", 200, "`accept` of `service` does not fit"),
    ("misses", "two", "`misses` of `service` does not fit"),
    ("known", 5, "`known` of `service` does not fit"),
    ("poll", {}, "`poll` of `service` does not fit"),
    ("body", "x", "`body` of a `service` step must be a map"),
    ("args", [1], "`args` of a `service` step must be a map"),
    ("url", [], "`service` needs `url`"),
]


async def done(folder: Path, task: str, name: str, value: Any) -> dict[str, Any]:
    async with site(folder) as here, functions(f=says({"output": 1, "state": "done"})) as there:
        needs = {"kind": "lambda", "region": "r"} if name == "credentials" else {}
        params = {"url": f"{there.base}/f", **needs, name: "${ data.x }"}
        run = await here.run({"steps": {"s": {"task": task, "with": params}}}, {"x": value})
        step: dict[str, Any] = run["steps"]["s"]
        return step


@pytest.mark.parametrize(
    ("task", "name", "value", "sentence"),
    [*(("http", *each) for each in HTTP), *(("service", *each) for each in SERVICE)],
)
def test_what_cannot_be_is_told_in_a_sentence(
    task: str, name: str, value: Any, sentence: str, tmp_path: Path
) -> None:
    step = asyncio.run(done(tmp_path, task, name, value))

    assert (step["status"], step["error"]["kind"]) == ("failed", "fatal")
    assert step["error"]["message"].startswith(sentence)


@pytest.mark.parametrize("name", ["expect", "headers", "query", "poll", "method", "mode", "timeout", "kind"])
def test_what_comes_to_nothing_is_as_if_it_were_not_said(name: str, tmp_path: Path) -> None:
    assert asyncio.run(done(tmp_path, "http", name, None))["status"] == "complete"
