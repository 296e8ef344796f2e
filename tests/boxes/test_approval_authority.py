"""To go round an approval is to give it: who may not decide can neither skip it nor put in what it fires (C17)."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.boxes.conftest import ONE_STORE, Site, site
from tests.boxes.test_approvals import token
from tests.waiting import until

WAYS = ("skip", "disable", "marking", "behind", "tokens")


def publishing(**said: Any) -> dict[str, Any]:
    ask = {"task": "approval", "with": said, "emits": {"approved": "go"}}
    publish = {"task": "set", "after": "go", "with": {"published": True}}
    tell = {"task": "set", "after": "publish", "with": {"told": True}}
    return {"penstock": 1, "name": "w", "steps": {"ask": ask, "publish": publish, "tell": tell}}


async def begun(here: Site, who: str, **said: Any) -> str:
    """A run that waits for its approval, started by somebody."""
    await here.engine.publish(publishing(**said))
    _, run = await here.ask("POST", "/api/workflows/w/runs", {}, token=who)
    await here.engine.wait(run["id"], 20, rest=True)
    return str(run["id"])


async def goes_round(here: Site, way: str, run: str, who: str) -> tuple[int, str]:
    """What somebody is told who tries to go on without the approval."""
    put = {"step": "publish", "slot": 0, "event": "go"}
    later = {"step": "tell", "slot": 0, "event": "publish"}
    insert = [{"name": f"/runs/w/{run}/slots/publish/0/new", "data": {"event": "go"}}]
    asked: dict[str, tuple[str, str, Any]] = {
        "skip": ("POST", f"/api/runs/{run}/steps/ask/skip", {"port": "approved"}),
        "disable": ("POST", f"/api/runs/{run}/steps/ask", {"disabled": "approved"}),
        "marking": ("PATCH", f"/api/runs/{run}/marking", {"put": [put]}),
        "behind": ("PATCH", f"/api/runs/{run}/marking", {"put": [later]}),
        "tokens": ("POST", "/api/tokens", {"insert": insert}),
        "rerun": ("POST", f"/api/runs/{run}/rerun", {"from": "publish", "input": {"other": 1}}),
    }
    status, said = await here.ask(*asked[way], token=who)
    return status, said.get("code", "")


@pytest.mark.parametrize("way", WAYS)
@ONE_STORE
def test_who_started_the_run_cannot_go_round_four_eyes(way: str, url: str, tmp_path: Path) -> None:
    async def main() -> None:
        async with site(tmp_path, url) as here:
            anna, otto = [await token(here, "operator", name) for name in ("anna", "otto")]
            run = await begun(here, anna, separate=True)

            assert await goes_round(here, way, run, anna) == (403, "not_separate")
            assert (await here.engine.show(run))["status"] == "waiting"
            assert (await goes_round(here, way, run, otto))[0] == 200

    asyncio.run(main())


@pytest.mark.parametrize("way", WAYS)
def test_nobody_goes_round_an_approval_of_a_role_above_theirs(way: str, tmp_path: Path) -> None:
    async def main() -> None:
        async with site(tmp_path) as here:
            otto, anna = await token(here, "operator", "otto"), await token(here, "author", "anna")
            run = await begun(here, otto, role="author")

            assert await goes_round(here, way, run, otto) == (403, "not_theirs")
            assert (await goes_round(here, way, run, anna))[0] == 200

    asyncio.run(main())


def test_a_run_does_not_begin_behind_an_approval_that_somebody_else_gave(tmp_path: Path) -> None:
    async def main() -> None:
        async with site(tmp_path) as here:
            anna, otto = [await token(here, "operator", name) for name in ("anna", "otto")]
            run = await begun(here, anna, separate=True)
            [item] = await here.engine.approvals()
            await here.ask("POST", f"/api/approvals/{item['id']}", {"decision": "approved"}, otto)
            await here.engine.wait(run, 20)

            assert await goes_round(here, "rerun", run, anna) == (403, "not_separate")
            assert (await here.ask("POST", f"/api/runs/{run}/rerun", {}, anna))[0] == 201

    asyncio.run(main())


def test_behind_an_approval_that_was_given_a_run_is_mended_by_whoever_may_repair(tmp_path: Path) -> None:
    async def main() -> None:
        async with site(tmp_path) as here:
            anna, otto = [await token(here, "operator", name) for name in ("anna", "otto")]
            definition = publishing(separate=True)
            definition["external"] = ["never"]
            definition["steps"]["tell"]["after"] = ["publish", "never"]
            await here.engine.publish(definition)
            _, run = await here.ask("POST", "/api/workflows/w/runs", {}, token=anna)
            asked = await until(here.engine.approvals, "a question")
            await here.ask("POST", f"/api/approvals/{asked[0]['id']}", {"decision": "approved"}, otto)
            put = {"step": "tell", "slot": 1, "event": "never"}
            status, _ = await here.ask("PATCH", f"/api/runs/{run['id']}/marking", {"put": [put]}, anna)

            assert status == 200
            assert (await here.engine.wait(run["id"], 20))["status"] == "succeeded"

    asyncio.run(main())


def test_an_administrator_helps_a_run_over_an_approval_and_is_on_record(tmp_path: Path) -> None:
    async def main() -> None:
        async with site(tmp_path) as here:
            anna = await token(here, "admin", "anna")
            run = await begun(here, anna, role="admin", separate=True)

            assert (await goes_round(here, "skip", run, anna))[0] == 200
            _, audit = await here.ask("GET", "/api/audit")
            assert any(each["actor"] == "anna" and each["target"] == run for each in audit["items"])

    asyncio.run(main())


def test_who_started_the_parent_may_not_decide_in_its_child(tmp_path: Path) -> None:
    async def main() -> None:
        async with site(tmp_path) as here:
            anna, otto = [await token(here, "operator", name) for name in ("anna", "otto")]
            await here.engine.publish(publishing(separate=True))
            child = {"task": "workflow", "with": {"name": "w"}}
            await here.engine.publish({"penstock": 1, "name": "above", "steps": {"child": child}})
            _, run = await here.ask("POST", "/api/workflows/above/runs", {}, token=anna)
            asked = await until(here.engine.approvals, "a question")

            path, word = f"/api/approvals/{asked[0]['id']}", {"decision": "approved"}
            answers = [(await here.ask("POST", path, word, token=who))[0] for who in (anna, otto)]
            assert answers == [403, 200]
            assert (await here.engine.wait(run["id"], 20))["status"] == "succeeded"

    asyncio.run(main())
