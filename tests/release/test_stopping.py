"""Who is told to stop: everybody who may be at work; and where all are out, the release is published all the same."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from penstock_release.new_release import new_release, new_task
from penstock_release.progress import Fold
from tests.release.conftest import LIMIT, ONE_STORE, STUDY, Site, coordinating, states
from tests.release.remote import Remote, serving


class Odd(Remote):
    """A service that does what it is asked for, and answers what it should not: `odd` is that, by action."""

    def __init__(self, name: str, **odd: Any) -> None:
        super().__init__(name)
        self.odd = odd

    async def take(self, request: web.Request) -> web.StreamResponse:
        answer = await super().take(request)
        odd = self.odd.get((await request.json())["action"])
        if odd is None:
            return answer
        if odd == "drop":
            assert request.transport is not None
            request.transport.abort()
        return web.Response(text=odd)


async def staged(here: Site, *remotes: Remote) -> tuple[str, dict[str, str]]:
    await here.register(*remotes)
    id = await here.release()
    shown = await here.until(id, "staged")
    return id, {task["service_name"]: task["kf_id"] for task in shown["tasks"]}


@ONE_STORE
def test_one_bad_answer_to_the_question_for_its_state_fails_nobody(url: str, tmp_path: Path) -> None:
    async def talk() -> None:
        remote = Remote("a", get_status=["running", 503, "running", 503, "staged"])
        async with serving(remote), coordinating(tmp_path, url) as here:
            await here.register(remote)
            ended = await here.until(await here.release(), "staged", "failed", "canceled")

            assert ended["state"] == "staged"

    asyncio.run(talk())


HTML: dict[str, Any] = {"text": "<html>wait</html>"}


@pytest.mark.parametrize("odd", [404, "banana", HTML])
def test_while_it_stages_two_answers_in_a_row_may_say_nothing(odd: Any, tmp_path: Path) -> None:
    async def talk() -> None:
        remote = Remote("a", get_status=["running", odd, odd, "running", odd, odd, "staged"])
        async with serving(remote), coordinating(tmp_path) as here:
            await here.register(remote)
            id = await here.release()

            assert (await here.until(id, "staged", "failed", "canceled"))["state"] == "staged"

    asyncio.run(talk())


@pytest.mark.parametrize("odd", [403, "running", HTML, {"text": ""}])
def test_while_it_publishes_it_is_asked_until_its_answer_can_be_used(odd: Any, tmp_path: Path) -> None:
    async def talk() -> None:
        good, bad = Remote("good"), Remote("bad")
        async with serving(good, bad), coordinating(tmp_path) as here:
            id, tasks = await staged(here, good, bad)
            bad.answers["get_status"] = ["publishing", odd]
            await here.good("POST", f"/releases/{id}/publish")
            await here.until_told(id, f"task {tasks['bad']} is asked for its state again: POST")
            bad.answers["get_status"] = ["publishing", "published"]
            ended = await here.until(id, "published", "failed", "canceled")

            assert (ended["state"], bad.actions[-1]) == ("published", "publish")

    asyncio.run(talk())


@pytest.mark.parametrize("odd", ['{"state": "started"}', "OK"])
@pytest.mark.parametrize("took", [True, False])
def test_who_answers_publish_oddly_is_asked_what_came_of_it(odd: str, took: bool, tmp_path: Path) -> None:
    async def talk() -> None:
        good, bad = Remote("good"), Odd("odd", publish=odd)
        async with serving(good, bad), coordinating(tmp_path) as here:
            id, tasks = await staged(here, good, bad)
            good.answers["get_status"] = ["publishing"]
            if not took:
                bad.answers["publish"] = ["staged", "publishing"]
            await here.good("POST", f"/releases/{id}/publish")
            await here.until_task(tasks["odd"], "published")
            good.answers.clear()
            ended = await here.until(id, "failed", "published", "canceled")

            assert (ended["state"], set(states(ended).values())) == ("published", {"published"})
            assert bad.actions.count("publish") == (1 if took else 2)

    asyncio.run(talk())


@pytest.mark.parametrize("how", ["canceled", "late"])
@ONE_STORE
def test_where_all_have_published_before_they_were_asked_it_is_published(
    how: str, url: str, tmp_path: Path
) -> None:
    async def talk() -> None:
        a, b = Remote("a", polled=False), Remote("b", polled=False)
        slow: dict[str, Any] = {"poll_interval": timedelta(hours=1)}
        if how == "late":
            slow["task_timeout"] = timedelta(seconds=3)
        async with serving(a, b), coordinating(tmp_path, url, **slow) as here:
            await here.register(a, b)
            id = await here.release()
            async with asyncio.timeout(LIMIT):
                for each in (a, b):
                    task = (await each.until("get_status"))["task_id"]
                    await here.good("PATCH", f"/tasks/{task}", {"state": "staged"})
            await here.until(id, "staged")
            await here.good("POST", f"/releases/{id}/publish")
            for each in (a, b):
                task = (await each.until("publish"))["task_id"]
                each.states[task] = "published"
            if how == "canceled":
                await here.good("DELETE", f"/releases/{id}")
            ended = await here.until(id, "published", "failed", "canceled")

            assert (ended["state"], ended["version"], ended["partly_published"]) == ("published", "0.1.0", [])
            assert set(states(ended).values()) == {"published"}
            assert "cancel" not in a.actions + b.actions
            assert (await here.good("GET", f"/studies/{STUDY}"))["last_pub_version"] == "0.1.0"

    asyncio.run(talk())


def test_who_reports_failed_while_it_is_initialized_has_failed(tmp_path: Path) -> None:
    async def talk() -> None:
        good, bad = Remote("good"), Remote("bad")

        async def fails(task: str, state: str) -> None:
            if state == "pending":
                await here.good("PATCH", f"/tasks/{task}", {"state": "failed"})

        bad.told = fails
        async with serving(good, bad), coordinating(tmp_path) as here:
            await here.register(good, bad)
            ended = await here.until(await here.release(), "failed", "staged", "canceled")

            assert states(ended) == {"good": "canceled", "bad": "failed"}
            assert "cancel" not in bad.actions

    asyncio.run(talk())


def test_a_restart_is_told_as_one() -> None:
    task = new_task("RE_1", {"kf_id": "TS_1", "name": "a", "url": "http://a"}, "now")
    release = new_release("RE_1", {"name": "R", "studies": []}, "0.0.0", "now", [task])
    error = {"kind": "lost", "message": "the worker vanished", "detail": {"limit": "lost"}}
    fold = Fold(release, [task]).take(
        [
            {
                "kind": "attempt",
                "seq": 1,
                "at": "now",
                "step": "publish",
                "data": {"index": 0, "error": error, "retry_at": 1},
            }
        ]
    )

    assert [(event["event_type"], event["message"]) for event in fold.events] == [
        ("info", "request to publish task is made again: the coordinator was restarted")
    ]
