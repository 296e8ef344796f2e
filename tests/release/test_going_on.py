"""The rest of a release that is partly published stages again, by services that have undone what they staged."""

from __future__ import annotations

import asyncio
from pathlib import Path

from aiohttp import web

from tests.release.conftest import LIMIT, Site, coordinating, states
from tests.release.remote import Remote, serving
from tests.waiting import until

TRANSITIONS = {"start": ("pending", "running"), "publish": ("staged", "publishing")}


class Strict(Remote):
    """A service that does the work of a task once: what was canceled or has failed is not begun again."""

    async def take(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        action, task = body["action"], body["task_id"]
        known = self.states.get(task)
        needs = TRANSITIONS.get(action, (known, None))[0]
        if action in self.answers or known is None or (action != "initialize" and known == needs):
            return await super().take(request)
        self.log.append((action, body))
        self.asked.set()
        return web.json_response({"task_id": task, "state": known})


async def partly(here: Site, good: Remote, bad: Remote, slow: Remote) -> tuple[str, dict[str, str]]:
    """A release that one has published, one failed in, and one was told to cancel; tasks by names."""
    await here.register(good, bad, slow)
    id = await here.release()
    tasks = {t["service_name"]: t["kf_id"] for t in (await here.until(id, "staged"))["tasks"]}
    bad.answers["get_status"] = slow.answers["get_status"] = ["publishing"]
    await here.good("POST", f"/releases/{id}/publish")
    await here.until_task(tasks["good"], "published")
    async with asyncio.timeout(LIMIT):
        await slow.until("publish")
        await bad.until("publish")
    bad.answers["get_status"] = ["failed"]
    ended = await here.until(id, "failed")
    assert states(ended) == {"good": "published", "bad": "failed", "slow": "canceled"}
    assert (slow.actions[-1], bad.actions[-1]) == ("cancel", "publish")
    for each in (bad, slow):
        each.answers.clear()
    return id, tasks


def test_the_rest_stages_again_before_anybody_of_it_publishes(url: str, tmp_path: Path) -> None:
    async def talk() -> None:
        good, bad, slow = Strict("good"), Strict("bad"), Strict("slow")
        async with serving(good, bad, slow), coordinating(tmp_path, url) as here:
            id, tasks = await partly(here, good, bad, slow)
            asked = list(good.log)
            slow.polled = False
            for _ in range(2):
                assert await here.ask("POST", f"/releases/{id}/publish") == (200, {"message": "publishing"})
            shown = await here.until(id, "running")
            again = {t["service_name"]: t["kf_id"] for t in shown["tasks"]}
            assert (again["good"], again["bad"] != tasks["bad"], again["slow"] != tasks["slow"]) == (
                tasks["good"],
                True,
                True,
            )
            await here.until_task(again["bad"], "staged")
            assert "publish" not in [action for action, body in bad.log if body["task_id"] == again["bad"]]
            slow.polled = True

            ended = await here.until(id, "published", "failed", "canceled")
            assert (ended["state"], ended["partly_published"], ended["version"]) == ("published", [], "0.1.0")
            assert set(states(ended).values()) == {"published"}
            assert (await here.ask("POST", f"/releases/{id}/publish"))[0] == 409
            assert good.log == asked
            wanted = ["initialize", "start", "publish"]
            assert [a for a, b in slow.log if b["task_id"] == again["slow"] and a != "get_status"] == wanted
            told = await here.events(id)
            assert not any(
                "from staged to failed" in each or "from staged to canceled" in each for each in told
            )
            assert not any("from canceled" in each or "from failed to staged" in each for each in told)
            assert any("goes on with those that have not published: bad, slow" in each for each in told)

    asyncio.run(talk())


def test_a_task_that_was_replaced_stays_as_it_ended_and_is_shown_where_it_is_out(tmp_path: Path) -> None:
    async def talk() -> None:
        good, bad, slow = Strict("good"), Strict("bad"), Strict("slow")
        async with serving(good, bad, slow), coordinating(tmp_path) as here:
            id, tasks = await partly(here, good, bad, slow)
            slow.polled = False
            await here.good("POST", f"/releases/{id}/publish")
            await here.until(id, "running")
            answer = await here.good("PATCH", f"/tasks/{tasks['slow']}", {"state": "published"})
            assert answer["state"] == "canceled"
            assert (await here.good("GET", f"/tasks/{tasks['slow']}"))["state"] == "canceled"
            await here.good("DELETE", f"/releases/{id}")
            ended = await here.until(id, "canceled")
            again = {t["service_name"]: t["kf_id"] for t in ended["tasks"]}
            assert ended["partly_published"] == [again["good"], again["slow"]]

            asked = slow.actions
            await here.good("POST", f"/releases/{id}/publish")
            ended = await here.until(id, "published", "failed")
            assert (ended["state"], slow.actions) == ("published", asked)

    asyncio.run(talk())


def test_a_rest_that_fails_while_it_stages_leaves_it_partly_published(tmp_path: Path) -> None:
    async def talk() -> None:
        good, bad, slow = Strict("good"), Strict("bad"), Strict("slow")
        async with serving(good, bad, slow), coordinating(tmp_path) as here:
            id, tasks = await partly(here, good, bad, slow)
            bad.answers["initialize"] = [503]
            await here.good("POST", f"/releases/{id}/publish")
            await until(
                lambda: here.events(id), "a rejection", LIMIT, so=lambda told: "to rejected" in str(told)
            )
            ended = await here.until(id, "failed")
            assert (ended["partly_published"], states(ended)["bad"]) == ([tasks["good"]], "rejected")
            assert slow.actions[-2:] == ["initialize", "cancel"]

    asyncio.run(talk())
