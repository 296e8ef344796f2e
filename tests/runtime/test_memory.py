"""Runs at hand: the ones used last, and no more of them than fit, by number and by what they carry."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from penstock import Engine
from penstock.engine.authoring.loader import load
from penstock.flow.decisions.creation import new_run
from penstock.flow.model.run import Header, RunId
from penstock.runtime.node import run_cache
from penstock.runtime.node.run_cache import CachedRun, RunCache
from tests.waiting import until

FLOW = load("penstock: 1\nname: one\nsteps:\n  a: {task: t}\n").flow


def live(*payloads: str) -> CachedRun:
    made = CachedRun(FLOW, new_run(Header(id=RunId("0" * 20), workflow="one")))
    for payload in payloads:
        made.pack([payload])
    return made


def at_hand(max_runs: int = 5_000) -> RunCache:
    return RunCache(None, None, max_runs)  # type: ignore[arg-type]


def test_the_run_that_was_not_used_for_longest_is_forgotten() -> None:
    runs = at_hand(2)
    for name in ("a", "b", "a", "c"):
        runs.keep(name, live())

    assert [name for name in "abc" if runs.get(name)] == ["a", "c"]


def test_of_runs_with_large_payloads_as_many_are_kept_as_are_not_too_heavy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(run_cache, "MAX_CACHED_BYTES", 25_000)
    runs = at_hand()
    runs.keep("small", live())
    for name in ("a", "b", "a", "c"):
        runs.keep(name, live("x" * 10_000))

    assert [name for name in ("small", "a", "b", "c") if runs.get(name)] == ["small", "a", "c"]
    runs.forget("a")
    runs.keep("b", live("x" * 10_000))
    assert [name for name in ("small", "a", "b", "c") if runs.get(name)] == ["small", "b", "c"]


def test_what_a_run_does_not_carry_any_more_does_not_weigh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_cache, "MAX_CACHED_BYTES", 27_000)
    runs, changing = at_hand(), live("x" * 10_000)
    runs.keep("other", live("x" * 10_000))
    for turn in range(20):
        changing.pack.begin()
        changing.pack(["y" * 5_000 + str(turn)])
        runs.keep("changing", changing)

    assert runs.get("other") and runs.get("changing")
    changing.pack.begin()
    changing.pack.begin()
    runs.keep("changing", changing)
    runs.keep("third", live("x" * 10_000))
    assert runs.get("other") and runs.get("third")


def test_the_last_of_the_heavy_runs_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_cache, "MAX_CACHED_BYTES", 1_000)
    runs = at_hand()
    for name in ("a", "b"):
        runs.keep(name, live("x" * 10_000))

    assert [name for name in "ab" if runs.get(name)] == ["b"]


@pytest.mark.parametrize("output", ["x" * 20_000, "x" * 1_000])
def test_a_run_weighs_what_its_steps_gave_also_long_ago(output: str) -> None:
    after: dict[str, Any] = {
        f"s{number}": {"task": "t", "after": f"s{number - 1}"} for number in range(1, 20)
    }
    steps = {"s0": {"task": "t"}, **after, "last": {"task": "approval", "after": "s19"}}

    async def main() -> int:
        async with Engine(tasks={"t": lambda: output}) as engine:
            await engine.publish({"penstock": 1, "name": "one", "steps": steps})
            run = await engine.start("one")
            await until(engine.approvals, "a question")
            kept = (await engine.running()).node.run_cache.get(run)
            assert kept is not None
            return kept.pack.weight

    assert 20 * len(output) < asyncio.run(main()) < 25 * len(output)


def test_runs_that_are_too_heavy_together_go_on_from_the_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_cache, "MAX_CACHED_BYTES", 1_000)

    async def main() -> list[str]:
        async with Engine(f"{tmp_path}/p.db", tasks={"t": lambda: None}) as engine:
            await engine.publish({"penstock": 1, "name": "one", "steps": {"a": {"task": "t"}}})
            runs = [await engine.start("one", input={"text": "x" * 20_000}) for _ in range(3)]
            ended = [(await engine.wait(run, 20))["status"] for run in runs]
            assert len((await engine.running()).node.run_cache) == 0
            return ended

    assert asyncio.run(main()) == ["succeeded"] * 3


def test_what_was_only_read_does_not_take_the_place_of_what_is_newer() -> None:
    runs, old, new = at_hand(), live(), live()
    new.snapshot = replace(new.snapshot, revision=old.snapshot.revision + 1)

    runs.offer("a", old)
    assert runs.get("a") is old
    runs.offer("a", new)
    assert runs.get("a") is new
    runs.offer("a", old)
    assert runs.get("a") is new


def test_what_was_only_read_and_has_ended_is_not_remembered() -> None:
    runs, over = at_hand(), live()
    over.snapshot = replace(over.snapshot, status="succeeded")

    runs.offer("a", over)

    assert runs.get("a") is None
