"""The defaults of `params` are applied however a run starts, before its input is validated and kept."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from penstock.runtime.errors import IdempotencyMismatch, InvalidInput
from penstock.testing import play
from tests.boxes.conftest import Site, site, url

__all__ = ["url"]

PARAMS: dict[str, Any] = {
    "type": "object",
    "required": ["n"],
    "properties": {
        "n": {"type": "integer", "default": 3},
        "more": {"type": "object", "properties": {"deep": {"default": [1]}}},
    },
}
STEPS = {"s": {"task": "set", "with": {"seen": "${ data.n }"}}}
FLOW: dict[str, Any] = {"penstock": 1, "name": "w", "params": PARAMS, "steps": STEPS}
FILLED = {"more": {"deep": [1]}, "n": 3}


async def ended(here: Site, run: str) -> tuple[Any, Any, Any]:
    found = await here.engine.wait(run, 20)
    return found["status"], found["input"], found["data"]["seen"]


def test_every_way_of_starting_applies_the_defaults(url: str, tmp_path: Path) -> None:
    async def main() -> list[Any]:
        async with site(tmp_path, url) as here:
            await here.engine.publish(FLOW)
            by_engine = await here.engine.start("w", input={"more": {}})
            _, by_api = await here.ask("POST", "/api/workflows/w/runs", {"input": {"more": {}}})
            again = await here.engine.rerun(by_engine, input={"more": {}})
            fork = await here.engine.rerun(by_engine, input={"more": {}}, start_at="s")
            call = await here.engine.call("w", input={"more": {}})
            assert (call["status"], call["data"]) == ("succeeded", {**FILLED, "seen": 3})
            return [await ended(here, run) for run in (by_engine, by_api["id"], again, fork)]

    assert asyncio.run(main()) == [("succeeded", FILLED, 3)] * 4


def test_a_run_without_an_input_and_a_child_get_the_defaults(url: str, tmp_path: Path) -> None:
    parent = {"task": "workflow", "with": {"name": "w"}}

    async def main() -> list[Any]:
        async with site(tmp_path, url) as here:
            await here.engine.publish(FLOW)
            await here.engine.publish({"penstock": 1, "name": "p", "steps": {"c": parent}})
            run = await here.engine.wait(await here.engine.start("p"), 20)
            child = run["steps"]["c"]["output"]["run"]
            return [await ended(here, each) for each in (await here.engine.start("w"), child)]

    assert asyncio.run(main()) == [("succeeded", {"n": 3}, 3)] * 2


def test_a_repeated_start_is_compared_by_the_input_as_it_was_given(url: str, tmp_path: Path) -> None:
    async def main() -> None:
        async with site(tmp_path, url) as here:
            await here.engine.publish(FLOW)
            first = await here.engine.start("w", input={}, idempotency_key="k")
            assert await here.engine.start("w", input={}, idempotency_key="k") == first
            with pytest.raises(IdempotencyMismatch):
                await here.engine.start("w", input={"n": 3}, idempotency_key="k")

    asyncio.run(main())


def test_what_is_filled_in_is_validated(url: str, tmp_path: Path) -> None:
    wrong = {**PARAMS, "properties": {"n": {"type": "integer", "default": "3"}}}

    async def main() -> None:
        async with site(tmp_path, url) as here:
            await here.engine.publish({**FLOW, "params": wrong}, override="to see it rejected")
            with pytest.raises(InvalidInput, match='n: "3" is not of type "integer"'):
                await here.engine.start("w", input={})

    asyncio.run(main())


def test_defaults_that_lead_to_each_other_refuse_the_start_and_nothing_else() -> None:
    endless = {"type": "object", "properties": {"a": {"$ref": "#", "default": {}}}}

    with pytest.raises(InvalidInput, match="its `default`s lead to each other without end"):
        play({**FLOW, "params": endless}, input={})


def test_a_run_in_memory_gets_the_defaults() -> None:
    played = play(FLOW)

    assert (played.status, played.data) == ("succeeded", {"n": 3, "seen": 3})


def test_an_input_stays_as_it_is_where_nothing_has_a_default() -> None:
    plain = {**FLOW, "params": {"type": "object"}, "steps": {"s": {"task": "set", "with": {"seen": 1}}}}

    assert play(plain).snapshot.run.input is None
