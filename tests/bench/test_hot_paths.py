"""The guard of the hot paths: it counts the same every time, and a step that does more than before fails."""

from __future__ import annotations

import json
from typing import Any

import pytest
from bench.net.contenders import penstock as contender
from scripts.hot_paths import BUDGETS, durable, in_memory, judge

from penstock.kernel import firing
from penstock.store.sqlite.session import Session

COMMITTED: dict[str, float] = json.loads(BUDGETS.read_text(encoding="utf-8"))


def of(part: str) -> dict[str, float]:
    return {name: value for name, value in COMMITTED.items() if name.startswith(part)}


def test_what_is_counted_is_within_the_committed_budgets_every_time() -> None:
    found = {**in_memory(), **durable()}

    assert judge(found, {**of("memory"), **of("SQLite")})[0] == []
    assert durable() == {name: value for name, value in found.items() if name.startswith("SQLite")}


def test_a_statement_more_a_step_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    at_once = Session.at_once

    def slower(self: Session, query: str, rows: Any, shared: Any = ()) -> int:
        self.db.execute("SELECT 1").fetchall()
        return at_once(self, query, rows, shared)

    monkeypatch.setattr(Session, "at_once", slower)
    wrong, _ = judge(durable(), of("SQLite"))

    assert [line for line in wrong if line.startswith("SQLite: one run: statements a step")]


def test_calls_more_a_firing_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The planted function lies where ours lie: only calls of our own functions count."""
    exec(compile("def planted(): pass", firing.__file__, "exec"), found := {})  # type: ignore[var-annotated]
    fire = firing.fire

    def slower(*args: Any) -> Any:
        for _ in range(3):
            found["planted"]()
        return fire(*args)

    monkeypatch.setattr(contender, "fire", slower)
    wrong, _ = judge(in_memory(), of("memory"))

    assert [line.partition(": calls")[0] for line in wrong] == [
        "memory: fire chain 50",
        "memory: fire fork-join 50",
    ]


def test_a_count_may_be_a_little_more_and_is_told_when_it_is_less() -> None:
    budgets = {"a": 100.0, "b": 100.0, "c": 100.0}

    wrong, better = judge({"a": 102.0, "b": 102.1, "c": 90.0}, budgets)

    assert wrong == ["b: 102.10, 100.00 at most: the hot path grew by 2 %"]
    assert better == ["c: 90.00 instead of 100.00"]


def test_counts_and_budgets_must_be_of_the_same_things() -> None:
    assert judge({"new": 1.0}, {"old": 1.0})[0] == [
        "'new' has no budget: run `make budgets`",
        "'old' has a budget and is not counted: run `make budgets`",
    ]
