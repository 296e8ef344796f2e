"""The checkers see what they are for: each is shown something broken."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace

from penstock import Engine
from penstock.store.open import open_store
from tests.chaos.checking import (
    Execution,
    Ran,
    Runs,
    early,
    findings,
    never_begun,
    read_runs,
    taken_back,
    told_by_others,
)
from tests.chaos.test_postgres import HERE

ACKNOWLEDGED = {1: "", 2: ""}


async def carried() -> dict[str, Ran]:
    """Two runs that went well."""
    tasks = {
        "carry.take": lambda number: {"number": number, "token": f"t{number}"},
        **{f"carry.{name}": lambda number: number for name in ("left", "right", "join")},
    }
    store = await open_store("memory:")
    async with Engine(store=store, tasks=tasks) as engine:
        await engine.publish(HERE / "carry.yaml")
        for number in ACKNOWLEDGED:
            ACKNOWLEDGED[number] = await engine.start("carry", input={"number": number})
        for run in ACKNOWLEDGED.values():
            await engine.wait(run, 30)
        return await read_runs(store)


def spoiled(runs: Runs, change: Callable[[Ran], Ran]) -> dict[str, Ran]:
    """The same with one run changed."""
    return {**runs, ACKNOWLEDGED[1]: change(runs[ACKNOWLEDGED[1]])}


def in_store(ran: Ran, **changes: object) -> Ran:
    return replace(ran, snapshot=replace(ran.snapshot, **changes))


CHANGES: dict[str, Callable[[Ran], Ran]] = {
    "lost": lambda ran: in_store(ran, result=7),
    "doubled": lambda ran: replace(ran, history=[*ran.history, *ran.history]),
    "stuck": lambda ran: in_store(ran, status="running"),
    "torn": lambda ran: replace(ran, history=ran.history[:-1]),
}


def test_what_went_well_is_found_well() -> None:
    runs = asyncio.run(carried())

    assert findings(runs, ACKNOWLEDGED) == {"lost": [], "doubled": [], "stuck": [], "torn": []}


@pytest.mark.parametrize("name", CHANGES)
def test_each_checker_finds_what_is_broken(name: str) -> None:
    runs = asyncio.run(carried())

    assert findings(spoiled(runs, CHANGES[name]), ACKNOWLEDGED)[name] != []


def test_a_run_that_is_gone_or_there_twice_is_found() -> None:
    runs = asyncio.run(carried())
    gone = {id: ran for id, ran in runs.items() if id != ACKNOWLEDGED[1]}

    assert len(findings(gone, ACKNOWLEDGED)["lost"]) == 1
    assert len(findings({**runs, "twin": runs[ACKNOWLEDGED[1]]}, ACKNOWLEDGED)["doubled"]) == 1


def test_a_task_that_nobody_began_or_that_went_on_with_a_lost_result_is_found() -> None:
    runs = asyncio.run(carried())
    well = [Execution(run, step, 1, 1, "-") for run in runs for step in ("take", "left", "right", "join")]
    token = next(
        entry.data["token"]
        for entry in runs[ACKNOWLEDGED[1]].history
        if entry.step == "take" and entry.kind == "ended"
    )
    right, wrong = (Execution(ACKNOWLEDGED[1], "left", 1, 1, each) for each in (token, "other"))

    assert (never_begun(runs, well), len(never_begun(runs, well[1:]))) == ([], 1)
    assert (list(taken_back(runs, [right])), len(list(taken_back(runs, [wrong])))) == ([], 1)


def shifted(ran: Ran, step: str, by: timedelta) -> Ran:
    """The same with an end of a step at another time."""
    return replace(
        ran,
        history=[
            replace(each, at=each.at + by) if (each.kind, each.step) == ("ended", step) else each
            for each in ran.history
        ],
    )


def test_a_timer_that_rang_early_is_found() -> None:
    runs = asyncio.run(carried())
    hasty = spoiled(runs, lambda ran: shifted(ran, "rest", timedelta(milliseconds=-200)))

    assert (early(runs), len(early(hasty))) == ([], 1)


def test_a_time_of_another_clock_is_found() -> None:
    since, far = datetime.now(UTC), timedelta(hours=2)
    runs = asyncio.run(carried())
    strange = spoiled(runs, lambda ran: shifted(ran, "take", timedelta(hours=5)))

    assert (told_by_others(runs, since, far), len(told_by_others(strange, since, far))) == ([], 1)
