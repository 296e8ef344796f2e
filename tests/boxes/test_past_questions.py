"""C17: no other call lets an approval end that its caller could not decide, on both databases."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.boxes.conftest import Site, site
from tests.boxes.test_approvals import token

Ask = tuple[str, str, dict[str, Any]]

PUBLISH = {
    "penstock": 1,
    "name": "w",
    "steps": {
        "ask": {"task": "approval", "emits": {"approved": "go", "rejected": "stop"}},
        "pack": {"task": "set", "after": "go", "with": {"packed": True}},
        "publish": {"task": "set", "after": "pack", "with": {"published": True}},
        "drop": {"task": "set", "after": "stop", "with": {"dropped": True}},
    },
}
FORGED = {"decision": "approved", "by": "the boss"}


def asking(**params: Any) -> dict[str, Any]:
    steps: Any = PUBLISH["steps"]
    return {**PUBLISH, "steps": {**steps, "ask": {**steps["ask"], "with": params}}}


def ways(run: str) -> dict[str, Ask]:
    """Whatever else lets a run go on behind its question."""
    slots = f"/runs/w/{run}/slots"
    return {
        "skip": ("POST", f"/api/runs/{run}/steps/ask/skip", {"port": "approved", "output": FORGED}),
        "disable": ("POST", f"/api/runs/{run}/steps/ask", {"disabled": "approved"}),
        "put": ("PATCH", f"/api/runs/{run}/marking", {"put": [{"step": "pack", "slot": 0, "event": "go"}]}),
        "put behind": (
            "PATCH",
            f"/api/runs/{run}/marking",
            {"put": [{"step": "publish", "slot": 0, "event": "pack"}]},
        ),
        "insert": (
            "POST",
            "/api/tokens",
            {"insert": [{"name": f"{slots}/pack/0/1", "data": {"event": "go"}}]},
        ),
    }


async def begun(here: Site, definition: dict[str, Any], who: str) -> str:
    """A run that somebody started, and that waits for an answer."""
    await here.engine.publish(definition)
    _, run = await here.ask("POST", "/api/workflows/w/runs", {}, token=who)
    await here.engine.wait(run["id"], 20, rest=True)
    return str(run["id"])


async def tried(here: Site, definition: dict[str, Any], starter: str, other: str, name: str) -> list[Any]:
    """What somebody is told who may not decide, whether anything came of it, and what one is told who may."""
    run = await begun(here, definition, starter)
    before = await here.engine.history(run)
    status, said = await here.ask(*ways(run)[name], token=starter)
    unchanged = await here.engine.history(run) == before
    return [(status, said.get("code")), unchanged, (await here.ask(*ways(run)[name], token=other))[0]]


@pytest.mark.parametrize("name", list(ways("")))
def test_c17_who_started_a_run_gets_past_its_four_eyes_by_no_other_way(
    url: str, tmp_path: Path, name: str
) -> None:
    async def main() -> list[Any]:
        async with site(tmp_path, url) as here:
            anna, otto = [await token(here, "operator", who) for who in ("anna", "otto")]
            return await tried(here, asking(separate=True), anna, otto, name)

    assert asyncio.run(main()) == [(403, "not_separate"), True, 200]


@pytest.mark.parametrize("role", ["author", "${ 'author' }"])
@pytest.mark.parametrize("name", list(ways("")))
def test_c17_who_has_not_the_role_gets_past_a_question_by_no_other_way(
    tmp_path: Path, name: str, role: str
) -> None:
    async def main() -> list[Any]:
        async with site(tmp_path) as here:
            otto, adam = await token(here, "operator", "otto"), await token(here, "admin", "adam")
            return await tried(here, asking(role=role), otto, adam, name)

    assert asyncio.run(main()) == [(403, "forbidden"), True, 200]


def test_c17_who_may_decide_may_skip_and_others_repair_what_is_before_the_question(tmp_path: Path) -> None:
    before: Any = {"task": "wait", "with": {"for": "1h"}}
    definition = asking(separate=True, role="author")
    definition["steps"] = {
        "build": before,
        **definition["steps"],
        "ask": {**definition["steps"]["ask"], "after": "build"},
    }

    async def main() -> list[Any]:
        async with site(tmp_path) as here:
            anna, olga = await token(here, "author", "anna"), await token(here, "operator", "olga")
            await here.engine.publish(definition)
            run = (await here.ask("POST", "/api/workflows/w/runs", {}, token=anna))[1]["id"]
            look = {"put": [{"step": "publish", "slot": 0, "event": "pack"}], "dry_run": True}
            return [
                (await here.ask("PATCH", f"/api/runs/{run}/marking", look, token=olga))[0],
                (await here.ask("POST", f"/api/runs/{run}/steps/build/skip", {}, token=olga))[0],
                (await here.ask("POST", f"/api/runs/{run}/steps/drop", {"disabled": True}, token=olga))[0],
            ]

    assert asyncio.run(main()) == [200, 200, 200]


def test_c17_a_decision_is_not_taken_along_for_another_input(url: str, tmp_path: Path) -> None:
    async def main() -> list[Any]:
        async with site(tmp_path, url) as here:
            anna, otto = [await token(here, "operator", who) for who in ("anna", "otto")]
            run = await begun(here, asking(separate=True), anna)
            [item] = await here.engine.approvals()
            await here.ask("POST", f"/api/approvals/{item['id']}", {"decision": "approved"}, otto)
            await here.engine.wait(run, 20)
            path = f"/api/runs/{run}/rerun"
            other = {"from": "publish", "input": {"price": 0}}
            answers = [
                await here.ask("POST", path, other, anna),
                await here.ask("POST", path, {"from": "publish"}, anna),
            ]
            return [(status, said.get("code")) for status, said in answers]

    assert asyncio.run(main()) == [(422, "invalid"), (201, None)]


def test_c17_four_eyes_hold_in_child_runs(url: str, tmp_path: Path) -> None:
    middle = {"penstock": 1, "name": "middle", "steps": {"m": {"task": "workflow", "with": {"name": "vote"}}}}
    vote = {"penstock": 1, "name": "vote", "steps": {"v": {"task": "approval", "with": {"separate": True}}}}
    top = {"penstock": 1, "name": "w", "steps": {"t": {"task": "workflow", "with": {"name": "middle"}}}}

    async def main() -> list[Any]:
        async with site(tmp_path, url) as here:
            for each in (vote, middle, top):
                await here.engine.publish(each)
            anna, otto = [await token(here, "operator", who) for who in ("anna", "otto")]
            await here.ask("POST", "/api/workflows/w/runs", {}, token=anna)
            while not (items := await here.engine.approvals()):
                await asyncio.sleep(0.01)
            path, word = f"/api/approvals/{items[0]['id']}", {"decision": "approved"}
            answers = [await here.ask("POST", path, word, who) for who in (anna, otto)]
            return [(status, said.get("code")) for status, said in answers]

    assert asyncio.run(main()) == [(403, "not_separate"), (200, None)]
